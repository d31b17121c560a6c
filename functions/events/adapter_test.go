package events_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recorder is a Run that records what it was asked to run and returns what the test sets.
type recorder struct {
	mu     sync.Mutex
	seen   []execution.Invocation
	answer func(execution.Invocation) (execution.Result, error)
}

func (r *recorder) run(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Result, error) {
	r.mu.Lock()
	r.seen = append(r.seen, inv)
	r.mu.Unlock()
	if r.answer != nil {
		return r.answer(inv)
	}
	return completed(`{"ran":true}`), nil
}

func completed(value string) execution.Result {
	return execution.Result{
		ID: "exec_00000000000000000000000001", Status: execution.Completed, Result: json.RawMessage(value),
		Logs:        []execution.Log{},
		Environment: execution.Environment{Engine: "quickjs", Policy: "standard"}, Violations: []string{},
		DangerAnalysis: json.RawMessage(`{"score":0,"level":"safe","findings":[]}`),
	}
}

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// adapter returns an adapter that runs rec, with the given changes.
func adapter(t *testing.T, rec *recorder, change func(*events.AdapterConfig)) adapted {
	t.Helper()
	cfg := events.AdapterConfig{Now: clock}
	if change != nil {
		change(&cfg)
	}
	a, err := events.NewAdapter(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return adapted{a, rec.run}
}

// adapted is an adapter with the Run that it uses.
type adapted struct {
	*events.Adapter
	run events.Run
}

func (a adapted) Answer(ctx context.Context, kind events.Kind, payload []byte) (json.RawMessage, error) {
	return a.Adapter.Answer(ctx, a.run, kind, payload)
}

// answer detects and answers one payload.
func answer(t *testing.T, a adapted, payload []byte) (json.RawMessage, error) {
	t.Helper()
	kind, err := events.Detect(payload)
	if err != nil {
		t.Fatal(err)
	}
	return a.Answer(t.Context(), kind, payload)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func samples(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples in %s: %v", dir, err)
	}
	return files
}

var everyKind = []events.Kind{
	events.FunctionURL, events.HTTPAPI, events.RESTAPI, events.LoadBalancer,
	events.Queue, events.Topic, events.Bus, events.Schedule,
}

func boundToAll(code string) map[events.Kind]execution.Request {
	bound := map[events.Kind]execution.Request{}
	for _, kind := range everyKind {
		bound[kind] = execution.Request{Code: code}
	}
	return bound
}

// outcome holds the outcome of one sample.
type outcome struct {
	Invocations []execution.Invocation `json:"invocations"`
	Answer      json.RawMessage        `json:"answer,omitempty"`
	Error       string                 `json:"error,omitempty"`
}

func try(t *testing.T, kind events.Kind, payload []byte, change func(*events.AdapterConfig)) outcome {
	t.Helper()
	rec := &recorder{}
	got, err := adapter(t, rec, change).Answer(t.Context(), kind, payload)
	o := outcome{Invocations: rec.seen, Answer: got}
	if err != nil {
		o.Error = err.Error()
	}
	return o
}

// TestProviderSamples compares each of the provider's published events with its golden file: its kind, its outcome as
// it is (the samples carry no execution request), and its outcome with a request bound to its kind.
func TestProviderSamples(t *testing.T) {
	for _, file := range samples(t, "testdata/provider") {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			payload := read(t, file)
			kind, err := events.Detect(payload)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(map[string]any{
				"kind":   kind,
				"closed": try(t, kind, payload, nil),
				"open":   try(t, kind, payload, func(c *events.AdapterConfig) { c.OpenHTTP = true }),
				"bound": try(t, kind, payload, func(c *events.AdapterConfig) {
					c.OpenHTTP, c.Bound = true, boundToAll("input")
				}),
			}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata/golden", name+".json")
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(read(t, golden)), string(got)+"\n"); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func TestNewAdapterRefuses(t *testing.T) {
	tests := map[string]struct {
		cfg  events.AdapterConfig
		want string
	}{
		"bound direct": {events.AdapterConfig{Bound: map[events.Kind]execution.Request{events.Direct: {Code: "1"}}},
			"kind direct"},
		"bound nothing": {events.AdapterConfig{Bound: map[events.Kind]execution.Request{events.Queue: {}}},
			"sqs has no code"},
		"body": {events.AdapterConfig{MaxBody: -1}, "MaxBody"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := events.NewAdapter(tc.cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error that says %q", err, tc.want)
			}
		})
	}
}

func TestParseBound(t *testing.T) {
	bound, err := events.ParseBound([]byte(`{"schedule":{"code":"1+1","policy":"strict"}}`))
	if err != nil || bound[events.Schedule].Policy != "strict" {
		t.Fatalf("got %+v, %v", bound, err)
	}
	for _, bad := range []string{`[]`, `{"sqs":{"cod":"1"}}`, `{"sqs":1}`, ``} {
		if _, err := events.ParseBound([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}
