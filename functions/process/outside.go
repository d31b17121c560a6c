package process

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// Outside decides in the owner what executions in sealed processes may reach: by the policy in force and by the
// invocation, whatever the process says.
type Outside struct {
	// Rules makes the decision.
	Rules runner.Decider
	// RemoteTools returns the MCP servers whose tools guests may call; nil means none.
	RemoteTools func() []mcptools.Server
	// Secret returns the value of a secret, or "".
	Secret func(name string) string
	// MemoryBytes lowers the memory of every tier; 0 leaves the tiers as they are.
	MemoryBytes int64
	// Egress makes the connections.
	Egress sandbox.Egress
}

var _ localinvoke.Outside = Outside{}

// Begin implements localinvoke.Outside. It does not scan the code, which has been scanned and does not change the
// grants.
func (o Outside) Begin(inv execution.Invocation) localinvoke.Access {
	inv.Content = "unread" // the hash is not needed here
	ask := governance.PolicyRequest(inv)
	ask.Code, ask.Entry, ask.Language, ask.Files, ask.Sum = "0", "", "", nil, ""
	d := o.Rules.Decide(ask)
	if d.Effect != policy.Allow || len(inv.Replay) > 0 {
		return nil
	}
	var err error
	if d.Grants, _, err = governance.Narrowed(d.Grants, inv.Segments); err != nil {
		return nil
	}
	a := access{outside: o, network: runner.NetworkOf(d.Grants), tools: d.Grants.Tools, secrets: d.Grants.Secrets,
		engine: d.Grants.Engine, memory: d.Grants.MemoryBytes}
	if o.MemoryBytes > 0 {
		a.memory = min(a.memory, o.MemoryBytes)
	}
	if o.RemoteTools == nil {
		return a
	}
	for _, tool := range d.Grants.Tools {
		namespace, _, _ := strings.Cut(tool, ":")
		for _, s := range o.RemoteTools() {
			if s.Namespace == namespace && s.Secret != "" {
				a.secrets = append(a.secrets, s.Secret)
			}
		}
	}
	return a
}

// access is the set of powers of one execution.
type access struct {
	outside Outside
	network sandbox.Network
	tools   []string
	secrets []string
	engine  string
	memory  int64
}

// Connect implements localinvoke.Access.
func (a access) Connect(ctx context.Context, host string, port uint16) (net.Conn, error) {
	return a.outside.Egress.ConnectFor(ctx, a.network, len(a.tools) > 0, host, port)
}

// Tool implements localinvoke.Access.
func (a access) Tool(name string) bool { return slices.Contains(a.tools, name) }

// Engine implements localinvoke.Access.
func (a access) Engine() (string, int64) { return a.engine, a.memory }

// Secret implements localinvoke.Access.
func (a access) Secret(name string) (string, bool) {
	if !slices.Contains(a.secrets, name) {
		return "", false
	}
	value := a.outside.Secret(name)
	return value, value != ""
}
