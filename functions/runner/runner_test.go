package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/deployment"
	"github.com/airlock-run/airlock/sandbox"
)

// fixture is a sandbox that returns a fixed result, and a record store that may fail.
type fixture struct {
	result    sandbox.Result
	err       error
	appendErr error

	runs      int
	grants    sandbox.Grants
	records   []audit.Record
	appendCtx error // of the context that Append got
	appendBy  time.Time
}

func (f *fixture) Run(_ context.Context, _ sandbox.Script, g sandbox.Grants) (sandbox.Result, error) {
	f.runs++
	f.grants = g
	return f.result, f.err
}

// slow is a sandbox in which time passes.
type slow struct {
	*fixture
	pass func()
}

func (s slow) Run(ctx context.Context, script sandbox.Script, g sandbox.Grants) (sandbox.Result, error) {
	s.pass()
	return s.fixture.Run(ctx, script, g)
}

func (f *fixture) Append(ctx context.Context, r audit.Record) error {
	f.appendCtx = ctx.Err()
	f.appendBy, _ = ctx.Deadline()
	if f.appendErr == nil {
		f.records = append(f.records, r)
	}
	return f.appendErr
}

func newRunner(t *testing.T, f *fixture, rules runner.Decider, change ...func(*runner.Config)) *runner.Runner {
	t.Helper()
	cfg := runner.Config{Sandbox: f, Policy: rules, Records: f}
	for _, c := range change {
		c(&cfg)
	}
	r, err := runner.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func invocation(q execution.Request) execution.Invocation {
	return execution.Invocation{
		Airlock: execution.InvocationVersion, ID: "exec_01JD5Z6Q8V0000000000000000", Request: q, Via: execution.ViaHTTP,
		ReceivedAt: time.Now(), Caller: execution.Caller{Subject: "key:1", Tenant: "acme"},
	}
}

// dangerous is code that the policy blocks.
const dangerous = "require('child_process').execSync('ls')"

// outcomes are the ways in which an execution ends, by status and limit.
var outcomes = []struct {
	name   string
	code   string
	result sandbox.Result
	status execution.Status
	limit  string
}{
	{"completed", "1", sandbox.Result{Value: json.RawMessage("1")}, execution.Completed, ""},
	{"guest error", "1", sandbox.Result{Error: "Error: no"}, execution.Failed, ""},
	{"exit", "1", sandbox.Result{Error: "the code called process.exit(3)", ExitCode: 3}, execution.Failed, ""},
	{"wall time", "1", sandbox.Result{Error: "late", Limit: sandbox.LimitWall}, execution.TimedOut, "wall"},
	{"processor time", "1", sandbox.Result{Error: "late", Limit: sandbox.LimitCPU}, execution.TimedOut, "cpu"},
	{"memory", "1", sandbox.Result{Error: "full", Limit: sandbox.LimitMemory}, execution.Failed, "memory"},
	{"stack", "1", sandbox.Result{Error: "deep", Limit: sandbox.LimitStack}, execution.Failed, "stack"},
	{"output", "1", sandbox.Result{Error: "long", Limit: sandbox.LimitOutput}, execution.Failed, "output"},
	{"logs", "1", sandbox.Result{Error: "many", Limit: sandbox.LimitLogs}, execution.Failed, "logs"},
	{"API calls", "1", sandbox.Result{Error: "many", Limit: sandbox.LimitAPICalls}, execution.Failed, "apiCalls"},
	{"files", "1", sandbox.Result{Error: "full", Limit: sandbox.LimitFiles}, execution.Failed, "files"},
	{"fetched bytes", "1", sandbox.Result{Error: "many", Limit: sandbox.LimitFetchBytes}, execution.Failed, "fetchBytes"},
	{"cancelled", "1", sandbox.Result{Error: "cancelled", Cancelled: true}, execution.Cancelled, ""},
	{"cancelled at a limit", "1", sandbox.Result{Error: "c", Cancelled: true, Limit: sandbox.LimitWall},
		execution.Cancelled, "wall"},
	{"blocked", dangerous, sandbox.Result{}, execution.Blocked, ""},
}

// Every way to end has its status and limit, the same in the result and in the record.
func TestStatus(t *testing.T) {
	for _, c := range outcomes {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{result: c.result}
			got, err := newRunner(t, f, policy.Default()).Run(t.Context(), invocation(execution.Request{Code: c.code}), nil)
			if err != nil {
				t.Fatal(err)
			}
			limit := ""
			if got.Limit != nil {
				limit = *got.Limit
			}
			if got.Status != c.status || limit != c.limit {
				t.Errorf("the result has status %s, limit %q; want %s, %q", got.Status, limit, c.status, c.limit)
			}
			if (got.Error == nil) != (c.status == execution.Completed) {
				t.Errorf("error %v with status %s", got.Error, got.Status)
			}
			if len(f.records) != 1 {
				t.Fatalf("%d records", len(f.records))
			}
			rec := f.records[0]
			if rec.Status != string(c.status) || rec.Limit != c.limit || rec.ID != got.ID {
				t.Errorf("the record has id %s, status %s, limit %q", rec.ID, rec.Status, rec.Limit)
			}
			if again := governance.Result(rec); got.ExitCode != c.result.ExitCode || again.ExitCode != got.ExitCode {
				t.Errorf("exit code %d, and %d by the record; want %d", got.ExitCode, again.ExitCode, c.result.ExitCode)
			}
			steps := []string{audit.Received, audit.Decided, audit.Started, audit.Finished, audit.Recorded}
			if c.status == execution.Blocked {
				steps = []string{audit.Received, audit.Decided, audit.Recorded}
				if f.runs != 0 {
					t.Error("blocked code ran")
				}
			}
			var custody []string
			for _, s := range rec.Custody {
				custody = append(custody, s.Step)
			}
			if diff := cmp.Diff(steps, custody); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A result whose record cannot be written is withheld, whatever the result is.
func TestFailedAppendWithholdsResult(t *testing.T) {
	for _, c := range outcomes {
		t.Run(c.name, func(t *testing.T) {
			full := errors.New("no space left on /var/lib/airlock")
			f := &fixture{result: c.result, appendErr: full}
			got, err := newRunner(t, f, policy.Default()).Run(t.Context(), invocation(execution.Request{Code: c.code}), nil)
			if diff := cmp.Diff(execution.Result{}, got); diff != "" {
				t.Errorf("a result was returned: %s", diff)
			}
			var public *execution.Error
			if !errors.As(err, &public) || public.Code != execution.Unrecorded {
				t.Fatalf("got %v, want code %s", err, execution.Unrecorded)
			}
			if !errors.Is(err, full) {
				t.Errorf("the cause is lost: %v", err)
			}
			if strings.Contains(public.Message, "/var/lib") {
				t.Errorf("the caller reads %q", public.Message)
			}
		})
	}
}

// A caller that hangs up loses no record.
func TestCancelledContextStillRecords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fixture{result: sandbox.Result{Cancelled: true, Error: "cancelled"}}
	if _, err := newRunner(t, f, policy.Default()).Run(ctx, invocation(execution.Request{Code: "1"}), nil); err != nil {
		t.Fatal(err)
	}
	if len(f.records) != 1 || f.appendCtx != nil {
		t.Errorf("%d records, appended under a context that says %v", len(f.records), f.appendCtx)
	}
}

// The record of an execution that another function may run again is stored within the time of the code and
// execution.Grace. That of any other execution has no such bound.
func TestRecordIsStoredBeforeAnotherFunctionMayRun(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for _, c := range []struct {
		name    string
		bounded bool
		request execution.Request
		took    time.Duration
		want    time.Duration // from the beginning
	}{
		{"another may", true, execution.Request{Code: "1", Policy: "strict"}, time.Second, 5*time.Second + execution.Grace},
		{"its own time", true, execution.Request{Code: "1", Timeout: 2000}, time.Second, 2*time.Second + execution.Grace},
		{"too late", true, execution.Request{Code: "1", Policy: "strict"}, time.Minute, -1},
		{"none may", false, execution.Request{Code: "1", Policy: "strict"}, time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var passed time.Duration
			f := &fixture{result: sandbox.Result{Value: json.RawMessage("1")}}
			clock := func() time.Time { return began.Add(passed) }
			r := newRunner(t, f, policy.Default(), func(cfg *runner.Config) {
				cfg.Now, cfg.Sandbox = clock, slow{f, func() { passed += c.took }}
			})
			inv := invocation(c.request)
			if c.bounded {
				inv.StartBefore = began
			}
			if _, err := r.Run(t.Context(), inv, nil); err != nil {
				t.Fatal(err)
			}
			switch {
			case c.want < 0:
				if !errors.Is(f.appendCtx, context.DeadlineExceeded) {
					t.Errorf("the record is stored after its time: %v", f.appendCtx)
				}
			case c.want == 0:
				if !f.appendBy.IsZero() {
					t.Errorf("the record must be stored by %v", f.appendBy)
				}
			default:
				if left := time.Until(f.appendBy); left > c.want-c.took || left < c.want-c.took-5*time.Second {
					t.Errorf("%v are left to store the record, want %v", left, c.want-c.took)
				}
			}
		})
	}
}

// An invocation that is no execution leaves no record: the platform failed, or the request is invalid.
func TestErrorsLeaveNoRecord(t *testing.T) {
	for _, c := range []struct {
		name    string
		request execution.Request
		err     error
		code    execution.Code
		field   string
		runs    int
	}{
		{"sandbox failure", execution.Request{Code: "1"}, errors.New("out of memory at 0x7f"), execution.Internal, "", 1},
		{"unknown tier", execution.Request{Code: "1", Policy: "none"}, nil, execution.InvalidRequest, "policy", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{err: c.err}
			got, err := newRunner(t, f, policy.Default()).Run(t.Context(), invocation(c.request), nil)
			var public *execution.Error
			if !errors.As(err, &public) || public.Code != c.code || public.Field != c.field {
				t.Fatalf("got %v, want code %s, field %q", err, c.code, c.field)
			}
			if c.err != nil && strings.Contains(public.Message, c.err.Error()) {
				t.Errorf("the caller reads %q", public.Message)
			}
			if f.runs != c.runs || len(f.records) != 0 {
				t.Errorf("%d runs, %d records", f.runs, len(f.records))
			}
			if diff := cmp.Diff(execution.Result{}, got); diff != "" {
				t.Errorf("a result was returned: %s", diff)
			}
		})
	}
}

