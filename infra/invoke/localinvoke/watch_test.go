//go:build linux

package localinvoke_test

import (
	"context"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestLeakingProcessIsReplaced(t *testing.T) {
	cfg := config(t)
	cfg.Processes, cfg.Heartbeat = 1, time.Millisecond
	p := newPool(t, cfg)
	first := p.Stats().Processes[0].PID
	for n := 0; ; n++ {
		if r, err := p.Invoke(t.Context(), invocation("keep 400000"), nil); err != nil ||
			r.Result.Status != execution.Completed {
			t.Fatalf("call %d: %s, %v", n, r.Result.Status, err)
		}
		if p.Stats().Processes[0].Restarts > 0 {
			break
		}
		if n == 1000 {
			t.Fatalf("process %d still runs: %+v", first, p.Stats().Processes[0])
		}
	}
}

func TestSteadyProcessIsKept(t *testing.T) {
	cfg := config(t)
	cfg.Processes, cfg.Heartbeat = 1, time.Millisecond
	p := newPool(t, cfg)
	for range 2000 {
		if _, err := p.Invoke(t.Context(), invocation("echo"), nil); err != nil {
			t.Fatal(err)
		}
	}
	s := p.Stats().Processes[0]
	if s.Restarts != 0 || s.Executions != 2000 {
		t.Errorf("%d executions and %d restarts", s.Executions, s.Restarts)
	}
	if s.RSSBytes == 0 || len(s.MemoryTrend) == 0 {
		t.Errorf("%d bytes of memory, before %v", s.RSSBytes, s.MemoryTrend)
	}
	if s.Heartbeat.IsZero() {
		t.Error("there is no heartbeat")
	}
}

// TestIdleHogIsReplaced has a process that holds too much memory after its answer.
func TestIdleHogIsReplaced(t *testing.T) {
	cfg := config(t)
	cfg.Processes, cfg.Heartbeat, cfg.MaxMemory = 1, time.Millisecond, 64<<20
	p := newPool(t, cfg)
	before := p.Stats().Processes[0].PID
	if _, err := p.Invoke(t.Context(), invocation("keep 80000000"), nil); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		r, err := p.Invoke(t.Context(), invocation("echo"), nil)
		if err != nil || r.Result.Status != execution.Completed {
			t.Fatalf("%s, %v", r.Result.Status, err)
		}
		if now := p.Stats().Processes[0].PID; now != before && now != 0 {
			return
		}
	}
	t.Error("the process was kept")
}

// TestStoppedProcessIsReplaced has a process that somebody stops while it is idle: no call is handed to it.
func TestStoppedProcessIsReplaced(t *testing.T) {
	cfg := config(t)
	cfg.Processes, cfg.Heartbeat = 1, time.Millisecond
	p := newPool(t, cfg)
	before := p.Stats().Processes[0].PID
	if err := syscall.Kill(before, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); p.Stats().Processes[0].Restarts == 0; <-time.After(time.Millisecond) {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("process %d is kept: %+v", before, p.Stats().Processes[0])
		}
	}
	if r, err := p.Invoke(t.Context(), invocation("echo"), nil); err != nil || r.Result.Status != execution.Completed {
		t.Errorf("%s, %v", r.Result.Status, err)
	}
	if c := p.Stats().Counts; c.Crashed != 0 || c.Killed != 0 {
		t.Errorf("a call failed: %+v", c)
	}
}

func TestWhatFunctionsPrintIsLogged(t *testing.T) {
	var out lines
	cfg := config(t)
	cfg.Logger = slog.New(slog.NewTextHandler(&out, nil))
	cfg.Processes = 1
	p := newPool(t, cfg)
	if _, err := p.Invoke(t.Context(), invocation("panic"), nil); err == nil {
		t.Fatal("a panic gave a result")
	}
	if _, err := p.Invoke(t.Context(), invocation("exit 3"), nil); err != nil {
		t.Fatal(err)
	}
	// The next process is not started before the end of the last one is in the log.
	if _, err := p.Invoke(t.Context(), invocation("echo"), nil); err != nil {
		t.Fatal(err)
	}
	if !out.has(`how="exit status 3"`) {
		t.Error("the exit is not in the log")
	}
}

// TestSlowListener has a caller that does not read: the process must be killed at the deadline all the same.
func TestSlowListener(t *testing.T) {
	cfg := config(t)
	cfg.Processes, cfg.Grace = 1, 10*time.Millisecond
	p := newPool(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // by then the process has printed
	defer cancel()
	giveUp := time.After(2 * time.Minute)
	r, err := p.Invoke(ctx, invocation("deaf"), func(execution.Log) {
		for p.Stats().Processes[0].Restarts == 0 {
			select {
			case <-giveUp:
				t.Error("the process still runs")
				return
			default:
			}
		}
	})
	if err != nil || r.Result.Status != execution.TimedOut || len(r.Result.Logs) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
