package events

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	lambdaevents "github.com/aws/aws-lambda-go/events"
)

// leaveMargin is the time that a queued message's execution needs beyond its own: to record and to answer the
// provider.
const leaveMargin = 2 * time.Second

// answerQueue runs a batch in order and returns the messages to deliver again. An execution that ended, well or
// badly, is recorded and its message is done; only what the platform could not run or record is delivered again. In a
// FIFO queue a failed message holds back later ones of its group, so that their order stays.
func (w work) answerQueue(ctx context.Context, payload []byte) (json.RawMessage, error) {
	var batch lambdaevents.SQSEvent
	if err := json.Unmarshal(payload, &batch); err != nil {
		return nil, invalid("Records", "is not a batch of SQS messages")
	}
	answer := lambdaevents.SQSEventResponse{BatchItemFailures: []lambdaevents.SQSBatchItemFailure{}}
	held := map[string]bool{}
	for _, message := range batch.Records {
		group := message.Attributes["MessageGroupId"]
		ordered := strings.HasSuffix(message.EventSourceARN, ".fifo")
		err := error(&execution.Error{Code: execution.Unavailable, Message: "an earlier message of its group failed"})
		if !ordered || !held[group] {
			err = w.runMessage(ctx, message)
		}
		if err != nil {
			held[group] = true
			w.cfg.Log.Warn("message will be delivered again", "message", message.MessageId, "receives",
				message.Attributes["ApproximateReceiveCount"], "error", platform(err).Error())
			answer.BatchItemFailures = append(answer.BatchItemFailures,
				lambdaevents.SQSBatchItemFailure{ItemIdentifier: message.MessageId})
		}
	}
	return json.Marshal(answer)
}

func (w work) runMessage(ctx context.Context, message lambdaevents.SQSMessage) error {
	message.ReceiptHandle = "" // lets its holder delete the message, which code must not do
	maps.DeleteFunc(message.MessageAttributes,
		func(name string, _ lambdaevents.SQSMessageAttribute) bool { return webhook.Credential(name) })
	request, err := w.request(Queue, []byte(message.Body), message)
	if err != nil {
		return err
	}
	if !w.enoughTime(ctx, request) {
		return &execution.Error{Code: execution.Unavailable, Message: "this invocation has too little time left"}
	}
	caller := execution.Caller{Subject: execution.Subject(execution.KindQueue, message.Attributes["SenderId"]),
		Tenant: tenant(ctx)}
	_, err = w.execute(ctx, Queue, caller, request)
	return err
}

// enoughTime reports whether an execution can end and be recorded before the invocation ends. Otherwise it would be
// cut short and delivered again after it had effects.
func (w work) enoughTime(ctx context.Context, request execution.Request) bool {
	if ctx.Err() != nil {
		return false
	}
	deadline, limited := ctx.Deadline()
	budget := w.cfg.Budget(request)
	return !limited || budget == 0 || deadline.Sub(w.cfg.Now()) >= budget+leaveMargin
}

// answerTopic runs the message of a notification. The provider sends one record at a time. Several records are
// refused, because a redelivery would run all of them again.
func (w work) answerTopic(ctx context.Context, payload []byte) (json.RawMessage, error) {
	var event lambdaevents.SNSEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, invalid("Records", "is not an SNS notification")
	}
	if n := len(event.Records); n != 1 {
		return nil, invalid("Records", fmt.Sprintf("must hold one SNS notification, not %d", n))
	}
	sns := event.Records[0].SNS
	sns.UnsubscribeURL = "" // a capability that code must not get
	maps.DeleteFunc(sns.MessageAttributes, func(name string, _ interface{}) bool { return webhook.Credential(name) })
	request, err := w.request(Topic, []byte(sns.Message), sns)
	if err != nil {
		return nil, err
	}
	return w.result(ctx, Topic, execution.Caller{Subject: execution.Subject(execution.KindTopic, sns.TopicArn),
		Tenant: tenant(ctx)}, request)
}

// answerBus runs the request of an EventBridge event: its detail, or the bound request.
func (w work) answerBus(ctx context.Context, kind Kind, payload []byte) (json.RawMessage, error) {
	var event lambdaevents.EventBridgeEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, invalid("", "is not an EventBridge event")
	}
	if _, bound := w.cfg.Bound[kind]; !bound && kind == Schedule {
		return nil, invalid("detail", "a scheduled event carries no request: bind one to \"schedule\", or have the "+
			"schedule send an execution request as its input")
	}
	request, err := w.request(kind, event.Detail, json.RawMessage(payload))
	if err != nil {
		return nil, err
	}
	subject := event.Source
	if kind == Schedule && len(event.Resources) > 0 {
		subject = event.Resources[0]
	}
	return w.result(ctx, kind, execution.Caller{Subject: execution.Subject(execution.KindBus, subject),
		Tenant: tenant(ctx)}, request)
}

// result runs a request and returns its Result as JSON, for the destination of an asynchronous invocation.
func (w work) result(ctx context.Context, kind Kind, caller execution.Caller,
	request execution.Request) (json.RawMessage, error) {
	result, err := w.execute(ctx, kind, caller, request)
	if err != nil {
		return nil, platform(err)
	}
	return json.Marshal(result)
}
