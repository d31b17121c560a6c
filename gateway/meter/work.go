package meter

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

// The outcomes of an attempt to call a receiver back.
const (
	CallbackDelivered = "delivered"
	CallbackRetried   = "retried"  // it failed and is made again
	CallbackGivenUp   = "given_up" // it failed for the last time
	CallbackGone      = "gone"     // the receiver wants no more calls
)

// The outcomes of a delivery to a webhook.
const (
	HookAnswered = "answered" // the function ran and answered
	HookAccepted = "accepted" // the function runs later
	HookRepeated = "repeated" // the answer is that of an earlier delivery of the same message
	HookRefused  = "refused"  // nothing ran: not verified, limited, or no such webhook
	HookFailed   = "failed"   // the function or the gateway failed
)

// Work counts what runs without a caller that waits: jobs, callbacks and webhooks. It is safe for concurrent use.
type Work struct {
	jobs, callbacks, deliveries *prometheus.CounterVec
}

// NewWork returns Work that has counted nothing.
func NewWork() *Work {
	counter := func(name, help, label string, values ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
		for _, v := range values {
			c.WithLabelValues(v) // the series exists from the start, so that its first increase counts
		}
		return c
	}
	return &Work{
		jobs: counter("airlock_jobs_ended_total", "Jobs that ended, by status.", "status",
			string(execution.Completed), string(execution.Failed), string(execution.TimedOut),
			string(execution.Blocked), string(execution.Cancelled), string(execution.Expired)),
		callbacks: counter("airlock_callback_attempts_total", "Attempts to call a receiver back, by outcome.", "outcome",
			CallbackDelivered, CallbackRetried, CallbackGivenUp, CallbackGone),
		deliveries: counter("airlock_hook_deliveries_total", "Deliveries to webhooks, by outcome.", "outcome",
			HookAnswered, HookAccepted, HookRepeated, HookRefused, HookFailed),
	}
}

// JobEnded counts a job that ended.
func (w *Work) JobEnded(status execution.Status) { w.jobs.WithLabelValues(string(status)).Inc() }

// Callback counts an attempt to call a receiver back.
func (w *Work) Callback(outcome string) { w.callbacks.WithLabelValues(outcome).Inc() }

// Delivery counts a delivery to a webhook.
func (w *Work) Delivery(outcome string) { w.deliveries.WithLabelValues(outcome).Inc() }

// Describe implements prometheus.Collector.
func (w *Work) Describe(out chan<- *prometheus.Desc) {
	for _, c := range []prometheus.Collector{w.jobs, w.callbacks, w.deliveries} {
		c.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (w *Work) Collect(out chan<- prometheus.Metric) {
	for _, c := range []prometheus.Collector{w.jobs, w.callbacks, w.deliveries} {
		c.Collect(out)
	}
}

// BacklogCollector exposes to Prometheus the jobs that have not ended.
type BacklogCollector struct {
	Backlog func(ctx context.Context) (execution.Backlog, error)
	Now     func() time.Time
	Logger  *slog.Logger
}

// Describe implements prometheus.Collector. It describes nothing, because a state that does not answer has no metrics.
func (BacklogCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m BacklogCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	backlog, err := m.Backlog(ctx)
	if err != nil {
		m.Logger.Warn("the number of jobs cannot be read", "error", err)
		return
	}
	stored := prometheus.NewDesc("airlock_jobs", "Jobs that have not ended, by status.", []string{"status"}, nil)
	for status, n := range map[execution.Status]int64{
		execution.Queued: backlog.Queued, execution.Running: backlog.Running, execution.Paused: backlog.Paused,
	} {
		out <- prometheus.MustNewConstMetric(stored, prometheus.GaugeValue, float64(n), string(status))
	}
	age := 0.0
	if !backlog.Oldest.IsZero() {
		age = max(m.Now().Sub(backlog.Oldest).Seconds(), 0)
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc("airlock_jobs_oldest_queued_age_seconds",
		"How long the oldest queued job has waited; 0 if none waits.", nil, nil), prometheus.GaugeValue, age)
}

// Writes measures how long audit records take to be stored. It is safe for concurrent use.
type Writes struct {
	times    prometheus.Histogram
	failures prometheus.Counter
}

// NewWrites returns Writes that have measured nothing.
func NewWrites() *Writes {
	return &Writes{
		times: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "airlock_audit_write_duration_seconds", Help: "Time until an audit record is stored.",
			Buckets: durationBounds(),
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "airlock_audit_write_failures_total", Help: "Audit records that could not be stored.",
		}),
	}
}

// Measure returns an appender that stores records in another one and measures that.
func (w *Writes) Measure(store audit.Appender) audit.Appender { return measured{store, w} }

type measured struct {
	store  audit.Appender
	writes *Writes
}

// Append implements audit.Appender. A record that exists is no failure of the store.
func (m measured) Append(ctx context.Context, r audit.Record) error {
	began := time.Now()
	err := m.store.Append(ctx, r)
	switch {
	case err == nil:
		m.writes.times.Observe(time.Since(began).Seconds())
	case !errors.Is(err, audit.ErrExists):
		m.writes.failures.Inc()
	}
	return err
}

// Describe implements prometheus.Collector.
func (w *Writes) Describe(out chan<- *prometheus.Desc) {
	w.times.Describe(out)
	w.failures.Describe(out)
}

// Collect implements prometheus.Collector.
func (w *Writes) Collect(out chan<- prometheus.Metric) {
	w.times.Collect(out)
	w.failures.Collect(out)
}
