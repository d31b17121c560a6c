package meter

import (
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Requests counts HTTP requests and measures their times. It is safe for concurrent use.
type Requests struct {
	total *prometheus.CounterVec
	times *prometheus.HistogramVec
}

// NewRequests returns Requests that have counted nothing.
func NewRequests() *Requests {
	return &Requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "airlock_http_requests_total", Help: "HTTP requests, by method, route and status.",
		}, []string{"method", "route", "code"}),
		times: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "airlock_http_request_duration_seconds",
			Help:    "Time until the response to an HTTP request begins, by method and route.",
			Buckets: durationBounds(),
		}, []string{"method", "route"}),
	}
}

// Observe counts a request. Methods and routes must be few: each pair has counters of its own.
func (r *Requests) Observe(method, route string, status int, took time.Duration) {
	r.total.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	r.times.WithLabelValues(method, route).Observe(took.Seconds())
}

// Describe implements prometheus.Collector.
func (r *Requests) Describe(out chan<- *prometheus.Desc) {
	r.total.Describe(out)
	r.times.Describe(out)
}

// Collect implements prometheus.Collector.
func (r *Requests) Collect(out chan<- prometheus.Metric) {
	r.total.Collect(out)
	r.times.Collect(out)
}

// NewBuildInfo returns the metric that says which build runs. Its value is always 1.
func NewBuildInfo(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "airlock_build_info", Help: "The build that runs, as labels; the value is 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}, func() float64 { return 1 })
}
