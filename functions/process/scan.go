package process

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// scanTime is how long a function process reads code for its own decision, and scanTimePerMiB how much longer for
// each MiB: a hundred times what the scan may need by its own count. The gateway has had the same code read already.
const (
	scanTime       = 2 * time.Second
	scanTimePerMiB = 2 * time.Second
)

// boundedRules decide by a policy whose reading of code is given up after a while: what a parser needs cannot be known
// beforehand, nor stopped. Code that was given up is scanned by tokens, as in a gateway. It is safe for concurrent use.
type boundedRules struct {
	set *policy.Set
	// whole reads a whole text, tokens one that is Shallow.
	whole, tokens scan.Func
	allowed       time.Duration
	abandoned     atomic.Int64 // readings that are still at work
}

func newBoundedRules(set *policy.Set) *boundedRules {
	read := scan.New().Scan
	return &boundedRules{set: set, whole: read, tokens: read, allowed: scanTime}
}

// Decide implements runner.Decider.
func (r *boundedRules) Decide(ask policy.Request) policy.Decision {
	d, err := r.set.DecideWith(context.Background(), ask, r.read)
	if err != nil {
		d.Effect, d.Grants = policy.Deny, policy.Grants{} // no reading fails here, and what is not read does not run
	}
	return d
}

// Spent reports whether a reading that was given up is still at work: the process then takes a processor for nothing.
func (r *boundedRules) Spent() bool { return r.abandoned.Load() > 0 }

func (r *boundedRules) read(ctx context.Context, t scan.Input) (scan.Result, error) {
	type outcome struct {
		found scan.Result
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	r.abandoned.Add(1) // until it has ended
	go func() {
		var out outcome
		defer func() {
			out.panic = recover()
			r.abandoned.Add(-1)
			done <- out
		}()
		out.found, out.err = r.whole(ctx, t)
	}()
	late := time.NewTimer(r.allowed + scanTimePerMiB*time.Duration(t.Bytes())>>20)
	defer late.Stop()
	select {
	case out := <-done:
		if out.panic != nil {
			panic(out.panic) // the rule that reads has failed, which denies
		}
		return out.found, out.err
	case <-late.C:
	}
	tokens := t // the reading that was given up still looks at t
	tokens.Shallow, tokens.Syntax = true, false
	found, err := r.tokens(ctx, tokens)
	found.Unfinished = true
	return found, err
}
