package process

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
)

func environment(pairs map[string]string) func(string) string {
	return func(name string) string {
		if v, ok := pairs[name]; ok {
			return v
		}
		return map[string]string{"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:1", "AUDIT_STORE": "file:///tmp"}[name]
	}
}

func TestEventSettings(t *testing.T) {
	set, err := ReadSettings(environment(map[string]string{
		"EVENT_REQUESTS": `{"schedule":{"code":"1"}}`, "EVENT_HTTP": "open",
	}), "/nowhere/bootstrap")
	if err != nil || !set.OpenHTTP || set.EventRequests[events.Schedule].Code != "1" {
		t.Fatalf("got %+v, %v", set, err)
	}
	for name, value := range map[string]string{"EVENT_REQUESTS": `{"schedule":{"cod":"1"}}`, "EVENT_HTTP": "yes"} {
		if _, err := ReadSettings(environment(map[string]string{name: value}), "/nowhere/bootstrap"); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: got %v", name, value, err)
		}
	}
	if _, err := adapted(Settings{EventRequests: map[events.Kind]execution.Request{"s3": {Code: "1"}}},
		slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a request was bound to a kind that is not served")
	}
}

func TestBudget(t *testing.T) {
	for _, tc := range []struct {
		request execution.Request
		want    time.Duration
	}{
		{execution.Request{}, 15 * time.Second},
		{execution.Request{Policy: "strict"}, 5 * time.Second},
		{execution.Request{Policy: "agent", Timeout: 1500}, 1500 * time.Millisecond},
		{execution.Request{Policy: "strict", Timeout: 1e9}, 5 * time.Second},
		{execution.Request{Policy: "no such tier"}, 0},
	} {
		if got := (Settings{Rules: policy.Default()}).budget(tc.request); got != tc.want {
			t.Errorf("%+v: %v, want %v", tc.request, got, tc.want)
		}
	}
}
