//go:build unix

package localinvoke_test

import (
	stdcmp "cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/invoketest"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/policy/audit"
)

// beSealed is a sealed function process. It runs the function of the invokers' suite and sends its record.
func beSealed() {
	link, outside, err := sealed.Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	run := func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Result, error) {
		if inv.Request.Code == "forge" {
			return forge(ctx, link, inv)
		}
		if inv.Request.Code == "scanned" {
			return execution.Result{ID: inv.ID, Status: execution.Completed,
					Result: json.RawMessage(stdcmp.Or(string(sealed.Scan(ctx)), "null"))},
				link.Append(ctx, audit.Record{ID: inv.ID})
		}
		if asked, ok := reserves(inv.Request.Code); ok {
			return execution.Result{ID: inv.ID, Status: execution.Completed, Result: asked},
				link.Append(ctx, audit.Record{ID: inv.ID})
		}
		if asked, ok := asks(ctx, outside, inv.Request.Code); ok {
			return execution.Result{ID: inv.ID, Status: execution.Completed, Result: asked},
				link.Append(ctx, audit.Record{ID: inv.ID})
		}
		res, err := invoketest.Function(ctx, inv, onLog)
		if err == nil {
			err = link.Append(ctx, audit.Record{ID: inv.ID, Ending: audit.Ending{Status: string(res.Status)}})
		}
		return res, err
	}
	if err := link.Serve(context.Background(), events.NewHandler(run, events.CancelFrom(os.Stdin)).Answer,
		nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	os.Exit(0)
}

// forge returns a record in which everything is false.
func forge(ctx context.Context, link *sealed.Function, inv execution.Invocation) (execution.Result, error) {
	seed := int64(1)
	return execution.Result{ID: inv.ID, Status: execution.Completed, Result: json.RawMessage("1"),
			Environment: execution.Environment{Engine: "quickjs"},
			DurationMs:  1}, link.Append(ctx, audit.Record{
			ID: inv.ID, Time: time.Unix(1, 0), DurationMs: 99,
			Caller: audit.Caller{Subject: "mallory", Tenant: "other", IP: "203.0.113.9"}, Via: "cli",
			Source: audit.Source{CodeSHA256: "00", CodeBytes: 1, Code: "harmless", Language: "typescript"}, Policy: "agent",
			Engine: "quickjs",
			Assessment: audit.Assessment{Grants: json.RawMessage(`{"network":"public"}`), Reasons: []string{"forged"},
				DangerAnalysis: json.RawMessage(`{"level":"forged"}`),
				ASTTelemetry:   json.RawMessage(`[1]`)},
			Ending: audit.Ending{Status: "blocked", Limit: "wall", Error: "forged", OutputBytes: 9,
				Usage: audit.Usage{CPUMs: 9, QueueMs: 9}},
			Custody: []audit.Step{{Step: audit.Received, AtMs: -5}, {Step: "forged", AtMs: 1e300}},
			Inputs: audit.Inputs{Seed: &seed, Request: json.RawMessage(`{"code":"harmless"}`),
				Journal: json.RawMessage(`{"mine":true}`)},
			ResultSHA256: "00", Function: &audit.FunctionRef{Name: "g", Version: 9},
			Lineage: audit.Lineage{
				Reused: "exec_9999999999", Parent: "exec_8888888888", Segment: 3, Session: "sess_8888888888", Step: 3,
				Decision: &audit.Decision{Seq: 1},
			},
			Chain: audit.Chain{Writer: "forged", Seq: 9, Prev: "x", Hash: "y", MAC: "z"},
		})
}

// shelf keeps records in memory. It refuses the records for which it has an error.
type shelf struct {
	mu      sync.Mutex
	records []audit.Record
	refuses error
}

func (s *shelf) Append(_ context.Context, r audit.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuses != nil {
		return s.refuses
	}
	s.records = append(s.records, r)
	return nil
}

func (s *shelf) all() []audit.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]audit.Record{}, s.records...)
}

