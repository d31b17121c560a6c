package gateway

import (
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/gateway/meter"
)

// gauges are what Prometheus reads beside the counters.
func (s *Server) gauges() []meter.Gauge {
	running := func() float64 { n, _ := s.queue.Load(); return float64(n) }
	waiting := func() float64 { _, n := s.queue.Load(); return float64(n) }
	return []meter.Gauge{
		{Name: "airlock_executions_running", Help: "Executions that have a place.", Value: running},
		{Name: "airlock_executions_waiting", Help: "Executions in line for a place.", Value: waiting},
		{Name: "airlock_places", Help: "Executions that can run at once.", Value: func() float64 { return float64(s.cfg.Places) }},
		{Name: "airlock_csp_reports", Help: "Violations of the web pages' policy that browsers told of since the start.", Value: func() float64 { return float64(s.web.reports.Count()) }},
		{Name: "airlock_results_kept", Help: "Results that can be read back.", Value: func() float64 { return float64(s.kept.Len()) }},
		{Name: "airlock_results_kept_bytes", Help: "What they take.", Value: func() float64 { return float64(s.kept.Bytes()) }},
	}
}

// Gatherer gives the metrics of GET /metrics, for exporters of other kinds.
func (s *Server) Gatherer() prometheus.Gatherer { return s.exposed }

// metrics is GET /metrics. It asks for credentials where there are any, but for no scope, and is not limited: what reads
// it comes round every few seconds.
func (s *Server) metrics(c *fiber.Ctx) error {
	text, err := s.exposed.Text()
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, meter.ExpositionType)
	return c.Send(text)
}
