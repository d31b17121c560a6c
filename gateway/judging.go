package gateway

import (
	"context"
	"runtime"
	"time"

	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/policy"
)

// judging is a Decider at which tenants take turns: reading code takes the gateway's own time, so no tenant may have all of
// it, by long code or by many requests. It is safe for concurrent use.
type judging struct {
	Decider
	turns *queue.Queue
}

// maxJudged is how many may wait for their turn; connections and jobs are fewer.
const maxJudged = 1 << 20

func newJudging(d Decider, now func() time.Time) (*judging, error) {
	turns, err := queue.New(queue.Config{Places: max(runtime.NumCPU(), 2), Spare: 1, Depth: maxJudged, Now: now})
	return &judging{d, turns}, err
}

// Decide is the Decider's, in turn.
func (j *judging) Decide(ask policy.Ask) policy.Decision {
	defer j.turn(ask.Tenant)()
	return j.Decider.Decide(ask)
}

// AnalyzeAsk is the Decider's, in turn.
func (j *judging) AnalyzeAsk(ask policy.Ask) policy.Decision {
	defer j.turn(ask.Tenant)()
	return j.Decider.AnalyzeAsk(ask)
}

// turn waits for a tenant's turn, and gives what ends it.
func (j *judging) turn(tenant string) (end func()) {
	place, err := j.turns.Acquire(context.Background(), queue.Normal, tenant)
	if err != nil {
		return func() {} // there are more than can be
	}
	return place.Release
}
