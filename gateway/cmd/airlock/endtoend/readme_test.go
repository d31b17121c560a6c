package endtoend_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// The README's first execution gives what the README says, but for what differs from run to run.
func TestReadmeFirstExecution(t *testing.T) {
	b, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(b)
	payload := regexp.MustCompile(`-d '(\{"code".*\})'`).FindStringSubmatch(readme)
	_, after, found := strings.Cut(readme, "```json\n")
	shown, _, closed := strings.Cut(after, "```")
	if payload == nil || !found || !closed {
		t.Fatal("the README has no first execution")
	}
	var request map[string]any
	if err := json.Unmarshal([]byte(payload[1]), &request); err != nil {
		t.Fatal(err)
	}
	var want execution.Result
	if err := json.Unmarshal([]byte(shown), &want); err != nil {
		t.Fatalf("the README's answer is not a result: %v", err)
	}
	s := serve(t, "on", 1)
	got := s.execute(t, request)
	if !execution.ValidID(want.ID) || len(got.Logs) != len(want.Logs) || got.Logs[0].Message != want.Logs[0].Message {
		t.Errorf("got %+v", got)
	}
	for _, r := range []*execution.Result{&got, &want} {
		r.ID, r.DurationMs, r.Logs, r.Pure = "", 0, nil, false
		r.Usage = execution.Usage{OutputBytes: r.Usage.OutputBytes}
	}
	a, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil || string(a) != string(w) {
		t.Errorf("the README says\n%s\nand it gave\n%s", w, a)
	}
}
