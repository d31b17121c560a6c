package main

import (
	"slices"
	"sync"

	"github.com/airlock-run/airlock/policy/audit"
)

// redaction takes out of records what no record may hold: the values of the secrets that the policy and the attached
// servers name now, the gateway's credentials, and the fields of AUDIT_REDACT. It is safe for concurrent use.
type redaction struct {
	set    settings
	tiers  *rules
	secret func(name string) string

	mu     sync.Mutex
	values []string // that by is made for
	by     *audit.Redactor
}

func (r *redaction) apply(rec *audit.Record) {
	values := slices.Clone(r.set.credentials)
	for _, name := range r.tiers.secrets() {
		values = append(values, r.secret(name))
	}
	for _, server := range r.set.attached.servers() {
		values = append(values, r.secret(server.Secret))
	}
	r.mu.Lock()
	if r.by == nil || !slices.Equal(r.values, values) {
		// Only its fields could be wrong, and they were checked when the settings were read.
		if by, err := r.set.keeping.Redactor(values...); err == nil {
			r.values, r.by = values, by
		}
	}
	by := r.by
	r.mu.Unlock()
	by.Apply(rec)
}
