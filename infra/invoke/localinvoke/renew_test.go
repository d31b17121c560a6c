//go:build unix

package localinvoke_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
)

// A renewal replaces every process; calls that come meanwhile are answered by the new ones.
func TestRenew(t *testing.T) {
	t.Parallel()
	p := newPool(t, config(t))
	before := map[int]bool{}
	for _, proc := range p.Stats().Processes {
		before[proc.PID] = true
	}
	p.Renew()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for n := range 4 {
		inv := execution.Invocation{ID: "exec_0123456789" + string(rune('a'+n)), Request: execution.Request{Code: "pid"},
			Via: execution.ViaHTTP, ReceivedAt: time.Now()}
		if _, err := p.Invoke(ctx, inv, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, proc := range p.Stats().Processes {
		if proc.Executions > 0 && before[proc.PID] {
			t.Errorf("process %d was not replaced: %+v", proc.PID, proc)
		}
	}
	if c := p.Stats().Counts; c.Crashed != 0 || c.Killed != 0 {
		t.Errorf("a renewal counts as a failure: %+v", c)
	}
}

// A process that was being made when a renewal came may know the old settings, and is replaced too.
func TestRenewWhileStarting(t *testing.T) {
	t.Parallel()
	var pool atomic.Pointer[localinvoke.Pool]
	var asked atomic.Int64
	cfg := config(t)
	cfg.Processes = 1
	cfg.EnvNow = func() []string {
		if p := pool.Load(); p != nil && asked.Add(1) == 1 {
			p.Renew() // the next process was started before
		}
		return nil
	}
	p := newPool(t, cfg)
	pool.Store(p)
	p.Renew()
	for start := time.Now(); p.Stats().Processes[0].Restarts < 2; <-time.After(time.Millisecond) {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("a process that was asked for before the renewal is kept: %+v", p.Stats().Processes[0])
		}
	}
}
