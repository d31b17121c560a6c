package wiring

import (
	"context"
	"fmt"
	"net/url"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
)

// serveFront passes Lambda's events to the gateway until the process ends.
func (g *Gateway) serveFront() {
	if g.Settings.OnLambda.Front == settings.FrontJobs {
		events.ServeRunDue(g.server.RunDue)
	}
	front := events.Front(&url.URL{Scheme: "http", Host: g.Address()})
	events.ServeFront(front, g.Settings.OnLambda.Front == settings.FrontBuffer)
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
