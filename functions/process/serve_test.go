//go:build linux

package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

// TestMain makes this test program a function process.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" {
		if err := process.Serve(context.Background(), os.Getenv, os.Stdin, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func config(t *testing.T, env ...string) localinvoke.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return localinvoke.Config{Command: []string{self}, Processes: 1, Env: env, StartTimeout: time.Minute}
}

func TestServe(t *testing.T) {
	store := t.TempDir()
	p, err := localinvoke.New(t.Context(), config(t, "AUDIT_STORE=file://"+store))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Stats().Processes[0].PID))
	if err != nil || !strings.Contains(string(status), "Seccomp:\t2") ||
		!strings.Contains(string(status), "NoNewPrivs:\t1") {
		t.Errorf("the process is not locked down (%v):\n%s", err, status)
	}
	run := func(n int, ctx context.Context, code string, onLog func(execution.Log)) execution.Result {
		t.Helper()
		r, err := p.Invoke(ctx, execution.Invocation{
			ID: fmt.Sprintf("exec_%026d", n), Request: execution.Request{Code: code}, Via: execution.ViaHTTP,
			ReceivedAt: time.Now(),
		}, onLog)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Recorded {
			t.Errorf("%s: is not recorded", code)
		}
		return r.Result
	}
	if r := run(1, t.Context(), "console.log('hello'); 6*7", nil); string(r.Result) != "42" || r.Output != "hello\n" {
		t.Errorf("%+v", r)
	}
	if r := run(2, t.Context(), "throw new TypeError('no')", nil); r.Status != execution.Failed ||
		r.Exception.Name != "TypeError" {
		t.Errorf("%+v", r)
	}
	// A caller that hangs up ends the guest, and the execution is recorded.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if r := run(3, ctx, "console.log('on'); for(;;){}",
		func(execution.Log) { cancel() }); r.Status != execution.Cancelled || r.Output != "on\n" {
		t.Errorf("%+v", r)
	}
	for n := 1; n <= 3; n++ {
		found, err := filepath.Glob(filepath.Join(store, "executions", "*", fmt.Sprintf("exec_%026d.json", n)))
		if err != nil || len(found) != 1 {
			t.Errorf("execution %d has %d records (%v)", n, len(found), err)
		}
	}
	if restarts := p.Stats().Processes[0].Restarts; restarts != 0 {
		t.Errorf("the process was started again %d times", restarts)
	}
}

func TestServeRefusesToStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for env, says := range map[string]string{
		"AUDIT_STORE=":                      "AUDIT_STORE: is not set",
		"AUDIT_STORE=file://relative":       "AUDIT_STORE: must be",
		"AUDIT_STORE=ftp://x":               "AUDIT_STORE: must be",
		"AUDIT_STORE=file://" + file:        "AUDIT_STORE: ",
		"SANDBOX_MEMORY_MB=lots":            "SANDBOX_MEMORY_MB: must be",
		"AUDIT_CHAIN_KEY=short":             "AUDIT_CHAIN_KEY: has 5 bytes",
		"EGRESS_ALLOW=not a host at all!!!": "EGRESS_ALLOW",
	} {
		cfg := config(t, "AUDIT_STORE=file://"+t.TempDir())
		name, _, _ := strings.Cut(env, "=")
		if name == "AUDIT_STORE" {
			cfg.Env = nil
		}
		cfg.Env = append(cfg.Env, env)
		p, err := localinvoke.New(t.Context(), cfg)
		if err == nil {
			err = errors.Join(errors.New("it started"), p.Close(t.Context()))
		}
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", env, err)
		}
	}
	if err := process.Serve(t.Context(), func(string) string { return "" }, strings.NewReader(""),
		io.Discard); err == nil || !strings.Contains(err.Error(), "AWS_LAMBDA_RUNTIME_API") {
		t.Errorf("by hand: %v", err)
	}
}

// A process in which the preparation of code cannot be stopped answers in time, records, and is replaced.
func TestSpentProcessIsReplaced(t *testing.T) {
	p, err := localinvoke.New(t.Context(), config(t, "AUDIT_STORE=file://"+t.TempDir(),
		"AIRLOCK_CACHE_DIR="+filepath.Join(os.TempDir(), "airlock-test-cache")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	first := p.Stats().Processes[0].PID
	endless := execution.Request{
		Code: "export * from './a.ts'; export default 1", Timeout: 300,
		Files: map[string]execution.File{"a.ts": execution.File("class A{" + strings.Repeat("#p\n", 80_000) + "}")},
	}
	for n, onLog := range []func(execution.Log){nil, func(execution.Log) {}} {
		r, err := p.Invoke(t.Context(), execution.Invocation{
			ID: fmt.Sprintf("exec_%026d", 2*n), Request: endless, Via: execution.ViaHTTP, ReceivedAt: time.Now(),
		}, onLog)
		switch {
		case err != nil:
			t.Fatal(err)
		case !r.Recorded:
			t.Fatalf("it was not recorded: %+v", r)
		case r.Result.Status != execution.TimedOut:
			t.Fatalf("the status is %s", r.Result.Status)
		case r.Result.Limit == nil || *r.Result.Limit != "wall":
			t.Fatalf("the limit is not wall: %+v", r)
		}
		after, err := p.Invoke(t.Context(), execution.Invocation{
			ID: fmt.Sprintf("exec_%026d", 2*n+1), Request: execution.Request{Code: "6 * 7"}, Via: execution.ViaHTTP,
			ReceivedAt: time.Now(),
		}, nil)
		if err != nil || string(after.Result.Result) != "42" {
			t.Fatalf("%+v, %v", after, err)
		}
		if stats := p.Stats().Processes[0]; stats.Restarts != n+1 || stats.PID == first {
			t.Errorf("%d: %+v", n, stats)
		}
	}
}