func sealedPool(records audit.Appender) *localinvoke.Sealed {
	return &localinvoke.Sealed{Records: records}
}

// The owner replaces what a record says about everything that the owner knows itself.
func TestForgedRecord(t *testing.T) {
	store := &shelf{}
	cfg := config(t)
	cfg.Env, cfg.Sealed, cfg.Processes = []string{"FUNCTION=sealed"},
		&localinvoke.Sealed{Records: store, KeepCode: true, Redact: func(r *audit.Record) { r.Caller.IP = "redacted" }}, 1
	p := newPool(t, cfg)
	received, seed := time.Now().Add(-time.Second).UTC(), int64(7)
	inv := execution.Invocation{
		ID: "exec_0123456789", Request: execution.Request{Code: "forge", Policy: "strict", Seed: &seed},
		Via: execution.ViaHTTP, ReceivedAt: received, QueueMs: 2,
		Caller:   execution.Caller{Subject: "alice", Tenant: "acme", IP: "192.0.2.1"},
		Function: &execution.FunctionRef{Name: "f", Version: 3},
		Decision: func() execution.Decision {
			return execution.Decision{Grants: json.RawMessage(`{"network":"none"}`),
				DangerAnalysis: json.RawMessage(`{"level":"safe"}`), ASTTelemetry: json.RawMessage(`{}`),
				Reasons: []string{"allow"}}
		},
	}
	r, err := p.Invoke(t.Context(), inv, nil)
	if err != nil || !r.Recorded {
		t.Fatalf("%+v, %v", r, err)
	}
	records := store.all()
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	got := records[0]
	sum := func(text string) string { s := sha256.Sum256([]byte(text)); return hex.EncodeToString(s[:]) }
	steps := got.Custody
	got.Custody = nil
	want := audit.Record{
		ID: inv.ID, Time: received, DurationMs: 1, Caller: audit.Caller{Subject: "alice", Tenant: "acme", IP: "redacted"},
		Via:    "http",
		Source: audit.Source{CodeSHA256: sum("forge"), CodeBytes: 5, Code: "forge", Language: "javascript"},
		Policy: "strict", Engine: "quickjs",
		Assessment: audit.Assessment{Grants: json.RawMessage(`{"network":"none"}`),
			DangerAnalysis: json.RawMessage(`{"level":"safe"}`),
			ASTTelemetry:   json.RawMessage(`{}`), Reasons: []string{"allow"}},
		Ending:       audit.Ending{Status: "completed", Usage: audit.Usage{QueueMs: 2}},
		Inputs:       audit.Inputs{Seed: &seed, Request: got.Request, Journal: json.RawMessage(`{"mine":true}`)},
		ResultSHA256: sum("1"),
		Function:     &audit.FunctionRef{Name: "f", Version: 3},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !strings.Contains(string(got.Request), `"forge"`) {
		t.Errorf("the request is %s", got.Request)
	}
	last := -1.0
	for i, s := range steps {
		if s.AtMs < last || s.AtMs < 0 || (i == len(steps)-1) != (s.Step == audit.Recorded) {
			t.Errorf("custody: %+v", steps)
		}
		last = s.AtMs
	}
}

// A result whose record cannot be stored is withheld, and the process serves on.
func TestUnrecorded(t *testing.T) {
	store := &shelf{refuses: errors.New("the disk at /var/lib is full")}
	cfg := config(t)
	cfg.Env, cfg.Sealed, cfg.Processes = []string{"FUNCTION=sealed"}, sealedPool(store), 1
	p := newPool(t, cfg)
	var e *execution.Error
	r, err := p.Invoke(t.Context(), invocation("echo"), nil)
	if !errors.As(err, &e) || e.Code != execution.Unrecorded || strings.Contains(e.Message, "disk") {
		t.Errorf("the error is %v", err)
	}
	if len(r.Result.Result) > 0 {
		t.Errorf("the result is not withheld: %s", r.Result.Result)
	}
	api := httptest.NewServer(p.ServiceHandler())
	defer api.Close()
	for _, path := range []string{"/2015-03-31/functions/airlock/invocations",
		"/2021-11-15/functions/airlock/response-streaming-invocations"} {
		res, err := http.Post(api.URL+path, "application/json", strings.NewReader(`{"code":"echo","input":"confidential"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read
		if err != nil || strings.Contains(string(body), "confidential") || !strings.Contains(string(body), "unrecorded") {
			t.Errorf("%s: %s, %v", path, body, err)
		}
	}
	store.mu.Lock()
	store.refuses = nil
	store.mu.Unlock()
	if r, err := p.Invoke(t.Context(), invocation("echo"), nil); err != nil || !r.Recorded {
		t.Errorf("afterwards: %v", err)
	}
	if restarts := p.Stats().Processes[0].Restarts; restarts != 0 {
		t.Errorf("the process was started again %d times", restarts)
	}
}

// The Lambda API records what has no envelope, too, under the caller's tenant and a new id.
func TestServiceRecords(t *testing.T) {
	store := &shelf{}
	cfg := config(t)
	cfg.Env, cfg.Sealed, cfg.Processes = []string{"FUNCTION=sealed"}, sealedPool(store), 1
	p := newPool(t, cfg)
	api := httptest.NewServer(p.ServiceHandler())
	defer api.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		api.URL+"/2015-03-31/functions/airlock/invocations", strings.NewReader(`{"code":"echo","input":1}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Tenant-Id", "acme")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // its statements are ignored
	got := store.all()
	if res.StatusCode != http.StatusOK || len(got) != 1 {
		t.Fatalf("%s, %+v", res.Status, got)
	}
	if r := got[0]; r.Caller.Tenant != "acme" || r.Via != execution.ViaLambda || r.CodeBytes != 4 {
		t.Errorf("the record is of %q, by %s, of %d bytes", r.Caller.Tenant, r.Via, r.CodeBytes)
	}
}

// A run that is killed reports what it used of the processor, and is killed at its deadline and not later.
func TestKilledRunReportsItsProcessorTime(t *testing.T) {
	for _, kind := range []string{"1", "sealed"} {
		cfg := config(t)
		cfg.Env, cfg.Processes, cfg.Grace = []string{"FUNCTION=" + kind}, 1, time.Hour
		if kind == "sealed" {
			cfg.Sealed = sealedPool(&shelf{})
		}
		p := newPool(t, cfg)
		if _, err := p.Invoke(t.Context(), invocation("echo"), nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := p.Invoke(ctx, invocation("spin"), nil)
		if err != nil || r.Result.Status != execution.TimedOut || r.Recorded {
			t.Fatalf("%s: %+v, %v", kind, r, err)
		}
		if u := r.Result.Usage; runtime.GOOS == "linux" && (u.CPUMs <= 1 || u.CPUMs > u.WallMs*float64(runtime.NumCPU())+10) {
			t.Errorf("%s: %v ms of the processor in %v ms", kind, u.CPUMs, u.WallMs)
		}
	}
}

// A process serves one tenant for its life, and a tenant that returns gets its own process.
func TestTenantsApart(t *testing.T) {
	cfg := config(t)
	cfg.Env, cfg.Processes = []string{"FUNCTION=sealed"}, 2
	cfg.Sealed = &localinvoke.Sealed{Records: forgetful{}, PerTenant: true, Reserve: 1}
	p := newPool(t, cfg)
	if n := len(p.Stats().Processes); n != 3 {
		t.Errorf("%d processes", n)
	}
	var (
		mu  sync.Mutex
		of  = map[string]string{}
		all sync.WaitGroup
	)
	for n := range 40 {
		all.Go(func() {
			tenant := fmt.Sprint("tenant-", n%5)
			inv := invocation("pid")
			inv.Caller.Tenant = tenant
			r, err := p.Invoke(t.Context(), inv, nil)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			pid := string(r.Result.Result)
			if other, known := of[pid]; known && other != tenant {
				t.Errorf("process %s served %s and %s", pid, other, tenant)
			}
			of[pid] = tenant
		})
	}
	all.Wait()
	inv := invocation("pid")
	inv.Caller.Tenant = "tenant-0"
	first, err := p.Invoke(t.Context(), inv, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.Invoke(t.Context(), inv, nil); err != nil ||
		string(again.Result.Result) != string(first.Result.Result) {
		t.Errorf("the tenant's own process was not found: %s then %s, %v", first.Result.Result, again.Result.Result, err)
	}
}

// Tenants that alternate, more of them than places, keep their processes.
func TestTenantsStayWarm(t *testing.T) {
	cfg := config(t)
	cfg.Env, cfg.Processes = []string{"FUNCTION=sealed"}, 2
	cfg.Sealed = &localinvoke.Sealed{Records: forgetful{}, PerTenant: true, Reserve: 1, Warm: 4}
	p := newPool(t, cfg)
	rounds := make([][]string, 3)
	for i := range rounds {
		for n := range 6 {
			inv := invocation("pid")
			inv.Caller.Tenant = fmt.Sprint("tenant-", n)
			r, err := p.Invoke(t.Context(), inv, nil)
			if err != nil {
				t.Fatal(err)
			}
			rounds[i] = append(rounds[i], string(r.Result.Result))
		}
	}
	for i, round := range rounds[1:] {
		if diff := cmp.Diff(rounds[0], round); diff != "" {
			t.Errorf("round %d: tenants changed their processes (-first +now):\n%s", i+2, diff)
		}
	}
	if n := len(p.Stats().Processes); n > 7 {
		t.Errorf("%d processes, want at most 7", n)
	}
}

// Further processes end when all have more memory than they may. The others stay.
func TestWarmProcessesAreBounded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of processes is read on Linux only")
	}
	cfg := config(t)
	cfg.Env, cfg.Processes, cfg.Heartbeat = []string{"FUNCTION=sealed"}, 2, 10*time.Millisecond
	cfg.Sealed = &localinvoke.Sealed{Records: forgetful{}, PerTenant: true, Reserve: 1, Warm: 4, WarmBytes: 1}
	p := newPool(t, cfg)
	for n := range 6 {
		inv := invocation("pid")
		inv.Caller.Tenant = fmt.Sprint("tenant-", n)
		if _, err := p.Invoke(t.Context(), inv, nil); err != nil {
			t.Fatal(err)
		}
	}
	for start := time.Now(); len(p.Stats().Processes) > 3; <-time.After(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("%d processes are left, want 3", len(p.Stats().Processes))
		}
	}
	inv := invocation("pid")
	inv.Caller.Tenant = "tenant-6"
	if _, err := p.Invoke(t.Context(), inv, nil); err != nil {
		t.Errorf("no process is left for a tenant: %v", err)
	}
}

// A process gets the gateway's scan of an execution, and none where the pool does not know the decision that goes into
// the record.
func TestScanHandedOver(t *testing.T) {
	cfg := config(t)
	cfg.Env, cfg.Sealed = []string{"FUNCTION=sealed"}, sealedPool(&shelf{})
	p := newPool(t, cfg)
	decided := func() execution.Decision { return execution.Decision{} }
	scanned := func() []byte { return []byte(`"the scan"`) }
	for name, c := range map[string]struct {
		inv  execution.Invocation
		want string
	}{
		"decided and scanned": {execution.Invocation{Decision: decided, Scanned: scanned}, `"the scan"`},
		"not decided":         {execution.Invocation{Scanned: scanned}, "null"},
		"not scanned":         {execution.Invocation{Decision: decided}, "null"},
	} {
		c.inv.ID, c.inv.Via, c.inv.Request.Code = "exec_0123456789", execution.ViaHTTP, "scanned"
		r, err := p.Invoke(t.Context(), c.inv, nil)
		if err != nil || string(r.Result.Result) != c.want {
			t.Errorf("%s: %s, %v", name, r.Result.Result, err)
		}
	}
}
