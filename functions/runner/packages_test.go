package runner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// importing is a sandbox whose code imports every package that it is granted.
type importing struct{ records []audit.Record }

func (*importing) Run(_ context.Context, _ sandbox.Script, g sandbox.Grants) (sandbox.Result, error) {
	r := sandbox.Result{Value: []byte("1"), Pure: true}
	for _, p := range g.Packages {
		r.Packages = append(r.Packages, p.PackageID)
	}
	return r, nil
}

func (s *importing) Append(_ context.Context, r audit.Record) error {
	s.records = append(s.records, r)
	return nil
}

// The record names the packages that ran, and a replay with others says so.
func TestPackagesInRecord(t *testing.T) {
	t.Parallel()
	all := []sandbox.Package{
		{PackageID: sandbox.PackageID{Name: "a", Version: "1.0.0", Integrity: "sha512-a"}},
		{PackageID: sandbox.PackageID{Name: "b", Version: "2.0.0", Integrity: "sha512-b"}},
	}
	open := func(s *importing, packages []sandbox.Package) *runner.Runner {
		r, err := runner.New(runner.Config{Sandbox: s, Records: s, Policy: policy.Default().WithPackages("a"), KeepCode: true,
			Packages: packages})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	s := &importing{}
	r := open(s, all)
	if _, err := r.Run(t.Context(), execution.Invocation{ID: "exec_0123456789", Request: execution.Request{Code: "1"}},
		nil); err != nil {
		t.Fatal(err)
	}
	want := []audit.Package{{Name: "a", Version: "1.0.0", Integrity: "sha512-a"}}
	if diff := cmp.Diff(want, s.records[0].Packages); diff != "" {
		t.Fatal(diff)
	}
	for _, c := range []struct {
		packages    []sandbox.Package
		differences int
	}{{all, 0}, {all[1:], 1}} {
		again, err := open(s, c.packages).Replay(t.Context(), s.records[0])
		if err != nil || len(again.Differences) != c.differences {
			t.Fatalf("%q %v", again.Differences, err)
		}
		if c.differences > 0 && !strings.HasPrefix(again.Differences[0], "packages: none, recorded a@1.0.0") {
			t.Errorf("%q", again.Differences)
		}
	}
}
