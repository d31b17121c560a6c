package meter

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/airlock-run/airlock/functions/execution"
)

// durationBounds returns the upper bounds, in seconds, of the histogram of execution times.
func durationBounds() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
}

// A Gauge is a value that is read when the metrics are.
type Gauge struct {
	Name, Help string
	Value      func() float64
}

// Exposition writes metrics in Prometheus' text format. It is safe for concurrent use.
type Exposition struct {
	registry *prometheus.Registry
}

// ExpositionType is the media type of Exposition.Text.
const ExpositionType = "text/plain; version=0.0.4; charset=utf-8"

// NewExposition exposes what m counts, the gauges, and the metrics of the Go runtime and the process.
func NewExposition(m *Meter, gauges ...Gauge) (*Exposition, error) {
	e := &Exposition{prometheus.NewRegistry()}
	all := []prometheus.Collector{
		m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}
	for _, g := range gauges {
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.Name, Help: g.Help}, g.Value))
	}
	for _, c := range all {
		if err := e.registry.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return e, nil
}

// Add exposes one more collector.
func (e *Exposition) Add(c prometheus.Collector) error {
	if err := e.registry.Register(c); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}

// Gather implements prometheus.Gatherer, for exporters of other kinds.
func (e *Exposition) Gather() ([]*dto.MetricFamily, error) { return e.registry.Gather() }

// Text returns the metrics as they are now.
func (e *Exposition) Text() ([]byte, error) { return e.TextFor(func(string) bool { return true }) }

// TextFor returns the metrics as they are now, without the series of tenants that shown refuses: their names, and what
// they store, are not for everybody who may read metrics.
func (e *Exposition) TextFor(shown func(tenant string) bool) ([]byte, error) {
	families, err := e.registry.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather metrics: %w", err)
	}
	var b bytes.Buffer
	for _, f := range families {
		f.Metric = slices.DeleteFunc(f.Metric, func(m *dto.Metric) bool {
			return slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool {
				return l.GetName() == tenantLabel && !shown(l.GetValue())
			})
		})
		if len(f.Metric) == 0 {
			continue
		}
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return nil, fmt.Errorf("write metrics: %w", err)
		}
	}
	return b.Bytes(), nil
}

// watched are the codes of problems that infra/monitoring/alerts.yaml watches. Their series exist from the start: to
// Prometheus, a series that appears with its first value has no increase, and no alert would fire.
var watched = [...]string{
	"content_lost", "not_ready", "queue_full", "store_busy", "store_corrupt", "store_full", "store_lost",
	"store_read_only", "unauthenticated", "unavailable", "unrecorded",
}

// Describe implements prometheus.Collector. It describes nothing, because the labels are not known before.
func (m *Meter) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m *Meter) Collect(out chan<- prometheus.Metric) {
	t := m.Totals()
	counters := func(name, help, label string, values map[string]int64, known ...string) {
		desc := prometheus.NewDesc(name, help, []string{label}, nil)
		for _, value := range known {
			values[value] += 0
		}
		for value, n := range values {
			out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), value)
		}
	}
	counters("airlock_executions_total", "Executions that ended, by status.", "status", t.ByStatus,
		string(execution.Completed), string(execution.Failed), string(execution.TimedOut), string(execution.Blocked),
		string(execution.Cancelled))
	counters("airlock_executions_by_policy_total", "Executions that ended, by tier.", "policy", t.ByPolicy)
	counters("airlock_executions_limited_total", "Executions that a limit ended, by limit.", "limit", t.ByLimit)
	counters("airlock_requests_refused_total", "Requests answered with a problem, by code.", "code", t.Refused,
		watched[:]...)
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc("airlock_executions_cached_total",
		"Executions answered with the result of an identical one.", nil, nil), prometheus.CounterValue, float64(t.Cached))

	m.mu.Lock()
	bounds, cumulative := durationBounds(), uint64(0)
	buckets := make(map[float64]uint64, len(bounds))
	for i, b := range bounds {
		cumulative += m.durations[i]
		buckets[b] = cumulative
	}
	count, sum := uint64(m.totals.Executions), m.duration/1000 // a count is never negative
	m.mu.Unlock()
	out <- prometheus.MustNewConstHistogram(prometheus.NewDesc("airlock_execution_duration_seconds",
		"How long executions ran.", nil, nil), count, sum, buckets)
}

// bucketOf returns the index of the histogram's bucket that a duration falls into.
func bucketOf(ms float64) int {
	i, _ := slices.BinarySearch(durationBounds(), ms/1000)
	return i
}