// The gateway has decided before, by its own policy. Its decision reaches the function as the fields of the request and
// the scopes of the token. The function decides again, and the tighter decision holds.
func TestTighterDecisionHolds(t *testing.T) {
	rules := func(text string) runner.Decider {
		set, err := deployment.Parse("policy.yaml", []byte("version: 1\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	lowered := rules("tiers:\n  standard: {timeout: 2s}\n")
	for _, c := range []struct {
		name    string
		rules   runner.Decider // the function's
		request execution.Request
		scopes  []string
		memory  int64 // Config.MaxMemoryBytes
		status  execution.Status
		wall    time.Duration
		bytes   int64
	}{
		{name: "the gateway lowers the time", rules: lowered, request: execution.Request{Timeout: 500},
			wall: 500 * time.Millisecond},
		{name: "the function's time is lower", rules: lowered, request: execution.Request{Timeout: 9000},
			wall: 2 * time.Second},
		{name: "the gateway lowers the memory", rules: lowered, request: execution.Request{Memory: "4mb"}, memory: 8 << 20,
			bytes: 4 << 20},
		{name: "the function's memory is lower", rules: lowered, request: execution.Request{Memory: "32mb"}, memory: 8 << 20,
			bytes: 8 << 20},
		{name: "only the function forbids", rules: rules("forbid: {categories: [timer_abuse]}\n"),
			request: execution.Request{Code: "setInterval(() => {}, 0)"}, status: execution.Blocked},
		{name: "only the token forbids", rules: policy.Default(),
			request: execution.Request{Policy: "agent", Hosts: []string{"b.test"}},
			scopes:  []string{"host:a.test"}, status: execution.Blocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{result: sandbox.Result{Value: json.RawMessage("1")}}
			r := newRunner(t, f, c.rules, func(cfg *runner.Config) { cfg.MaxMemoryBytes = c.memory })
			if c.request.Code == "" {
				c.request.Code = "1"
			}
			inv := invocation(c.request)
			inv.Scopes = c.scopes
			// The decision of the gateway's policy is for invokers that write the record. The function ignores it.
			inv.Decision = func() execution.Decision {
				return execution.Decision{Grants: json.RawMessage(`{"network":"public"}`)}
			}
			got, err := r.Run(t.Context(), inv, nil)
			if c.status == execution.Blocked {
				var public *execution.Error
				refused := errors.As(err, &public) && public.Code == execution.InvalidRequest
				if f.runs != 0 || !refused && got.Status != execution.Blocked {
					t.Errorf("%d runs, status %s, %v", f.runs, got.Status, err)
				}
				return
			}
			if err != nil || got.Status != execution.Completed {
				t.Fatal(got.Status, err)
			}
			if c.wall > 0 && f.grants.Limits.Wall != c.wall {
				t.Errorf("the guest gets %v, want %v", f.grants.Limits.Wall, c.wall)
			}
			if c.bytes > 0 && f.grants.Limits.MemoryBytes != c.bytes {
				t.Errorf("the guest gets %d bytes, want %d", f.grants.Limits.MemoryBytes, c.bytes)
			}
		})
	}
}

// Redaction changes the record and not the result.
func TestRedactChangesRecordOnly(t *testing.T) {
	f := &fixture{result: sandbox.Result{Error: "Error: s3cret"}}
	r := newRunner(t, f, policy.Default(), func(cfg *runner.Config) {
		cfg.Redact = func(rec *audit.Record) { rec.Error = strings.ReplaceAll(rec.Error, "s3cret", "[redacted]") }
	})
	got, err := r.Run(t.Context(), invocation(execution.Request{Code: "1"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Error == nil || *got.Error != "Error: s3cret" || f.records[0].Error != "Error: [redacted]" {
		t.Errorf("result %v, record %q", got.Error, f.records[0].Error)
	}
}

// A record holds the code and the request only if KeepCode says so.
func TestKeepCode(t *testing.T) {
	for name, keep := range map[string]bool{"hash": false, "keep": true} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{result: sandbox.Result{Value: json.RawMessage("1")}}
			r := newRunner(t, f, policy.Default(), func(cfg *runner.Config) { cfg.KeepCode = keep })
			if _, err := r.Run(t.Context(), invocation(execution.Request{Code: "6 * 7"}), nil); err != nil {
				t.Fatal(err)
			}
			rec := f.records[0]
			if (rec.Code == "6 * 7") != keep {
				t.Errorf("the code in the record is %q", rec.Code)
			}
			if (len(rec.Request) > 0) != keep {
				t.Errorf("the request in the record is %s", rec.Request)
			}
			if rec.CodeSHA256 == "" || rec.CodeBytes != 5 {
				t.Errorf("the record has the hash %q of %d bytes", rec.CodeSHA256, rec.CodeBytes)
			}
		})
	}
}

// New refuses a Config without a sandbox, a policy or records.
func TestNewChecksConfig(t *testing.T) {
	f := &fixture{}
	for name, cfg := range map[string]runner.Config{
		"Sandbox": {Policy: policy.Default(), Records: f},
		"Policy":  {Sandbox: f, Records: f},
		"Records": {Sandbox: f, Policy: policy.Default()},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := runner.New(cfg); err == nil || !strings.Contains(err.Error(), name+" is not set") {
				t.Error(err)
			}
		})
	}
}

// The owner of a process adds its own decision to the record, so the record of an execution that the owner has decided
// about leaves the decision out. All else is the same.
func TestRecordOfDecided(t *testing.T) {
	record := func(scanned func() []byte) audit.Record {
		f := &fixture{result: sandbox.Result{Value: []byte("1")}}
		inv := invocation(execution.Request{Code: "1"})
		inv.Scanned, inv.ReceivedAt = scanned, time.Unix(1_800_000_000, 0)
		r := newRunner(t, f, policy.Default(), func(c *runner.Config) { c.Now = func() time.Time { return inv.ReceivedAt } })
		if _, err := r.Run(t.Context(), inv, nil); err != nil {
			t.Fatal(err)
		}
		return f.records[0]
	}
	want, got := record(nil), record(func() []byte { return nil })
	for what, missing := range map[string]bool{
		"grants": want.Grants == nil, "analysis": want.DangerAnalysis == nil, "telemetry": want.ASTTelemetry == nil,
		"reasons": want.Reasons == nil,
	} {
		if missing {
			t.Errorf("the owner's decision has no %s", what)
		}
	}
	want.Grants, want.DangerAnalysis, want.ASTTelemetry, want.Reasons = nil, nil, nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
