package runner_test

import (
	"bytes"
	"context"
	"go/token"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
	"github.com/airlock-run/airlock/sandbox"
)

// parking is a sandbox whose runs pause, and that can continue them.
type parking struct {
	fixture
	resumed sandbox.Grants
	from    []byte
}

func (p *parking) Resume(_ context.Context, from []byte, _ []sandbox.Answer, _ sandbox.Script,
	g sandbox.Grants) (sandbox.Result, error) {
	p.resumed, p.from = g, from
	return sandbox.Result{Parked: &sandbox.Parked{Snapshot: []byte("second")}}, nil
}

// unchecked reports whether a path leads to a part of sandbox.Grants that is no power.
func unchecked(p gocmp.Path) bool {
	name := p.Last().String()
	return name == ".ModuleHint" || name == ".Hint" || name == ".Debug" || name == ".OnLog" || !token.IsExported(name[1:])
}

// A paused execution continues with no more than both the policy of its pause and today's policy grant.
func TestResumedGrants(t *testing.T) {
	const (
		narrow = `
tiers:
  t: {base: standard, timeout: 1500ms, memory: 32mb, output: 1kb, logEntries: 10, logChars: 10, apiCalls: 2, depth: 20,
    files: none, modules: [url], waits: {maxPending: 3, maxAge: 1h, maxImageBytes: 1mb}}
hosts: [a.test]
secrets: {KEY: [a.test]}
`
		wide = `
tiers:
  t: {base: agent, timeout: 20s, memory: 128mb}
hosts: [a.test, b.test]
secrets: {KEY: [a.test, b.test]}
`
	)
	hosts := []string{"a.test"}
	granted := sandbox.Grants{
		Limits: sandbox.Limits{Wall: 1500 * time.Millisecond, CPU: 1500 * time.Millisecond, MemoryBytes: 32 << 20,
			OutputBytes: 1 << 10, LogEntries: 10, LogChars: 10, APICalls: 2, Depth: 20},
		Network: sandbox.Network{Mode: sandbox.NetworkAllowlist, Hosts: hosts, OpenedHosts: hosts,
			Secrets: []sandbox.Secret{{Name: "KEY", Value: "value", Hosts: hosts}}},
		Modules: []string{"url"}, Waits: sandbox.Waits{MaxPending: 3, MaxImageBytes: 1 << 20},
		Tools: []sandbox.Tool{{Name: "x.one", URL: "https://a.test/"}},
	}
	for _, c := range []struct {
		name    string
		then    string
		between string // a policy under which it continues and pauses again
		now     string
	}{
		{"loosened", narrow, "", wide}, {"tightened", wide, "", narrow}, {"tightened and loosened", wide, narrow, wide},
		{"loosened and tightened", narrow, wide, narrow},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &parking{fixture: fixture{result: sandbox.Result{Parked: &sandbox.Parked{Snapshot: []byte("first")}}}}
			inv := invocation(execution.Request{Code: "1", Policy: "t", Secrets: []string{"KEY"},
				Tools: []execution.Tool{{Name: "x.one", URL: "https://a.test/"}}})
			inv.Waits = true
			want := "first"
			for i, rules := range []string{c.then, c.between, c.now} {
				if rules == "" {
					continue
				}
				set, err := deployment.Parse("policy.yaml", []byte("version: 1\n"+rules))
				if err != nil {
					t.Fatal(err)
				}
				r := newRunner(t, &p.fixture, set, func(cfg *runner.Config) {
					cfg.Sandbox = p
					cfg.Secret = func(string) string { return "value" }
				})
				got, err := r.Run(t.Context(), inv, nil)
				if err != nil || got.Status != execution.Paused {
					t.Fatalf("segment %d: %v %+v", i, err, got)
				}
				if inv.Resume != nil && string(p.from) != want {
					t.Errorf("the guest continues from %q", p.from)
				} else if inv.Resume != nil {
					want = "second"
				}
				if bytes.Contains(got.Snapshot, []byte("value")) {
					t.Error("the snapshot has the value of a secret")
				}
				inv.Resume = &execution.Resume{Parent: inv.ID, Segment: 2, Snapshot: got.Snapshot}
			}
			if diff := gocmp.Diff(granted, p.resumed, gocmp.FilterPath(unchecked, gocmp.Ignore())); diff != "" {
				t.Error(diff)
			}
			last := string(p.records[len(p.records)-1].Grants)
			for _, part := range []string{`"hosts":["a.test"]`, `"timeoutMs":1500`} {
				if !strings.Contains(last, part) {
					t.Errorf("the record has the grants %s, without %s", last, part)
				}
			}
		})
	}
}

