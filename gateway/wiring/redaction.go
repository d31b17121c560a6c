package wiring

import (
	"slices"
	"sync"

	"github.com/airlock-run/airlock/policy/audit"
)

// redaction removes from records the current values of the secrets that the policy and the MCP servers name, the
// gateway's credentials, and the fields of AUDIT_REDACT. It is safe for concurrent use.
type redaction struct {
	in     *Inputs
	secret func(name string) string

	mu      sync.Mutex
	values  []string // those that current was built from
	current *audit.Redactor
}

func (r *redaction) apply(rec *audit.Record) {
	values := slices.Clone(r.in.Settings.Auth.Credentials)
	for _, name := range r.in.Rules.secrets() {
		values = append(values, r.secret(name))
	}
	for _, server := range r.in.Tools.servers() {
		values = append(values, r.secret(server.Secret))
	}
	r.mu.Lock()
	if r.current == nil || !slices.Equal(r.values, values) {
		// Only the fields can be wrong, and Read has checked them.
		if current, err := r.in.Settings.Records.Redactor(values...); err == nil {
			r.values, r.current = values, current
		}
	}
	current := r.current
	r.mu.Unlock()
	current.Apply(rec)
}
