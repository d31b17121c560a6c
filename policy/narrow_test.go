package policy_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
)

func TestNarrow(t *testing.T) {
	wide := policy.Grants{
		Timeout: 9 * time.Second, CPU: 8 * time.Second, MemoryBytes: 64 << 20, OutputBytes: 1 << 20, LogEntries: 1000,
		LogChars: 1000, APICalls: 50, Depth: 512, CodeBytes: 4 << 20, Eval: true, Network: policy.NetworkPublic,
		OpenedHosts: []string{"a.test", "*.b.test"}, Secrets: []string{"KEY", "OTHER"},
		SecretHosts: map[string][]string{"KEY": {"a.test", "c.test"}, "OTHER": {"a.test"}},
		Tools:       []string{"x:one", "x:two"}, Files: policy.FilesWrite, Modules: []string{policy.AnyModule},
		Packages: []string{"p", "q"},
		Runtime: policy.Runtime{Waits: policy.Waits{MaxPending: 64, MaxAge: time.Hour, MaxImageBytes: 16 << 20,
			ApproverIsNotRequester: true}},
	}
	narrow := policy.Grants{
		Timeout: 2 * time.Second, CPU: time.Second, MemoryBytes: 32 << 20, OutputBytes: 1 << 10, LogEntries: 100,
		LogChars: 100, APICalls: 5, Depth: 64, CodeBytes: 1 << 10, Network: policy.NetworkAllowlist,
		Hosts: []string{"x.b.test"}, OpenedHosts: []string{"x.b.test"}, Secrets: []string{"KEY"},
		SecretHosts: map[string][]string{"KEY": {"a.test"}}, Tools: []string{"x:two"}, Files: policy.FilesRead,
		Modules: []string{"url"}, Packages: []string{"q"},
		Runtime: policy.Runtime{Waits: policy.Waits{MaxPending: 4, MaxAge: time.Hour, MaxImageBytes: 1 << 20}},
	}
	want := narrow
	want.Waits.ApproverIsNotRequester = true
	for _, c := range []struct {
		name       string
		a, b, want policy.Grants
	}{
		{"the same", wide, wide, wide},
		{"tightened", narrow, wide, want},
		{"loosened", wide, narrow, want},
		{"nothing", wide, policy.Grants{}, policy.Grants{Network: "none", Files: "none",
			Runtime: policy.Runtime{Waits: policy.Waits{MaxAge: time.Hour, ApproverIsNotRequester: true}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "nothing" { // a limit of 0 is none to what enforces the grants, so it lowers nothing
				c.want.Timeout, c.want.CPU, c.want.MemoryBytes, c.want.OutputBytes = c.a.Timeout, c.a.CPU, c.a.MemoryBytes,
					c.a.OutputBytes
				c.want.LogEntries, c.want.LogChars, c.want.APICalls = c.a.LogEntries, c.a.LogChars, c.a.APICalls
				c.want.CodeBytes = c.a.CodeBytes
			}
			if diff := cmp.Diff(text(t, c.want), text(t, policy.Narrow(c.a, c.b))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Lists of hosts that have nothing in common leave no host, and not any host.
func TestNarrowDisjointHosts(t *testing.T) {
	for _, mode := range []string{policy.NetworkPublic, policy.NetworkAllowlist} {
		for _, other := range []string{policy.NetworkPublic, policy.NetworkAllowlist} {
			a := policy.Grants{Network: mode, Hosts: []string{"a.test"}}
			b := policy.Grants{Network: other, Hosts: []string{"b.test"}}
			if g := policy.Narrow(a, b); g.Network == policy.NetworkPublic || len(g.Hosts) > 0 {
				t.Errorf("%s and %s: network %s to %v", mode, other, g.Network, g.Hosts)
			}
		}
	}
}

func text(t *testing.T, g policy.Grants) string {
	t.Helper()
	b, err := json.MarshalIndent(struct {
		Grants      policy.Grants
		SecretHosts map[string][]string
	}{g, g.SecretHosts}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The ceiling of a caller is what any request of the caller can be granted.
func TestCeiling(t *testing.T) {
	set, err := deployment.Parse("policy.yaml", []byte(`
version: 1
hosts: [a.test, b.test]
secrets: {KEY: [a.test], OTHER: [b.test]}
tenants:
  acme: {hosts: [a.test], secrets: [KEY], tools: [crm.*, x.one], limits: {timeout: 2s}}
`))
	if err != nil {
		t.Fatal(err)
	}
	g := set.Ceiling(policy.Request{Tier: "standard", Tenant: "acme", Scopes: []string{"tool:crm.read", "tool:x.*"}})
	if g.Timeout != 2*time.Second {
		t.Errorf("the timeout is %s", g.Timeout)
	}
	for name, c := range map[string]struct{ got, want []string }{
		"hosts": {g.Hosts, []string{"a.test"}}, "opened hosts": {g.OpenedHosts, []string{"a.test"}},
		"secrets": {g.Secrets, []string{"KEY"}}, "tools": {g.Tools, []string{"crm.read", "x.one"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	ask := policy.Request{Code: "1", Tier: "standard", Tenant: "acme", Secrets: []string{"KEY"},
		Tools: []string{"crm:read", "x:one"}, Scopes: []string{"tool:crm.read", "tool:x.*"}}
	now := set.Decide(ask).Grants
	if diff := cmp.Diff(text(t, now), text(t, policy.Narrow(now, set.Ceiling(ask)))); diff != "" {
		t.Errorf("the ceiling narrows what it is the ceiling of: %s", diff)
	}
	if g := set.Ceiling(policy.Request{Tier: "unknown"}); len(g.Tools) > 0 || g.Timeout > 0 {
		t.Errorf("an unknown tier grants %+v", g)
	}
}
