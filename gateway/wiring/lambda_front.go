package wiring

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
)

// serveFront passes Lambda's events to the gateway until the process ends.
func (g *Gateway) serveFront() {
	if g.Settings.OnLambda.Front == settings.FrontJobs {
		events.ServeRunDue(g.runDue)
	}
	front := events.Front(&url.URL{Scheme: "http", Host: g.Address()})
	events.ServeFront(front, g.Settings.OnLambda.Front == settings.FrontBuffer)
}

// armAhead is the time for whose work a turn sets the alarms. It is longer than the interval at which the template has
// the function that runs jobs called in any case, so no alarm that was lost delays work.
const armAhead = 20 * time.Minute

// runDue does what is due, or runs the job with an ID. Without an ID it first sets the alarms for what is left if it
// dies.
func (g *Gateway) runDue(ctx context.Context, id string) error {
	var unset error
	if table, is := g.core.state.(*dynamostate.Store); is && id == "" {
		if unset = dynamostate.Arm(ctx, table, armAhead); unset != nil {
			unset = fmt.Errorf("set alarms for work that is due: %w", unset)
		}
	}
	return errors.Join(unset, g.server.RunDue(ctx, id))
}

// wakeJobsFunction lets a gateway on Lambda wake the function that runs its jobs.
func wakeJobsFunction(ctx context.Context, set settings.Settings, deps *gateway.Deps) error {
	if set.OnLambda.JobsFunction == "" || set.Queues.Jobs != "" {
		return nil
	}
	waker, err := lambdainvoke.NewWaker(ctx,
		lambdainvoke.Config{Function: set.OnLambda.JobsFunction, Endpoint: set.Lambda.Endpoint})
	if err != nil {
		return fmt.Errorf("LAMBDA_JOBS_FUNCTION: %w", err)
	}
	deps.Wake.Job = waker.Wake
	return nil
}
