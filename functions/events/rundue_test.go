package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	lambdaevents "github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
)

func TestRunDue(t *testing.T) {
	t.Parallel()
	const id = "exec_0123456789"
	own := errors.New("mine")
	for _, c := range []struct {
		payload   string
		job, says string
	}{
		{string(execution.RunDuePayload(id)), id, ""},
		{string(read(t, "../../infra/deploy/events/scheduled.json")), "", ""},
		{strings.Replace(string(execution.RunDuePayload(id)), id, "", 1), "none", "turn.job: must be"},
		{`{"code":"1"}`, "none", "this function does not serve events of kind direct"},
		{string(read(t, "../../infra/deploy/events/function-url.json")), "none", "not serve events of kind function-url"},
		{string(read(t, "../../infra/deploy/events/eventbridge.json")), "none", "not serve events of kind eventbridge"},
		{`{"Records":[{"eventSource":"aws:s3"}]}`, "none", `an event of "aws:s3"`},
		{`{`, "none", "JSON"},
	} {
		got := "none"
		_, err := events.RunDue(func(_ context.Context, job string) error { got = job; return nil })(t.Context(),
			json.RawMessage(c.payload))
		if got != c.job {
			t.Errorf("%.60s: job %q, want %q", c.payload, got, c.job)
		}
		if says := fmt.Sprint(err); (err == nil) != (c.says == "") || !strings.Contains(says, c.says) {
			t.Errorf("%.60s: the error is %s, want %q", c.payload, says, c.says)
		}
	}
	if _, err := events.RunDue(func(context.Context, string) error { return own })(t.Context(),
		execution.RunDuePayload(id)); !errors.Is(err, own) {
		t.Errorf("the failure is not reported to the service: %v", err)
	}
}

// A batch of messages is handled message by message, and the service learns which ones failed.
func TestRunDueOfMessages(t *testing.T) {
	t.Parallel()
	message := func(id, body string) lambdaevents.SQSMessage {
		return lambdaevents.SQSMessage{MessageId: id, Body: body, EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:us-east-1:123456789012:jobs"}
	}
	payload, err := json.Marshal(lambdaevents.SQSEvent{Records: []lambdaevents.SQSMessage{
		message("1", string(execution.RunDuePayload("exec_0000000001"))), message("2", `{"code": "1"}`),
		message("3", string(execution.RunDuePayload("exec_0000000003"))), message("4", "{"),
		message("5", string(execution.RunDuePayload("exec_0000000005"))),
	}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var ran []string
	answer, err := events.RunDue(func(_ context.Context, job string) error {
		mu.Lock()
		defer mu.Unlock()
		if ran = append(ran, job); job == "exec_0000000003" {
			return errors.New("the state is away")
		}
		return nil
	})(t.Context(), payload)
	slices.Sort(ran)
	if diff := cmp.Diff([]string{"exec_0000000001", "exec_0000000003", "exec_0000000005"}, ran); diff != "" || err != nil {
		t.Error(diff, err)
	}
	const want = `{"batchItemFailures":[{"itemIdentifier":"2"},{"itemIdentifier":"3"},{"itemIdentifier":"4"}]}`
	if string(answer) != want {
		t.Errorf("the answer is %s", answer)
	}
}

// A function that is invoked after the latest start of an execution runs nothing: another function may have run it
// meanwhile.
func TestStartBefore(t *testing.T) {
	t.Parallel()
	bound := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	payload := strings.Replace(envelope, `"stream":true`, `"startBefore":"2026-01-02T03:04:05Z"`, 1)
	for late, runs := range map[time.Duration]bool{-time.Second: true, 0: true, time.Nanosecond: false} {
		ran := false
		h := events.NewHandler(func(ctx context.Context, inv execution.Invocation,
			onLog func(execution.Log)) (execution.Result, error) {
			ran = true
			return done(ctx, inv, onLog)
		}, events.Clock(func() time.Time { return bound.Add(late) }))
		_, err := h(t.Context(), json.RawMessage(payload))
		var refused messages.InvokeResponse_Error
		if ran != runs || runs != (err == nil) {
			t.Errorf("%v late: ran %v, want %v; %v", late, ran, runs, err)
		}
		if err != nil && (!errors.As(err, &refused) || refused.Type != string(execution.Throttled)) {
			t.Errorf("%v late: the error is %v, want %s", late, err, execution.Throttled)
		}
	}
}

func FuzzRunDue(f *testing.F) {
	f.Add([]byte(`{"airlock":1,"turn":{"job":"exec_0123456789"}}`))
	f.Add([]byte(`{"detail-type":"Scheduled Event","source":"aws.events","detail":{},` +
		`"id":"","time":"","region":"","account":""}`))
	f.Add([]byte(`{"requestContext":{"http":{"method":"GET"}}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		called := false
		answer, err := events.RunDue(func(_ context.Context, job string) error {
			if called = true; job != "" && !execution.ValidID(job) {
				t.Errorf("job %q of %q", job, payload)
			}
			return nil
		})(t.Context(), payload)
		if answer == nil && called != (err == nil) {
			t.Errorf("called %v, %v: %q", called, err, payload)
		}
	})
}
