package gateway

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/meter"
)

// gauges are what Prometheus reads beside the counters.
func (s *Server) gauges() []meter.Gauge {
	running := func() float64 { n, _ := s.queue.Load(); return float64(n) }
	waiting := func() float64 { _, n := s.queue.Load(); return float64(n) }
	return []meter.Gauge{
		{Name: "airlock_executions_running", Help: "Executions that have a place.", Value: running},
		{Name: "airlock_csp_reports", Help: "Violations of the web pages' policy that browsers told of since the start.", Value: func() float64 { return float64(s.web.reports.Count()) }},
		{Name: "airlock_executions_waiting", Help: "Executions in line for a place.", Value: waiting},
		{Name: "airlock_places", Help: "Executions that can run at once.", Value: func() float64 { return float64(s.cfg.Places) }},
		{Name: "airlock_results_kept", Help: "Results that can be read back.", Value: func() float64 { return float64(s.kept.Len()) }},
		{Name: "airlock_results_kept_bytes", Help: "What they take.", Value: func() float64 { return float64(s.kept.Bytes()) }},
	}
}

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

// executionMetrics is GET /api/metrics/executions?window=15m.
func (s *Server) executionMetrics(c *fiber.Ctx) error {
	given, err := query(c, "window")
	if err != nil {
		return err
	}
	window := time.Hour
	if text, ok := given["window"]; ok {
		if window, err = time.ParseDuration(text); err != nil || window < time.Second || window > 24*time.Hour {
			return bad("window", "must be a duration from 1s to 24h, such as 15m")
		}
	}
	type figures meter.Window
	return s.send(c, struct {
		Window   string `json:"window"`
		WindowMs int64  `json:"windowMs"`
		figures
	}{window.String(), window.Milliseconds(), figures(s.meter.Window(window))})
}
