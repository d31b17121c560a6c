//go:build unix

package localinvoke_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/invoketest"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/policy/audit"
)

// TestMain makes this test program its own function process.
func TestMain(m *testing.M) {
	switch os.Getenv("FUNCTION") {
	case "sealed":
		beSealed()
	case "taken":
		beTaken()
	case "1":
		events.Serve(invoketest.Function, events.CancelFrom(os.Stdin))
	case "rogue":
		runRogue()
	case "crash":
		fmt.Fprintln(os.Stderr, "no audit store")
		os.Exit(3)
	case "mute":
		untilKilled()
	case "init error":
		failInit()
	case "lend":
		lend()
	case "parent":
		beParent()
	}
	os.Exit(m.Run())
}

// lines collects what is logged.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.buf.String(), s)
}

func config(t testing.TB) localinvoke.Config {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return localinvoke.Config{Command: []string{self}, Env: []string{"FUNCTION=1"}, Processes: 2}
}

func newPool(t testing.TB, cfg localinvoke.Config) *localinvoke.Pool {
	t.Helper()
	p, err := localinvoke.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func invocation(code string) execution.Invocation {
	return execution.Invocation{ID: "exec_0123456789",
		Request: execution.Request{Code: code, Input: json.RawMessage(`{"a":1}`)}, Via: execution.ViaHTTP}
}

func TestEcho(t *testing.T) {
	p := newPool(t, config(t))
	r, err := p.Invoke(t.Context(), invocation("echo"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Result.Result) != `{"a":1}` || !r.Recorded {
		t.Fatalf("%+v", r)
	}
}

// benchmarked are the two kinds of pools.
var benchmarked = []string{"api", "sealed"}

func pooled(b *testing.B, kind string) *localinvoke.Pool {
	cfg := config(b)
	if kind == "sealed" {
		cfg.Env, cfg.Sealed = []string{"FUNCTION=sealed"}, sealedPool(forgetful{})
	}
	return newPool(b, cfg)
}

// forgetful is a record store that keeps nothing.
type forgetful struct{}

func (forgetful) Append(context.Context, audit.Record) error { return nil }

// BenchmarkInvoke measures the overhead of a call whose execution does nothing.
func BenchmarkInvoke(b *testing.B) {
	for _, kind := range benchmarked {
		b.Run(kind, func(b *testing.B) { benchmarkInvoke(b, pooled(b, kind)) })
	}
}

func benchmarkInvoke(b *testing.B, p *localinvoke.Pool) {
	inv := invocation("echo")
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := p.Invoke(b.Context(), inv, nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkInvokeCrowd is the same with many callers at once.
func BenchmarkInvokeCrowd(b *testing.B) {
	for _, kind := range benchmarked {
		b.Run(kind, func(b *testing.B) { benchmarkCrowd(b, pooled(b, kind)) })
	}
}

func benchmarkCrowd(b *testing.B, p *localinvoke.Pool) {
	inv := invocation("echo")
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Invoke(b.Context(), inv, nil); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkStart measures the start of a pool, until its first process is ready, and its end.
func BenchmarkStart(b *testing.B) {
	cfg := config(b)
	cfg.Processes = 1
	for b.Loop() {
		p, err := localinvoke.New(b.Context(), cfg)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSlowReaderSparesTheNextCall lets a caller read the end of its answer after its deadline, when the process runs
// the next call already. Which of the two events the pool sees first is random, so the test has several rounds. A round
// in which the deadline comes too early is repeated with a later one.
func TestSlowReaderSparesTheNextCall(t *testing.T) {
	cfg := config(t)
	cfg.Processes = 1
	p := newPool(t, cfg)
	for rounds, within := 0, 100*time.Millisecond; rounds < 8; {
		if sparesTheNextCall(t, p, within) {
			rounds++
		} else {
			within *= 2
		}
	}
}

// sparesTheNextCall runs a round, in which the first call has a deadline. It reports whether the deadline was late
// enough.
func sparesTheNextCall(t *testing.T, p *localinvoke.Pool, within time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	logged, read, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := p.Invoke(ctx, invocation("logs 1"), func(execution.Log) {
			close(logged)
			<-read
		})
		first <- err
	}()
	select {
	case <-logged:
	case <-ctx.Done():
		close(read)
		<-first
		return false
	}
	next, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	inv := invocation("wait")
	inv.ID = "exec_9876543210"
	began, second := make(chan struct{}), make(chan execution.Reply, 1)
	go func() {
		r, err := p.Invoke(next, inv, func(execution.Log) { close(began) })
		if err != nil {
			t.Error(err)
		}
		second <- r
	}()
	select {
	case <-began:
	case r := <-second:
		t.Fatalf("the next call ended before it began: %+v", r.Result)
	}
	<-ctx.Done()
	close(read)
	if err := <-first; err != nil {
		t.Error(err)
	}
	hangUp()
	if r := <-second; r.Result.Status != execution.Cancelled {
		t.Fatalf("the next call ended as %s: %v", r.Result.Status, *cmp.Or(r.Result.Error, new(string)))
	}
	return true
}
