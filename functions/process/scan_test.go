package process

import (
	"context"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// A scan that would go on for ever has a named result: what its tokens say, marked as unanalysed; and the process is spent
// until it has ended.
func TestScanGivenUp(t *testing.T) {
	t.Parallel()
	r := newBoundedRules(policy.Default())
	for _, code := range []string{"eval('1')", "1 + 1", "let a: number"} {
		if got, want := r.Decide(policy.Ask{Code: code}), policy.Default().Decide(policy.Ask{Code: code}); got.Effect != want.Effect || got.Analysis.Score != want.Analysis.Score {
			t.Errorf("%s: %v, without a bound %v", code, got.ReasonLines(), want.ReasonLines())
		}
	}
	if r.Spent() {
		t.Error("spent although nothing was given up")
	}
	goOn, ended := make(chan struct{}), make(chan struct{})
	r.allowed = 1
	r.whole = func(context.Context, policy.Text) (policy.Reading, error) {
		defer close(ended)
		<-goOn
		return policy.Reading{}, nil
	}
	d := r.Decide(policy.Ask{Code: "require('child_process').exec('ls')", Tier: "agent"})
	if d.Effect != policy.Deny || !d.Analysis.Unanalysed || !strings.Contains(strings.Join(d.Violations, "\n"), "command_execution") {
		t.Errorf("%v", d.ReasonLines())
	}
	if !r.Spent() {
		t.Error("not spent although a scan goes on")
	}
	close(goOn)
	<-ended
	r.whole = func(context.Context, policy.Text) (policy.Reading, error) { panic("a parser failed") }
	r.allowed = scanTime
	if d := r.Decide(policy.Ask{Code: "1"}); d.Effect != policy.Deny {
		t.Errorf("a scan that failed: %v", d.ReasonLines())
	}
	r.whole = func(context.Context, policy.Text) (policy.Reading, error) { return policy.Reading{}, context.Canceled }
	if d := r.Decide(policy.Ask{Code: "1"}); d.Effect != policy.Deny {
		t.Errorf("a scan that was not made: %v", d.ReasonLines())
	}
}
