package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/policy/audit"
)

func TestExecute(t *testing.T) {
	t.Parallel()
	var got execution.Invocation
	s := serve(t, options{invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		got = inv
		return echo(ctx, inv, onLog)
	}})
	a := s.do(t, "POST", "/api/execute", `{"code":"input","input":{"n":"<b>"},"policy":"strict"}`)
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s\n%s", a.StatusCode, a.Header.Get("Content-Type"), a.body)
	}
	if !strings.Contains(string(a.body), `"result":{"n":"<b>"}`) {
		t.Errorf("the result differs from that of the function: %s", a.body)
	}
	v := a.json(t)
	if v["status"] != "completed" || v["error"] != nil || v["cached"] != false {
		t.Errorf("%s", a.body)
	}
	for _, field := range []string{
		"id", "result", "output", "logs", "error", "exception", "limit", "engine", "policy", "durationMs", "usage",
		"dangerAnalysis", "violations", "cached", "apiCallCount",
	} {
		if _, ok := v[field]; !ok {
			t.Errorf("%s is missing", field)
		}
	}
	sent := execution.Invocation{Airlock: got.Airlock, ID: got.ID, Via: got.Via, Caller: got.Caller}
	if diff := cmp.Diff(execution.Invocation{
		Airlock: 1, ID: v["id"].(string), Via: "http",
		Caller: execution.Caller{Subject: "local", Tenant: got.Caller.Tenant, IP: "127.0.0.1"},
	}, sent, cmpopts.IgnoreUnexported(execution.Request{})); diff != "" {
		t.Errorf("the invocation differs (-want +got):\n%s", diff)
	}
	if got.ReceivedAt.IsZero() {
		t.Error("the invocation has no time")
	}
	again := s.do(t, "GET", "/api/result/"+got.ID, "")
	if again.StatusCode != 200 || string(again.body) != string(a.body) {
		t.Errorf("the kept result differs:\n%s\n%s", again.body, a.body)
	}
	s.do(t, "GET", "/api/result/exec_00000000000000000000000000", "").problem(t, 404)
}

func TestGatewayRecordsBlocked(t *testing.T) {
	t.Parallel()
	s := serve(t, options{invoke: func(
		context.Context, execution.Invocation, func(execution.Log),
	) (execution.Reply, error) {
		t.Error("a blocked script reached the function")
		return execution.Reply{}, errors.New("no")
	}})
	const violation = `level critical (score 10) is blocked under policy "standard", which refuses critical and above` +
		"; code from strings (eval, Function) runs only under policy extended or agent"
	a := s.do(t, "POST", "/api/execute", code("eval('1')"))
	v := a.json(t)
	want(t, a, 200)
	has(t, v, map[string]any{"status": "blocked", "violations.0": violation, "error": "blocked by policy: " + violation})
	r := s.records.records[0]
	if diff := cmp.Diff(audit.Record{
		ID: v["id"].(string), Ending: audit.Ending{Status: "blocked"}, Via: "http", Source: audit.Source{CodeBytes: 9,
			CodeSHA256: "68dac202a329400108b5128b599784bdb7e959af6b2f0f00d5cc66340681d7d3"}, // of eval('1')
	}, audit.Record{
		ID: r.ID, Ending: audit.Ending{Status: r.Status}, Via: r.Via,
		Source: audit.Source{CodeBytes: r.CodeBytes, CodeSHA256: r.CodeSHA256},
	}); diff != "" {
		t.Errorf("the record differs (-want +got):\n%s", diff)
	}
	if len(r.Reasons) == 0 || r.ASTTelemetry == nil {
		t.Errorf("the record has the reasons %q and the telemetry %s", r.Reasons, r.ASTTelemetry)
	}
	var steps []string
	for _, step := range r.Custody {
		steps = append(steps, step.Step)
	}
	if strings.Join(steps, " ") != "received decided recorded" {
		t.Errorf("custody %v", steps)
	}
}

