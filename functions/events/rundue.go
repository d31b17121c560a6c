package events

import (
	"context"
	"encoding/json"
	"sync"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/airlock-run/airlock/functions/execution"
)

// RunDue returns the handler of a function that runs jobs. It calls run with the job that an [execution.RunDuePayload]
// names, and with "" for an event of kind [Schedule]. In an event of kind [Queue], every message is such a payload: the
// messages are handled at once, and the response lists those that failed, which the service delivers again. It refuses
// every other payload and names its kind. If run fails, the service invokes the function again, which is harmless
// because finished work is not repeated.
func RunDue(
	run func(ctx context.Context, job string) error,
) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return func(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
		job, is, err := execution.DecodeRunDue(payload)
		if err != nil {
			return nil, err
		}
		if is {
			return nil, run(ctx, job)
		}
		kind, err := Detect(payload)
		switch {
		case err != nil:
			return nil, err
		case kind == Queue:
			return runMessages(ctx, payload, run)
		case kind != Schedule:
			return nil, invalid("", "this function does not serve events of kind "+string(kind)+": it runs jobs for the "+
				"gateway, a queue and the clock")
		}
		return nil, run(ctx, "")
	}
}

// runMessages calls run with the job of each message of a batch.
func runMessages(
	ctx context.Context, payload json.RawMessage, run func(ctx context.Context, job string) error,
) (json.RawMessage, error) {
	var batch lambdaevents.SQSEvent
	if err := json.Unmarshal(payload, &batch); err != nil {
		return nil, invalid("Records", "is not a batch of SQS messages")
	}
	failed := make([]bool, len(batch.Records))
	var all sync.WaitGroup
	for i, message := range batch.Records {
		all.Go(func() {
			job, is, err := execution.DecodeRunDue([]byte(message.Body))
			failed[i] = err != nil || !is || run(ctx, job) != nil
		})
	}
	all.Wait()
	answer := lambdaevents.SQSEventResponse{BatchItemFailures: []lambdaevents.SQSBatchItemFailure{}}
	for i, message := range batch.Records {
		if failed[i] {
			answer.BatchItemFailures = append(answer.BatchItemFailures,
				lambdaevents.SQSBatchItemFailure{ItemIdentifier: message.MessageId})
		}
	}
	return json.Marshal(answer)
}

// ServeRunDue serves invocations from the Lambda Runtime API with [RunDue] until the process ends; it does not return.
func ServeRunDue(run func(ctx context.Context, job string) error) { lambda.Start(RunDue(run)) }
