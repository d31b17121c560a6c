package events_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
)

// An invocation that was handed over runs as if it had arrived itself. Nothing else in the store runs.
func TestHandedOver(t *testing.T) {
	const id = "exec_01JD0000000000000000000000"
	invocation, err := json.Marshal(execution.Invocation{Airlock: 1, ID: id, Via: execution.ViaHTTP,
		Request: execution.Request{Code: "6 * 7"}})
	if err != nil {
		t.Fatal(err)
	}
	ran := ""
	run := func(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Result, error) {
		ran = inv.ID
		return execution.Result{ID: inv.ID, Status: execution.Completed, Result: []byte("42")}, nil
	}
	adapter, err := events.NewAdapter(events.AdapterConfig{OpenHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		lies []byte
		err  *execution.Error
		want string // in the answer or its error
		ran  bool
	}{
		"an invocation": {lies: invocation, want: `"result":42`, ran: true},
		"another's invocation": {lies: []byte(strings.Replace(string(invocation), id, "exec_01JD0000000000000000000001", 1)),
			want: "handover.id"},
		"a bare request":   {lies: []byte(`{"code":"1"}`), want: "handover.id"},
		"another handover": {lies: execution.NewHandover(id, invocation).Payload(), want: "invalid_request"},
		"an event":         {lies: read(t, "../../infra/deploy/events/function-url.json"), want: "invalid_request"},
		"nothing":          {err: &execution.Error{Code: execution.Unavailable, Message: "away"}, want: "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			ran = ""
			handler := events.NewHandler(run, events.Adapted(adapter),
				events.HandedOver(func(_ context.Context, h execution.Handover) ([]byte, error) {
					if h != execution.NewHandover(id, invocation) {
						t.Errorf("asked for %+v", h)
					}
					if c.err != nil {
						return nil, c.err
					}
					return c.lies, nil
				}))
			out, err := handler(t.Context(), execution.NewHandover(id, invocation).Payload())
			got := ""
			if err != nil {
				report, _ := json.Marshal(err)
				got = string(report)
			} else if body, err := io.ReadAll(out); err == nil {
				got = string(body)
			}
			wantRan := ""
			if c.ran {
				wantRan = id
			}
			if ran != wantRan {
				t.Errorf("ran %q, want %q", ran, wantRan)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("answered %s, want %s", got, c.want)
			}
		})
	}
	if _, err := events.NewHandler(run)(t.Context(), execution.NewHandover(id, invocation).Payload()); err == nil ||
		!strings.Contains(err.Error(), "HANDOVER_STORE") {
		t.Errorf("without a store: %v", err)
	}
}