// A function recorded its execution and died before it responded. The response does not contradict the record.
func TestFunctionDiedAfterRecord(t *testing.T) {
	t.Parallel()
	for recorded, status := range map[string]int{"completed": 503, "error": 200} {
		var s *served
		line := "the process ended"
		s = serve(t, options{invoke: func(
			ctx context.Context, inv execution.Invocation, _ func(execution.Log),
		) (execution.Reply, error) {
			if err := s.records.Append(ctx, audit.Record{ID: inv.ID, Ending: audit.Ending{Status: recorded}}); err != nil {
				t.Error(err)
			}
			return execution.Reply{Result: execution.Result{ID: inv.ID, Status: execution.Failed,
				Failure: execution.Failure{Error: &line}}}, nil
		}})
		if a := s.do(t, "POST", "/api/execute", code("1")); a.StatusCode != status {
			t.Errorf("recorded as %s: %d %s", recorded, a.StatusCode, a.body)
		}
	}
}

func TestFunctionDiedBeforeRecord(t *testing.T) {
	t.Parallel()
	limit, line := "wall", "killed"
	s := serve(t, options{invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		return execution.Reply{
			Result: execution.Result{ID: inv.ID, Status: execution.TimedOut,
				Failure: execution.Failure{Limit: &limit, Error: &line}},
		}, nil
	}})
	v := s.do(t, "POST", "/api/execute", code("for(;;);")).json(t)
	has(t, v, map[string]any{"status": "timeout", "limit": "wall", "policy": "standard", "engine": "quickjs"})
	r := s.records.records[0]
	if diff := cmp.Diff(audit.Record{ID: v["id"].(string),
		Ending: audit.Ending{Status: "timeout", Limit: "wall", Error: "killed"}},
		audit.Record{ID: r.ID, Ending: audit.Ending{Status: r.Status, Limit: r.Limit, Error: r.Error}}); diff != "" {
		t.Errorf("the record differs (-want +got):\n%s", diff)
	}
}

func TestUnrecordedResultIsWithheld(t *testing.T) {
	t.Parallel()
	s := serve(t, options{
		records: &ledger{broken: errors.New("no space left in /work/audit")},
		invoke: func(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
			return execution.Reply{
				Result: execution.Result{ID: inv.ID, Status: execution.Completed, Result: json.RawMessage(`"secret"`)},
			}, nil
		},
	})
	for _, body := range []string{code("1"), code("eval('1')")} {
		a := s.do(t, "POST", "/api/execute", body)
		if _, kind := a.problem(t, 503); kind != "unrecorded" || a.Header.Get("Retry-After") == "" ||
			strings.Contains(string(a.body), "secret") {
			t.Errorf("%s", a.body)
		}
	}
	s.do(t, "GET", "/readyz", "").problem(t, 503)
	s.do(t, "GET", "/api/audit/executions", "").problem(t, 503)
}

func TestInvokerErrors(t *testing.T) {
	t.Parallel()
	cases := []struct {
		err      error
		status   int
		code     string
		recorded bool
	}{
		{&execution.Error{Code: execution.Unavailable, Message: "no function"}, 503, "unavailable", true},
		{&execution.Error{Code: execution.Throttled, Message: "busy", RetryAfter: 1500e6}, 503, "throttled", false},
		{&execution.Error{Code: execution.TooLarge, Message: "too large for the way"}, 413, "too_large", false},
		{&execution.Error{Code: execution.InvalidRequest, Field: "tools", Message: "no"}, 400, "invalid_request", false},
		{&execution.Error{Code: execution.Unrecorded, Message: "withheld"}, 503, "unrecorded", true},
		{&execution.Error{Code: execution.Internal, Message: "x.go:12"}, 500, "internal", true},
		{errors.New("dial tcp 10.0.0.1: x.go:12"), 500, "internal", true},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.err), func(t *testing.T) {
			t.Parallel()
			// The queue is so short that a throttled invocation is not tried again.
			s := serve(t, options{config: gateway.Config{QueueWait: 20 * time.Millisecond}, invoke: func(
				context.Context, execution.Invocation, func(execution.Log),
			) (execution.Reply, error) {
				return execution.Reply{}, c.err
			}})
			a := s.do(t, "POST", "/api/execute", code("1"))
			if _, kind := a.problem(t, c.status); kind != c.code {
				t.Errorf("code %s, want %s", kind, c.code)
			}
			if c.status == 503 && a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			if got := len(s.records.records) == 1; got != c.recorded {
				t.Errorf("%d records", len(s.records.records))
			}
		})
	}
}

