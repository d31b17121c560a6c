package process

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// scanTime and scanTimePerMiB bound the scan of a function process's own decision: a hundred times what the scan
// allows itself. The gateway has scanned the same code before.
const (
	scanTime       = 2 * time.Second
	scanTimePerMiB = 2 * time.Second
)

// boundedRules decides by a policy with a time limit on scanning code, because a parser's time is neither known
// before nor interruptible. Code beyond the limit is scanned by tokens, as in a gateway. It is safe for concurrent
// use.
type boundedRules struct {
	set *policy.Set
	// whole scans a whole text, tokens a Shallow one.
	whole, tokens scan.Func
	allowed       time.Duration
	abandoned     atomic.Int64 // scans that are still running
}

func newBoundedRules(set *policy.Set) *boundedRules {
	read := scan.New().Scan
	return &boundedRules{set: set, whole: read, tokens: read, allowed: scanTime}
}

// Decide implements runner.Decider. A scan by the owner of the process takes the place of its own, provided that it is
// of what this policy would scan.
func (r *boundedRules) Decide(ask policy.Request) policy.Decision {
	read := r.read
	if ask.Scanned != nil {
		ask.Sum = "" // the owner's scan has no telemetry, so it is not remembered
		read = func(ctx context.Context, in scan.Input) (scan.Result, error) {
			if found, ok := scan.Handed(ask.Scanned(), in); ok {
				return found, nil
			}
			return r.read(ctx, in)
		}
	}
	d, err := r.set.DecideWith(context.Background(), ask, read)
	if err != nil {
		d.Effect, d.Grants = policy.Deny, policy.Grants{} // no scan fails here; unscanned code does not run
	}
	return d
}

// Spent reports whether an abandoned scan is still running, so that the process wastes a processor.
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
			panic(out.panic) // the check that scans has failed, which denies
		}
		return out.found, out.err
	case <-late.C:
	}
	tokens := t // the scan that was given up still reads t
	tokens.Shallow, tokens.Syntax = true, false
	found, err := r.tokens(ctx, tokens)
	found.Unfinished = true
	return found, err
}

// scannedByOwner adds the owner's scan, which comes beside the payload, to an invocation.
func scannedByOwner(run events.Run) events.Run {
	return func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Result, error) {
		if found := sealed.Scan(ctx); len(found) > 0 {
			inv.Scanned = func() []byte { return found }
		}
		return run(ctx, inv, onLog)
	}
}
