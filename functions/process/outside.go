package process

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// Outside decides what executions in sealed processes reach, in the process that owns them: by the policy in force
// there and by the invocation, whatever the process says.
type Outside struct {
	// Rules decides.
	Rules runner.Decider
	// Attached returns the servers whose tools guests may call; nil attaches none.
	Attached func() []mcptools.Server
	// Secret gives the value of a secret, "" where there is none.
	Secret func(name string) string
	// Egress is how connections are made.
	Egress sandbox.Egress
}

var _ localinvoke.Outside = Outside{}

// Begin implements localinvoke.Outside. The code is not looked at: it has been, and does not change what is granted.
func (o Outside) Begin(inv execution.Invocation) localinvoke.Access {
	inv.Content = "unread" // the sum of sources that nobody needs here
	ask := runner.PolicyRequest(inv)
	ask.Code, ask.Entry, ask.Language, ask.Files, ask.Sum = "0", "", "", nil, ""
	d := o.Rules.Decide(ask)
	if d.Effect != policy.Allow || len(inv.Replay) > 0 {
		return nil
	}
	a := access{outside: o, network: runner.NetworkOf(d.Grants), tools: len(d.Grants.Tools) > 0, secrets: d.Grants.Secrets}
	if o.Attached == nil {
		return a
	}
	for _, tool := range d.Grants.Tools {
		namespace, _, _ := strings.Cut(tool, ":")
		for _, s := range o.Attached() {
			if s.Namespace == namespace && s.Secret != "" {
				a.secrets = append(a.secrets, s.Secret)
			}
		}
	}
	return a
}

// access is what one execution reaches.
type access struct {
	outside Outside
	network sandbox.Network
	tools   bool
	secrets []string
}

// Connect implements localinvoke.Access.
func (a access) Connect(ctx context.Context, host string, port uint16) (net.Conn, error) {
	return a.outside.Egress.ConnectFor(ctx, a.network, a.tools, host, port)
}

// Secret implements localinvoke.Access.
func (a access) Secret(name string) (string, bool) {
	if !slices.Contains(a.secrets, name) {
		return "", false
	}
	value := a.outside.Secret(name)
	return value, value != ""
}