// A throttled invocation gives its place to others and is tried again; callers notice only the delay.
func TestThrottledInvocationsTakeTurns(t *testing.T) {
	t.Parallel()
	var first atomic.Int32
	other := make(chan struct{})
	s := serve(t, options{config: gateway.Config{Places: 1}, invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		if inv.Request.Code == "2" {
			close(other)
			return echo(t.Context(), inv, nil)
		}
		first.Add(1)
		select {
		case <-other:
			return echo(t.Context(), inv, nil)
		default:
			return execution.Reply{}, &execution.Error{Code: execution.Throttled, Message: "busy"}
		}
	}})
	waited := make(chan map[string]any)
	go func() { waited <- s.do(t, "POST", "/api/execute", code("1")).json(t) }()
	for first.Load() == 0 {
		runtime.Gosched()
	}
	want(t, s.do(t, "POST", "/api/execute", code("2")), 200)
	got := <-waited
	if got["status"] != "completed" || first.Load() < 2 || got["usage"].(map[string]any)["queueMs"].(float64) < 25 {
		t.Errorf("after %d attempts: %v", first.Load(), got)
	}
}

// An invocation that stays throttled for the whole time in the queue is refused, and leaves no record.
func TestThrottledToTheEnd(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	s := serve(t, options{config: gateway.Config{QueueWait: 300 * time.Millisecond}, invoke: func(
		context.Context, execution.Invocation, func(execution.Log),
	) (execution.Reply, error) {
		attempts.Add(1)
		return execution.Reply{}, &execution.Error{Code: execution.Throttled, Message: "busy", RetryAfter: time.Second}
	}})
	a := s.do(t, "POST", "/api/execute", code("1"))
	a.headers(t, "Retry-After", "1")
	if _, kind := a.problem(t, 503); kind != "throttled" || attempts.Load() < 2 || len(s.records.records) != 0 {
		t.Errorf("after %d attempts: %s, %v, %d records", attempts.Load(), a.body, a.Header, len(s.records.records))
	}
}

// The place of an execution is free while its record is written; the response waits for the record.
func TestPlaceIsFreeWhileRecordIsWritten(t *testing.T) {
	t.Parallel()
	writing, written := make(chan struct{}), make(chan struct{})
	s := serve(t, options{config: gateway.Config{Places: 1}, invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		if inv.Request.Code == "1" {
			inv.Free()
			close(writing)
			<-written
		}
		return echo(t.Context(), inv, nil)
	}})
	first := make(chan answer)
	go func() { first <- s.do(t, "POST", "/api/execute", code("1")) }()
	<-writing
	want(t, s.do(t, "POST", "/api/execute", code("2")), 200)
	select {
	case <-first:
		t.Error("the response came before the record")
	default:
	}
	close(written)
	want(t, <-first, 200)
}

// Handlers must not keep what fasthttp reuses: of many different requests at once, each gets its own response.
func TestConcurrentExecutionsAreSeparate(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				text := strings.Repeat(string(rune('a'+w)), 10+i*7)
				a := s.do(t, "POST", "/api/execute", fmt.Sprintf(`{"code":"input","input":%q}`, text))
				if v := a.json(t); v["result"] != text {
					t.Errorf("got %v, want %s", v["result"], text)
				}
			}
		})
	}
	wg.Wait()
}

func TestHangUpCancelsAndRecords(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	s := serve(t, options{invoke: func(
		ctx context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		close(started)
		<-ctx.Done()
		line := "cancelled"
		return execution.Reply{Result: execution.Result{ID: inv.ID, Status: execution.Cancelled,
			Failure: execution.Failure{Error: &line}}}, nil
	}})
	ctx, hangUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/api/execute", strings.NewReader(code("await forever")))
		r.Header.Set("Content-Type", "application/json")
		if res, err := s.client.Do(r); err == nil {
			res.Body.Close()
		}
	}()
	<-started
	hangUp()
	<-done
	if r := <-s.records.added; r.Status != "cancelled" {
		t.Errorf("record %+v", r)
	}
}

