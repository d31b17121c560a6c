//go:build unix

package localinvoke_test

import (
	"context"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
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
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for n := range 4 {
		inv := execution.Invocation{ID: "exec_0123456789" + string(rune('a'+n)), Request: execution.Request{Code: "pid"}, Via: execution.ViaHTTP, ReceivedAt: time.Now()}
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
