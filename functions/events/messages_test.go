package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"
)

// message is one SQS message as "id group body".
func batch(t *testing.T, queue string, messages ...[3]string) []byte {
	t.Helper()
	records := make([]map[string]any, 0, len(messages))
	for _, m := range messages {
		records = append(records, map[string]any{
			"messageId": m[0], "body": m[2], "eventSource": "aws:sqs",
			"eventSourceARN": "arn:aws:sqs:eu-central-1:1:" + queue,
			"attributes":     map[string]string{"MessageGroupId": m[1], "SenderId": "sender"},
		})
	}
	b, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func failures(t *testing.T, raw json.RawMessage) []string {
	t.Helper()
	var got struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.BatchItemFailures == nil {
		t.Fatalf("%v in %s", err, raw)
	}
	ids := []string{}
	for _, f := range got.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

// picky returns a platform error for the code "down", and a failed result for the code "throw".
func picky() *recorder {
	return &recorder{answer: func(inv execution.Invocation) (execution.Result, error) {
		r := completed("1")
		switch inv.Request.Code {
		case "down":
			return r, &execution.Error{Code: execution.Unrecorded, Message: "not recorded"}
		case "throw":
			r.Status = execution.Failed
		}
		return r, nil
	}}
}

func codes(rec *recorder) string {
	var b strings.Builder
	for _, inv := range rec.seen {
		b.WriteString(inv.Request.Code + " ")
	}
	return strings.TrimSpace(b.String())
}

func TestQueue(t *testing.T) {
	const ok, throw, down, broken = `{"code":"ok"}`, `{"code":"throw"}`, `{"code":"down"}`, `{"cod`
	tests := map[string]struct {
		queue    string
		messages [][3]string
		failed   []string
		ran      string
	}{
		"all well":         {"q", [][3]string{{"1", "", ok}, {"2", "", ok}}, []string{}, "ok ok"},
		"guest failure":    {"q", [][3]string{{"1", "", throw}}, []string{}, "throw"},
		"platform failure": {"q", [][3]string{{"1", "", ok}, {"2", "", down}, {"3", "", ok}}, []string{"2"}, "ok down ok"},
		"poison": {"q", [][3]string{{"1", "", broken}, {"2", "", ok}, {"3", "", `{"code":"1","cod":1}`}},
			[]string{"1", "3"}, "ok"},
		"fifo holds back": {"q.fifo", [][3]string{{"1", "a", down}, {"2", "b", ok}, {"3", "a", ok}, {"4", "b", ok}},
			[]string{"1", "3"}, "down ok ok"},
		"fifo poison":         {"q.fifo", [][3]string{{"1", "a", broken}, {"2", "a", ok}}, []string{"1", "2"}, ""},
		"standard with group": {"q", [][3]string{{"1", "a", down}, {"2", "a", ok}}, []string{"1"}, "down ok"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rec := picky()
			raw, err := answer(t, adapter(t, rec, nil), batch(t, tc.queue, tc.messages...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.failed, failures(t, raw)); diff != "" || codes(rec) != tc.ran {
				t.Errorf("failed (-want +got):\n%s\nran %q, want %q", diff, codes(rec), tc.ran)
			}
			for _, inv := range rec.seen {
				if inv.Caller.Subject != "sqs:sender" || inv.Via != execution.ViaLambda {
					t.Errorf("caller %+v via %s", inv.Caller, inv.Via)
				}
			}
		})
	}
}

// TestQueueLeavesWhatItCannotFinish: a message whose execution might outlive the invocation is not begun.
func TestQueueLeavesWhatItCannotFinish(t *testing.T) {
	now := clock()
	deadline := now.AddDate(200, 0, 0)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	rec := &recorder{answer: func(inv execution.Invocation) (execution.Result, error) {
		now = deadline.Add(-11 * time.Second)
		return completed("1"), nil
	}}
	a := adapter(t, rec, func(c *events.AdapterConfig) {
		c.Now = func() time.Time { return now }
		c.Budget = func(r execution.Request) time.Duration { return time.Duration(r.Timeout) * time.Millisecond }
	})
	raw, err := a.Answer(ctx, events.Queue, batch(t, "q", [3]string{"1", "", `{"code":"a","timeout":15000}`},
		[3]string{"2", "", `{"code":"b","timeout":15000}`}, [3]string{"3", "", `{"code":"c","timeout":5000}`}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2"}, failures(t, raw)); diff != "" || codes(rec) != "a c" {
		t.Errorf("failed (-want +got):\n%s\nran %q", diff, codes(rec))
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if raw, err = a.Answer(over, events.Queue, batch(t, "q", [3]string{"1", "", `{"code":"a"}`})); err != nil ||
		len(failures(t, raw)) != 1 {
		t.Errorf("after the end: %s, %v", raw, err)
	}
}

func TestTopicBusAndSchedule(t *testing.T) {
	tests := map[string]struct {
		file    string
		subject string
		want    string
	}{
		"sns":         {"sns", "sns:arn:aws:sns:eu-central-1:123456789012:airlock", ""},
		"eventbridge": {"eventbridge", "events:example.shop", ""},
		"schedule":    {"scheduled", "", "bind one"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			raw, err := answer(t, adapter(t, rec, nil), read(t, "../../infra/deploy/events/"+tc.file+".json"))
			if tc.want != "" {
				var bad *execution.Error
				if !errors.As(err, &bad) || !strings.Contains(bad.Message, tc.want) {
					t.Fatalf("got %v", err)
				}
				return
			}
			var result execution.Result
			if err != nil || json.Unmarshal(raw, &result) != nil || result.Status != execution.Completed {
				t.Fatalf("got %s, %v", raw, err)
			}
			if len(rec.seen) != 1 || rec.seen[0].Caller.Subject != tc.subject || rec.seen[0].Request.Code != "6 * 7" {
				t.Errorf("ran %+v", rec.seen)
			}
		})
	}
}

func TestScheduleRunsTheBoundRequest(t *testing.T) {
	rec := &recorder{}
	a := adapter(t, rec, func(c *events.AdapterConfig) {
		c.Bound = map[events.Kind]execution.Request{events.Schedule: {Code: "input.time", Policy: "strict"}}
	})
	if _, err := answer(t, a, read(t, "../../infra/deploy/events/scheduled.json")); err != nil {
		t.Fatal(err)
	}
	inv := rec.seen[0]
	if inv.Request.Code != "input.time" || !strings.Contains(string(inv.Request.Input), `"2015-10-08T16:53:06Z"`) ||
		inv.Caller.Subject != "events:arn:aws:events:us-east-1:123456789012:rule/my-scheduled-rule" {
		t.Errorf("ran %+v with input %s", inv, inv.Request.Input)
	}
}

// TestMessagesAreNotLost: what the platform could not do is an error, so that the provider delivers again.
func TestMessagesAreNotLost(t *testing.T) {
	for _, file := range []string{"sns", "eventbridge"} {
		rec := &recorder{answer: func(execution.Invocation) (execution.Result, error) {
			return execution.Result{}, fmt.Errorf("disk on fire")
		}}
		_, err := answer(t, adapter(t, rec, nil), read(t, "../../infra/deploy/events/"+file+".json"))
		var e *execution.Error
		if !errors.As(err, &e) || e.Code != execution.Internal || strings.Contains(e.Message, "fire") {
			t.Errorf("%s: got %v", file, err)
		}
	}
	two := `{"Records":[{"EventSource":"aws:sns","Sns":{"Message":"{\"code\":\"1\"}"}},` +
		`{"EventSource":"aws:sns","Sns":{"Message":"{\"code\":\"1\"}"}}]}`
	rec := &recorder{}
	if _, err := answer(t, adapter(t, rec, nil), []byte(two)); err == nil || len(rec.seen) != 0 {
		t.Errorf("two notifications in one: %v, ran %d", err, len(rec.seen))
	}
}

func TestTenantIsTheInvocationsOwn(t *testing.T) {
	rec := &recorder{}
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{TenantID: "acme"})
	payload := read(t, "../../infra/deploy/events/function-url.json")
	if _, err := adapter(t, rec, nil).Answer(ctx, events.FunctionURL, payload); err != nil {
		t.Fatal(err)
	}
	if got := rec.seen[0].Caller.Tenant; got != "acme" {
		t.Errorf("tenant %q", got)
	}
}
