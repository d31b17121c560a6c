package meter_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/meter"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	m := meter.New(func() time.Time { return now })
	m.Observe(meter.Sample{Status: "completed", DurationMs: 1e6})
	now = now.Add(2 * time.Minute)
	for i := 1; i <= 100; i++ {
		m.Observe(meter.Sample{Status: "completed", Policy: "strict", Engine: "quickjs", DurationMs: float64(i), QueueMs: 1, MemoryBytes: 1 << 20, Cached: i == 1})
	}
	m.Observe(meter.Sample{Status: "timeout", Limit: "wall", DurationMs: 100, MemoryBytes: 1<<20 + 1})
	m.Observe(meter.Sample{Status: "error", Exception: "TypeError", DurationMs: 100, MemoryBytes: 1 << 40})
	m.Observe(meter.Sample{Status: "blocked", DurationMs: 100})
	w := m.Window(time.Minute)
	if w.Count != 103 || !w.Complete || w.Cached != 1 || w.DurationMs.P50 != 52 || w.DurationMs.P99 != 100 || w.DurationMs.Max != 100 || w.QueueMs.P95 != 1 {
		t.Errorf("%+v", w)
	}
	if w.Errors["limit:wall"] != 1 || w.Errors["TypeError"] != 1 || w.Errors["blocked"] != 1 || len(w.Errors) != 3 {
		t.Errorf("%v", w.Errors)
	}
	if w.Memory[0].Count != 101 || w.Memory[1].Count != 1 || w.Memory[9].Count != 1 || w.Memory[9].UpTo != nil {
		t.Errorf("%+v", w.Memory)
	}
	if m.Window(time.Hour).Count != 104 {
		t.Error("the hour lacks an execution")
	}
	now = now.Add(time.Hour)
	if w := m.Window(time.Minute); w.Count != 0 || w.DurationMs.P99 != 0 {
		t.Errorf("%+v", w)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m := meter.New(func() time.Time { return now })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3000 {
				m.Observe(meter.Sample{Status: "completed"})
			}
		})
	}
	wg.Wait()
	if w := m.Window(time.Hour); w.Count != 10_000 || w.Complete || m.Totals().Executions != 12_000 {
		t.Errorf("%d in the window, complete %v, %d in all", w.Count, w.Complete, m.Totals().Executions)
	}
}

func TestExposition(t *testing.T) {
	t.Parallel()
	m := meter.New(time.Now)
	m.Observe(meter.Sample{Status: "completed", Policy: "standard", DurationMs: 3})
	m.Observe(meter.Sample{Status: "error", Policy: "standard", Limit: "memory", DurationMs: 1e9})
	m.Refuse("not_found")
	e, err := meter.NewExposition(m, meter.Gauge{Name: "airlock_places", Help: "h", Value: func() float64 { return 7 }})
	if err != nil {
		t.Fatal(err)
	}
	text, err := e.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`airlock_executions_total{status="completed"} 1`, `airlock_executions_limited_total{limit="memory"} 1`,
		`airlock_requests_refused_total{code="not_found"} 1`, `airlock_places 7`, `airlock_execution_duration_seconds_bucket{le="0.005"} 1`,
		`airlock_execution_duration_seconds_bucket{le="+Inf"} 2`, `airlock_execution_duration_seconds_count 2`, `go_goroutines`, `process_resident_memory_bytes`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
