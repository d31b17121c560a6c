package events

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/airlock-run/airlock/functions/execution"
)

// RunDue returns the handler of a function that runs jobs. It calls run with the job that an [execution.RunDuePayload]
// names, and with "" for an event of kind [Schedule]. It refuses every other payload and names its kind. The response
// is null. If run fails, the service invokes the function again, which is harmless because finished work is not
// repeated.
func RunDue(run func(ctx context.Context, job string) error) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, payload json.RawMessage) error {
		job, is, err := execution.DecodeRunDue(payload)
		if err != nil {
			return err
		}
		if !is {
			kind, err := Detect(payload)
			if err != nil {
				return err
			}
			if kind != Schedule {
				return invalid("", "an event of kind "+string(kind)+" is none that this function serves: it runs jobs, and is "+
					"called by the gateway and by the clock")
			}
		}
		return run(ctx, job)
	}
}

// ServeRunDue serves invocations from the Lambda Runtime API with [RunDue] until the process ends; it does not return.
func ServeRunDue(run func(ctx context.Context, job string) error) { lambda.Start(RunDue(run)) }
