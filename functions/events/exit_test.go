package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
)

// A spent process exits after its answer was sent, whatever the answer is, and only then.
func TestExitWhenSpent(t *testing.T) {
	for name, payload := range map[string]string{"document": `{"code":"1"}`, "stream": envelope} {
		spent, exits := false, 0
		h := events.NewHandler(done, events.ExitWhen(func() bool { return spent }, func() { exits++ }))
		handled(t, h, payload)
		if exits != 0 {
			t.Errorf("%s: it exits though it is not spent", name)
		}
		spent = true
		handled(t, h, payload)
		if exits != 1 {
			t.Errorf("%s: it exits %d times", name, exits)
		}
	}
	fail := func(context.Context, execution.Invocation, func(execution.Log)) (execution.Result, error) {
		return execution.Result{}, errors.New("no")
	}
	for _, spent := range []bool{false, true} {
		h := events.NewHandler(fail, events.ExitWhen(func() bool { return spent },
			func() { t.Error("it exits before its error was sent") }))
		_, err := h(t.Context(), json.RawMessage(`{"code":"1"}`))
		var answer messages.InvokeResponse_Error
		if !errors.As(err, &answer) || answer.ShouldExit != spent {
			t.Errorf("spent %t: %+v", spent, err)
		}
	}
}
