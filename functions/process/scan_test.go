package process

import (
	"context"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// A scan that would never end has a named result: what its tokens say, marked as unanalysed; and the process is
// spent until it has ended.
func TestScanGivenUp(t *testing.T) {
	t.Parallel()
	r := newBoundedRules(policy.Default())
	for _, code := range []string{"eval('1')", "1 + 1", "let a: number"} {
		if got, want := r.Decide(policy.Request{Code: code}),
			policy.Default().Decide(policy.Request{Code: code}); got.Effect != want.Effect ||
			got.Analysis.Score != want.Analysis.Score {
			t.Errorf("%s: %v, without a bound %v", code, got.ReasonLines(), want.ReasonLines())
		}
	}
	if r.Spent() {
		t.Error("spent although nothing was given up")
	}
	goOn, ended := make(chan struct{}), make(chan struct{})
	r.allowed = 1
	r.whole = func(context.Context, scan.Input) (scan.Result, error) {
		defer close(ended)
		<-goOn
		return scan.Result{}, nil
	}
	d := r.Decide(policy.Request{Code: "require('child_process').exec('ls')", Tier: "agent"})
	if d.Effect != policy.Deny || !d.Analysis.Unanalysed ||
		!strings.Contains(strings.Join(d.Violations, "\n"), "command_execution") {
		t.Errorf("%v", d.ReasonLines())
	}
	if !r.Spent() {
		t.Error("not spent although a scan still runs")
	}
	close(goOn)
	<-ended
	r.whole = func(context.Context, scan.Input) (scan.Result, error) { panic("a parser failed") }
	r.allowed = scanTime
	if d := r.Decide(policy.Request{Code: "1"}); d.Effect != policy.Deny {
		t.Errorf("a scan that failed: %v", d.ReasonLines())
	}
	r.whole = func(context.Context, scan.Input) (scan.Result, error) { return scan.Result{}, context.Canceled }
	if d := r.Decide(policy.Request{Code: "1"}); d.Effect != policy.Deny {
		t.Errorf("a scan that was not made: %v", d.ReasonLines())
	}
}
