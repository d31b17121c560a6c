package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// ran records what a sandbox received and what a store was asked to keep.
type ran struct {
	scripts []sandbox.Script
	records []audit.Record
}

func (r *ran) Run(_ context.Context, s sandbox.Script, _ sandbox.Grants) (sandbox.Result, error) {
	r.scripts = append(r.scripts, s)
	return sandbox.Result{Value: []byte("1"), Start: sandbox.Start{Warm: s.Version != ""}}, nil
}

func (r *ran) Append(_ context.Context, rec audit.Record) error {
	r.records = append(r.records, rec)
	return nil
}

// Once sources were sent, the same tenant may name them instead. Sources that do not match their sum are refused, and
// every difference between two versions separates them.
func TestSourceCache(t *testing.T) {
	did := &ran{}
	r, err := runner.New(runner.Config{Sandbox: did, Policy: policy.Default(), Records: did})
	if err != nil {
		t.Fatal(err)
	}
	whole := execution.Request{Entry: "a.ts",
		Files: map[string]execution.File{"a.ts": execution.File("export default () => 1"), "b.json": execution.File("{}")}}
	named := whole.WithSources(execution.Sources{})
	sum := whole.Sources().Sum()
	inv := func(tenant string, version int, content string, q execution.Request) execution.Invocation {
		return execution.Invocation{
			ID: "exec_0123456789", Request: q, Via: execution.ViaHTTP, Caller: execution.Caller{Tenant: tenant},
			Function: &execution.FunctionRef{Name: "f", Version: version}, Content: content,
		}
	}
	for _, step := range []struct {
		what string
		inv  execution.Invocation
		code execution.Code
	}{
		{"unknown sources", inv("a", 1, sum, named), execution.SourcesNeeded},
		{"a wrong sum", inv("a", 1, strings.Repeat("0", 64), whole), execution.InvalidRequest},
		{"the sources themselves", inv("a", 1, sum, whole), ""},
		{"their name", inv("a", 1, sum, named), ""},
		{"their name, of another tenant", inv("b", 1, sum, named), execution.SourcesNeeded},
		{"the sources, of another tenant", inv("b", 1, sum, whole), ""},
		{"another version of the same", inv("a", 2, sum, named), ""},
		{"without a sum", inv("a", 1, "", whole), ""},
	} {
		before := len(did.records)
		got, err := r.Run(t.Context(), step.inv, nil)
		var e *execution.Error
		if errors.As(err, &e) != (step.code != "") || e != nil && e.Code != step.code {
			t.Errorf("%s: %v", step.what, err)
		}
		if err != nil && (len(did.records) != before || len(did.scripts) != before) {
			t.Errorf("%s: something ran", step.what)
		}
		if err == nil && (got.Warm == nil || !*got.Warm) {
			t.Errorf("%s: the answer does not say how it started", step.what)
		}
	}
	versions := map[string]int{}
	for i, s := range did.scripts {
		versions[s.Version]++
		if string(s.Files["a.ts"]) != "export default () => 1" || s.Entry != "a.ts" {
			t.Errorf("run %d ran %s of %q", i, s.Entry, s.Files)
		}
		if s.Version == "" {
			t.Errorf("run %d names no version", i)
		}
		if r := did.records[i]; r.CodeBytes != 22 || r.CodeSHA256 != did.records[0].CodeSHA256 {
			t.Errorf("run %d is recorded with %d bytes of %s", i, r.CodeBytes, r.CodeSHA256)
		}
	}
	if len(versions) != 3 {
		t.Errorf("the versions are %v", versions)
	}
	if _, err := r.Run(t.Context(), execution.Invocation{ID: "exec_0123456789", Request: execution.Request{Code: "1"}},
		nil); err != nil || did.scripts[len(did.scripts)-1].Version != "" {
		t.Errorf("code of no function has a version: %v", err)
	}
}
