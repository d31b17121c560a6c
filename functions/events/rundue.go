package events

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/airlock-run/airlock/functions/execution"
)

// Turns returns the handler of a function that runs jobs. It calls turn with the job that an [execution.TurnPayload]
// names, and with "" for an event of kind [Schedule]. Every other payload is refused by name. The answer is null. If
// turn fails, the service invokes the function again, which is harmless because finished work is not repeated.
func Turns(turn func(ctx context.Context, job string) error) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, payload json.RawMessage) error {
		job, is, err := execution.DecodeTurn(payload)
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
		return turn(ctx, job)
	}
}

// ServeTurns answers invocations from the Lambda Runtime API with [Turns] until the process ends; it does not return.
func ServeTurns(turn func(ctx context.Context, job string) error) { lambda.Start(Turns(turn)) }