// A snapshot whose grants are damaged does not run, and one of an earlier release, which has none, does.
func TestDamagedGrants(t *testing.T) {
	for snapshot, status := range map[string]execution.Status{
		"airlock grants 1\n":             execution.Failed,
		"airlock grants 1\n\x7f{}":       execution.Failed,
		"airlock grants 1\n\x02[]first":  execution.Failed,
		"airlock grants 1\n\x02{}first":  execution.Paused,
		"airlock snapshot 1\nand so on.": execution.Paused,
	} {
		p := &parking{}
		set, err := deployment.Parse("policy.yaml", []byte("version: 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		inv := invocation(execution.Request{Code: "1"})
		inv.Resume = &execution.Resume{Parent: inv.ID, Segment: 2, Snapshot: []byte(snapshot)}
		r := newRunner(t, &p.fixture, set, func(cfg *runner.Config) { cfg.Sandbox = p })
		got, err := r.Run(t.Context(), inv, nil)
		if err != nil || got.Status != status {
			t.Errorf("%q: %v, %s", snapshot, err, got.Status)
		}
		if ran := p.from != nil; ran != (status == execution.Paused) {
			t.Errorf("%q: the guest got %q", snapshot, p.from)
		}
	}
}

// Step implements runner.Stepper.
func (p *parking) Step(_ context.Context, _ []byte, _ sandbox.Script, g sandbox.Grants) (sandbox.Result, error) {
	p.resumed = g
	return sandbox.Result{Snapshot: []byte("state")}, nil
}

// A step of a session has no more than both the policy at the beginning of its session and today's policy grant.
func TestGrantsOfSteps(t *testing.T) {
	const (
		narrow = `
tiers:
  t: {base: standard, timeout: 1500ms, files: none, modules: [url]}
hosts: [a.test]
secrets: {KEY: [a.test]}
tenants:
  acme: {tools: [x.*]}
`
		wide = `
tiers:
  t: {base: agent, timeout: 20s}
hosts: [a.test, b.test]
secrets: {KEY: [a.test, b.test]}
`
	)
	parse := func(rules string) *policy.Set {
		set, err := deployment.Parse("policy.yaml", []byte("version: 1\n"+rules))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for _, c := range []struct{ name, then, now string }{{"loosened", narrow, wide}, {"tightened", wide, narrow}} {
		t.Run(c.name, func(t *testing.T) {
			p := &parking{}
			inv := invocation(execution.Request{Code: "1", Policy: "t", Secrets: []string{"KEY"},
				Tools: []execution.Tool{{Name: "x.one", URL: "https://a.test/"}}})
			inv.Waits = true
			ceiling := parse(c.then).Ceiling(policy.Request{Tier: "t", Tenant: "acme", Waits: true})
			inv.Session = &execution.SessionStep{Granted: governance.EncodeGrants(ceiling)}
			inv.Session.ID, inv.Session.Step = "sess_01JD5Z6Q8V0000000000000000", 1
			r := newRunner(t, &p.fixture, parse(c.now), func(cfg *runner.Config) {
				cfg.Sandbox = p
				cfg.Secret = func(string) string { return "value" }
			})
			if got, err := r.Run(t.Context(), inv, nil); err != nil || got.Status != execution.Completed {
				t.Fatalf("%v %+v", err, got)
			}
			g := p.resumed
			if g.Limits.Wall != 1500*time.Millisecond || g.Files != sandbox.FilesNone || len(g.Tools) != 1 {
				t.Errorf("the step is granted %+v", g)
			}
			for name, got := range map[string][]string{"hosts": g.Network.Hosts, "opened hosts": g.Network.OpenedHosts,
				"hosts of the secret": g.Network.Secrets[0].Hosts} {
				if diff := gocmp.Diff([]string{"a.test"}, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			if diff := gocmp.Diff([]string{"url"}, g.Modules); diff != "" {
				t.Errorf("modules: %s", diff)
			}
			inv.Session.Granted = []byte("[]")
			p.records = nil
			if got, err := r.Run(t.Context(), inv, nil); err != nil || got.Status != execution.Failed {
				t.Errorf("with damaged grants: %v %s", err, got.Status)
			}
		})
	}
}

// An execution continues with the lowest memory that its functions had when it paused and have now.
func TestResumedMemory(t *testing.T) {
	for _, c := range []struct{ then, between, now, want int64 }{
		{0, 0, 0, 64}, {32, 0, 0, 32}, {0, 0, 32, 32}, {32, 48, 0, 32}, {48, 32, 48, 32},
	} {
		p := &parking{fixture: fixture{result: sandbox.Result{Parked: &sandbox.Parked{Snapshot: []byte("first")}}}}
		inv := invocation(execution.Request{Code: "1"})
		inv.Waits = true
		for i, most := range []int64{c.then, c.between, c.now} {
			r := newRunner(t, &p.fixture, policy.Default(), func(cfg *runner.Config) {
				cfg.Sandbox, cfg.MaxMemoryBytes = p, most<<20
			})
			got, err := r.Run(t.Context(), inv, nil)
			if err != nil || got.Status != execution.Paused {
				t.Fatalf("segment %d: %v %+v", i+1, err, got)
			}
			inv.Resume = &execution.Resume{Parent: inv.ID, Segment: i + 2, Snapshot: got.Snapshot}
		}
		if got := p.resumed.Limits.MemoryBytes; got != c.want<<20 {
			t.Errorf("with %d, %d and %d MiB it continues with %d MiB", c.then, c.between, c.now, got>>20)
		}
	}
}
