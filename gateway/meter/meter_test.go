package meter_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/meter"
)

func TestTotals(t *testing.T) {
	t.Parallel()
	m := meter.New()
	if got := m.Totals(); got.Executions != 0 || got.AverageDurationMs != 0 {
		t.Errorf("%+v", got)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				m.Observe(meter.Sample{Status: "completed", Policy: "strict", Engine: "quickjs", DurationMs: 2, Cached: true})
				m.Observe(meter.Sample{Status: "timeout", Limit: "wall", Policy: "agent", Engine: "quickjs", DurationMs: 4})
			}
		})
	}
	wg.Wait()
	got := m.Totals()
	want := meter.Totals{
		Executions: 8000, Cached: 4000, AverageDurationMs: 3,
		ByStatus: map[string]int64{"completed": 4000, "timeout": 4000}, ByLimit: map[string]int64{"wall": 4000},
		ByPolicy: map[string]int64{"strict": 4000, "agent": 4000}, ByEngine: map[string]int64{"quickjs": 8000},
		ByEngineBuild: map[string]int64{}, Refused: map[string]int64{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the totals differ (-want +got):\n%s", diff)
	}
}

func TestExposition(t *testing.T) {
	t.Parallel()
	m := meter.New()
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
		`airlock_requests_refused_total{code="not_found"} 1`, `airlock_places 7`,
		`airlock_execution_duration_seconds_bucket{le="0.005"} 1`,
		`airlock_execution_duration_seconds_bucket{le="+Inf"} 2`, `airlock_execution_duration_seconds_count 2`,
		`go_goroutines`, `process_resident_memory_bytes`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

// A state that knows bytes alone shows no numbers of items, apart from schedules.
func TestStorageWithoutItems(t *testing.T) {
	for _, uncounted := range []bool{false, true} {
		registry := prometheus.NewRegistry()
		registry.MustRegister(meter.StorageCollector{Logger: slog.New(slog.DiscardHandler), Stats: func(
			context.Context) (execution.StorageStats, error) {
			return execution.StorageStats{Uncounted: uncounted, Usage: []execution.StorageUsage{
				{Tenant: "acme", Quota: execution.QuotaJobs, Bytes: 70}, {Tenant: "b", Quota: execution.QuotaJobs, Bytes: 7},
				{Tenant: "acme", Quota: execution.QuotaSchedules, Count: 3},
			}}, nil
		}})
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				name := family.GetName()
				for _, l := range m.GetLabel() {
					name += " " + l.GetValue()
				}
				got[name] = m.GetGauge().GetValue()
			}
		}
		_, items := got["airlock_state_items jobs"]
		for name, want := range map[string]float64{
			"airlock_state_bytes jobs": 77, "airlock_state_tenant_bytes jobs acme": 70, "airlock_state_items schedules": 3,
		} {
			if got[name] != want {
				t.Errorf("uncounted %v: %s is %v, want %v", uncounted, name, got[name], want)
			}
		}
		if items == uncounted {
			t.Errorf("uncounted %v: items of jobs are shown: %v", uncounted, items)
		}
	}
}
