package governance_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

func TestBlocked(t *testing.T) {
	for _, c := range []struct {
		name       string
		violations []string
		line       string
	}{
		{"without a violation", []string{}, "blocked by policy"},
		{"with violations", []string{"a", "b"}, "blocked by policy: a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := governance.Blocked(&policy.Decision{Violations: c.violations})
			if r.Status != execution.Blocked || *r.Error != c.line || !cmp.Equal(r.Violations, c.violations) {
				t.Errorf("got %+v, error %q", r, *r.Error)
			}
		})
	}
}

func TestPolicyRequest(t *testing.T) {
	inv := execution.Invocation{
		Request: execution.Request{Code: "1", Policy: "strict", Hosts: []string{"a.test"},
			Limits: execution.Limits{LogEntries: 3}},
		Caller: execution.Caller{Subject: "ann", Tenant: "acme"}, Scopes: []string{"tier:strict"},
		Function: &execution.FunctionRef{},
	}
	got := governance.PolicyRequest(inv)
	if got.Sum != inv.Request.Sources().Sum() {
		t.Errorf("sum %q", got.Sum)
	}
	want := policy.Request{
		Code: "1", Language: "javascript", Sum: got.Sum, Saved: true, Tier: "strict", Limits: policy.Limits{LogEntries: 3},
		Hosts: []string{"a.test"}, Subject: "ann", Tenant: "acme", Scopes: []string{"tier:strict"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	inv.Content = "known"
	if got := governance.PolicyRequest(inv); got.Sum != "known" {
		t.Errorf("a known sum is computed again: %q", got.Sum)
	}
}

func TestRecord(t *testing.T) {
	line, limit := "Error: x", "memory"
	inv := execution.Invocation{
		ID: "exec_1", Request: execution.Request{Code: "1"}, Caller: execution.Caller{Tenant: "acme", IP: "192.0.2.1"},
		Via: "http", ReceivedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Function: &execution.FunctionRef{Name: "f", Version: 2},
	}
	d := policy.Default().Decide(governance.PolicyRequest(inv))
	r := execution.Result{
		Status: execution.Failed, Environment: execution.Environment{Policy: "standard", Engine: "quickjs"},
		Failure:        execution.Failure{Error: &line, Limit: &limit},
		Result:         json.RawMessage("5"),
		DangerAnalysis: json.RawMessage(`{}`), DurationMs: 7, Usage: execution.Usage{WallMs: 6},
	}
	want := audit.Record{
		ID: "exec_1", Time: inv.ReceivedAt, DurationMs: 7, Caller: audit.Caller{Tenant: "acme", IP: "192.0.2.1"}, Via: "http",
		Source: audit.Source{CodeSHA256: governance.Hash([]byte("1")), CodeBytes: 1, Language: "javascript"},
		Policy: "standard", Engine: "quickjs",
		Assessment: audit.Assessment{Grants: governance.Encode(d.Grants), Reasons: d.ReasonLines(),
			DangerAnalysis: json.RawMessage(`{}`),
			ASTTelemetry:   governance.Encode(d.Telemetry)}, Ending: audit.Ending{Status: "error", Limit: "memory", Error: line,
			Usage: audit.Usage{WallMs: 6}},
		ResultSHA256: governance.Hash([]byte("5")), Function: &audit.FunctionRef{Name: "f", Version: 2},
	}
	if diff := cmp.Diff(want, governance.Record(inv, &d, r, want.CodeSHA256, false)); diff != "" {
		t.Error(diff)
	}
	want.Code, want.Request = "1", governance.Encode(inv.Request)
	if diff := cmp.Diff(want, governance.Record(inv, &d, r, want.CodeSHA256, true)); diff != "" {
		t.Error("with the code kept:", diff)
	}
}

func TestAdjusted(t *testing.T) {
	granted := policy.Grants{
		Timeout: 15 * time.Second, CPU: 15 * time.Second, MemoryBytes: 64 << 20, OutputBytes: 1 << 20, LogEntries: 1000,
		APICalls: 50,
	}
	got := governance.Adjusted(execution.Request{
		Timeout: 60_000, Memory: "128mb",
		Limits: execution.Limits{CPUMs: 100, LogEntries: 5000, APICalls: 50, FileBytes: 1 << 30},
	}, granted)
	want := []execution.Adjustment{
		{Field: "timeout", Requested: 60_000, Allowed: 15_000}, {Field: "memory", Requested: 128 << 20, Allowed: 64 << 20},
		{Field: "limits.logEntries", Requested: 5000, Allowed: 1000},
		{Field: "limits.fileBytes", Requested: 1 << 30, Allowed: 16 << 20},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := governance.Adjusted(execution.Request{Timeout: 100}, granted); got != nil {
		t.Errorf("nothing was lowered: %v", got)
	}
}

func TestReplayable(t *testing.T) {
	for _, c := range []struct{ record, want string }{
		{`{"status": "completed", "engine": "quickjs", "request": {}}`, ""},
		{`{"status": "blocked", "request": {}}`, "it was blocked: nothing ran"},
		{`{"status": "completed", "reused": "exec_1", "request": {}}`,
			"nothing ran: the result of exec_1 was reused, which can be replayed"},
		{`{"status": "cancelled", "request": {}}`, "it was cancelled, and its record does not contain when"},
		{`{"status": "` + audit.DecidedStatus + `", "parent": "exec_1", "request": {}}`,
			"it is a decision about exec_1: nothing ran"},
		{`{"status": "completed", "engine": "v8", "request": {}}`,
			"it ran on v8, which cannot be replayed; only quickjs can"},
		{`{"status": "completed"}`,
			"its record does not contain the request; set AUDIT_CODE=keep for future executions"},
	} {
		var record audit.Record
		if err := json.Unmarshal([]byte(c.record), &record); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := governance.Replayable(record); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.record, got, c.want)
		}
	}
}