func TestQueueFull(t *testing.T) {
	t.Parallel()
	release, started := make(chan struct{}), make(chan struct{}, 2)
	s := serve(t, options{
		config: gateway.Config{Places: 1, QueueDepth: 1},
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			started <- struct{}{}
			<-release
			return echo(ctx, inv, onLog)
		},
	})
	var wg sync.WaitGroup
	statuses := make(chan int, 3)
	post := func() {
		a := s.do(t, "POST", "/api/execute", code("1"))
		if a.StatusCode == 503 {
			if _, kind := a.problem(t, 503); kind != "queue_full" || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s", a.body)
			}
		}
		statuses <- a.StatusCode
	}
	wg.Go(post)
	<-started
	// One of these two waits, and the other finds the queue full.
	wg.Go(post)
	wg.Go(post)
	if got := <-statuses; got != 503 {
		t.Errorf("status %d, want 503", got)
	}
	close(release)
	wg.Wait()
	if a, b := <-statuses, <-statuses; a != 200 || b != 200 {
		t.Errorf("statuses %d and %d", a, b)
	}
}

// A request that no place became free for is not told that others wait.
func TestNoPlaceInTime(t *testing.T) {
	t.Parallel()
	release, started := make(chan struct{}), make(chan struct{}, 1)
	s := serve(t, options{
		config: gateway.Config{Places: 1, QueueDepth: 1, QueueWait: 100 * time.Millisecond},
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			started <- struct{}{}
			<-release
			return echo(ctx, inv, onLog)
		},
	})
	var wg sync.WaitGroup
	wg.Go(func() { s.do(t, "POST", "/api/execute", code("1")) })
	<-started
	a := s.do(t, "POST", "/api/execute", code("2"))
	if detail, kind := a.problem(t, 503); kind != "queue_full" || !strings.HasPrefix(detail, "no place became free in ") {
		t.Errorf("%s", a.body)
	}
	close(release)
	wg.Wait()
}

func TestAuditRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	for range 3 {
		s.do(t, "POST", "/api/execute", code("eval('1')"))
	}
	page := s.do(t, "GET", "/api/audit/executions?limit=2&status=blocked&policy=standard&since=2020-01-01", "").json(t)
	items := page["items"].([]any)
	if len(items) != 2 || page["next"] == nil {
		t.Fatalf("%v", page)
	}
	rest := s.do(t, "GET", "/api/audit/executions?limit=2&cursor="+page["next"].(string), "").json(t)
	if len(rest["items"].([]any)) != 1 || rest["next"] != nil {
		t.Errorf("%v", rest)
	}
	id := items[0].(map[string]any)["id"].(string)
	if v := s.do(t, "GET", "/api/audit/execution/"+id, "").json(t); v["id"] != id || v["astTelemetry"] == nil {
		t.Errorf("%v", v)
	}
	for _, bad := range []string{
		"limit=0", "limit=501", "limit=x", "cursor=%2e%2e", "status=dead", "since=yesterday", "until=1",
		"since=2025-01-02&until=2025-01-01", "limit=1&limit=2", "sort=asc", "%zz=1",
		"function=" + strings.Repeat("f", 65),
	} {
		if _, kind := s.do(t, "GET", "/api/audit/executions?"+bad, "").problem(t, 400); kind != "invalid_request" {
			t.Errorf("%s: %s", bad, kind)
		}
	}
	for _, id := range []string{"exec_00000000000000000000000000", "..%2f..%2fetc", "x"} {
		s.do(t, "GET", "/api/audit/execution/"+id, "").problem(t, 404)
	}
}

// Records are listed by the function that ran, in the API and among the executions of a live stream.
func TestRecordsOfAFunction(t *testing.T) {
	t.Parallel()
	report, other := record("exec_01AAAAAAAAAA", "acme", "completed", 0), record("exec_01BBBBBBBBBB", "acme", "error", 0)
	report.Function = &audit.FunctionRef{Name: "report", Version: 2}
	other.Function = &audit.FunctionRef{Name: "other", Version: 2}
	plain := record("exec_01CCCCCCCCCC", "acme", "completed", 0)
	s := serve(t, options{records: &ledger{records: []audit.Record{report, other, plain}}})
	for function, want := range map[string]int{"report": 1, "other": 1, "none": 0, "": 3} {
		page := s.do(t, "GET", "/api/audit/executions?function="+function, "").json(t)
		if items := page["items"].([]any); len(items) != want {
			t.Errorf("%q: %v", function, items)
		}
		f := s.follow(t, "view=dashboard&function="+function)
		f.until(func(shown map[string]map[string]any) bool { return shown["ended"] != nil })
		if items := f.shown["ended"]["executions"].([]any); len(items) != want {
			t.Errorf("live, %q: %v", function, items)
		}
	}
}

var _ audit.Store = (*ledger)(nil)
