package invoketest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// An Invoker is the invoker under test.
type Invoker interface {
	Invoke(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error)
	Ready(ctx context.Context) error
}

// Options are a test's requirements on the functions behind an invoker.
type Options struct {
	Processes    int           // how many run [Function]
	MaxExecution time.Duration // when the platform kills one, at the latest
	Grace        time.Duration // how much later than its deadline, or a cancellation
	MaxMemory    int64         // resident bytes at which it is killed
}

// A Suite creates invokers for the tests.
type Suite struct {
	// New returns an invoker of functions that run Function. It registers its own clean-up.
	New func(t testing.TB, o Options) Invoker
	// CancelReaches means that a cancelled execution ends in the function too, and is recorded there. On Lambda it does
	// not.
	CancelReaches bool
	// Memory means that the platform kills a function that uses too much memory.
	Memory bool
}

// Test runs the suite.
func Test(t *testing.T, s Suite) {
	t.Run("results", s.results)
	t.Run("limits", s.limits)
	t.Run("failures", s.failures)
	t.Run("late", s.late)
	t.Run("sizes", s.sizes)
	t.Run("streams", s.streams)
	t.Run("cancel", s.cancel)
	t.Run("deaths", s.deaths)
	t.Run("crowd", s.crowd)
	t.Run("neighbours", s.neighbours)
}

// usual returns the options of tests in which nothing is killed.
func usual() Options {
	return Options{Processes: 2, MaxExecution: 20 * time.Second, Grace: 2 * time.Second, MaxMemory: 512 << 20}
}

// id returns the execution ID with a number.
func id(n int) string { return fmt.Sprintf("exec_%026d", n) }

// Invocation returns an invocation with a command as its code.
func Invocation(n int, code string) execution.Invocation {
	return execution.Invocation{
		Airlock:    execution.InvocationVersion,
		ID:         id(n),
		Request:    execution.Request{Code: code, Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))},
		Caller:     execution.Caller{Subject: "tester", Tenant: "tenant-1", IP: "192.0.2.1"},
		Via:        execution.ViaHTTP,
		ReceivedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// run invokes v and reports an error, from any goroutine.
func run(t *testing.T, v Invoker, n int, code string, onLog func(execution.Log)) execution.Reply {
	t.Helper()
	r, err := v.Invoke(t.Context(), Invocation(n, code), onLog)
	if err != nil {
		t.Errorf("%s: %v", code, err)
	}
	return r
}

// echoes checks that v still works.
func echoes(t *testing.T, v Invoker, n int) {
	t.Helper()
	r := run(t, v, n, "echo", nil)
	if want := fmt.Sprintf(`{"n":%d}`, n); string(r.Result.Result) != want || r.Result.ID != id(n) || !r.Recorded {
		t.Errorf("echo gave %s for %s (recorded: %v), want %s for %s", r.Result.Result, r.Result.ID, r.Recorded, want, id(n))
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
