package process

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// A scan that does not end in time is replaced by one of the tokens, marked as unanalysed, and the process is spent
// until the first scan has ended.
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

// The owner's scan takes the place of the process's own if it is of the same sources, under the same powers. The rest
// of the decision stays the process's own.
func TestScanByOwner(t *testing.T) {
	t.Parallel()
	own := 0
	r := newBoundedRules(policy.Default())
	whole := r.whole
	r.whole = func(ctx context.Context, in scan.Input) (scan.Result, error) { own++; return whole(ctx, in) }
	inv := execution.Invocation{Request: execution.Request{Code: "process.env.A"}}
	d := policy.Default().Decide(governance.PolicyRequest(inv))
	analysis, err := json.Marshal(d.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	handed := scan.Hand(*d.Scanned, analysis)
	for name, c := range map[string]struct {
		request execution.Request
		handed  []byte
		own     int
	}{
		"the same":             {inv.Request, handed, 0},
		"again":                {inv.Request, handed, 0},
		"other code":           {execution.Request{Code: "eval('1')"}, handed, 1},
		"other powers":         {execution.Request{Code: "process.env.A", Policy: "strict"}, handed, 1},
		"a tier that has none": {execution.Request{Code: "process.env.A", Policy: "none"}, handed, 0},
		"a tool of that name": {execution.Request{Code: "process.env.A",
			Tools: []execution.Tool{{Name: "process:env"}}}, handed, 1},
		"nothing": {inv.Request, []byte("{}"), 1},
	} {
		own = 0
		inv := execution.Invocation{Request: c.request, Scanned: func() []byte { return c.handed }}
		got := r.Decide(governance.PolicyRequest(inv))
		want := policy.Default().Decide(governance.PolicyRequest(inv))
		if own != c.own {
			t.Errorf("%s: the process scanned %d times, want %d", name, own, c.own)
		}
		got.Telemetry, want.Telemetry = policy.Decision{}.Telemetry, policy.Decision{}.Telemetry
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	// The owner's scan has no telemetry, so it must not answer a decision without it.
	again := r.Decide(governance.PolicyRequest(inv))
	if !again.Telemetry.IsValid {
		t.Error("the scan of the owner was remembered")
	}
}
