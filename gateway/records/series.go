package gateway

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// mostPoints bounds a series, and usualPoints is how many there are about when no step is given.
	mostPoints  = 1000
	usualPoints = 60
	topTenants  = 10
)

// steps are those that are chosen when none is given.
func steps() []time.Duration {
	const m, h = time.Minute, time.Hour
	return []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, m, 5 * m, 15 * m, 30 * m, h, 3 * h, 6 * h, 12 * h, 24 * h}
}

// point is a step of a series.
type point struct {
	Start           time.Time        `json:"start"`
	Executions      int64            `json:"executions"`
	Completed       int64            `json:"completed"`
	Blocked         int64            `json:"blocked"`
	Allowed         int64            `json:"allowed"`
	Flagged         int64            `json:"flagged"`
	PerSecond       float64          `json:"perSecond"`
	SuccessRate     float64          `json:"successRate"`
	DurationMs      quantiles        `json:"durationMs"`
	QueueMs         quantiles        `json:"queueMs"`
	CPUMs           float64          `json:"cpuMs"`
	PeakMemoryBytes int64            `json:"peakMemoryBytes"`
	OutputBytes     int64            `json:"outputBytes"`
	APICalls        int64            `json:"apiCalls"`
	ByStatus        map[string]int64 `json:"byStatus"`
	BySeverity      map[string]int64 `json:"bySeverity"`
	ByCategory      map[string]int64 `json:"byCategory"`
	ByVia           map[string]int64 `json:"byVia"`
	Errors          map[string]int64 `json:"errorCategories"`
}

func pointOf(start time.Time, step time.Duration, f audit.Figures) point {
	blocked := f.ByStatus["blocked"]
	return point{
		Start: start, Executions: f.Records, Completed: f.ByStatus["completed"], Blocked: blocked, Allowed: f.Records - blocked,
		Flagged: total(f.Flagged), PerSecond: float64(f.Records) / step.Seconds(), SuccessRate: successRate(f),
		DurationMs: quantilesOf(f.Durations, f.DurationMs, f.PeakDurationMs, f.Records),
		QueueMs:    quantilesOf(f.Queues, f.QueueMs, f.PeakQueueMs, f.Records),
		CPUMs:      f.CPUMs, PeakMemoryBytes: f.PeakMemoryBytes, OutputBytes: f.OutputBytes, APICalls: f.APICalls,
		ByStatus: counts(f.ByStatus), BySeverity: counts(f.BySeverity, severities()...), ByCategory: counts(f.ByCategory),
		ByVia: counts(f.ByVia), Errors: counts(f.ByFailure),
	}
}

// tenantUse is what one tenant had of the executions of a while.
type tenantUse struct {
	Tenant     string `json:"tenant"`
	Executions int64  `json:"executions"`
	Flagged    int64  `json:"flagged"`
}

// top names the tenants with the most executions.
func top(f audit.Figures) []tenantUse {
	all := make([]tenantUse, 0, len(f.ByTenant))
	for name, n := range f.ByTenant {
		all = append(all, tenantUse{name, n, f.Flagged[name]})
	}
	slices.SortFunc(all, func(a, b tenantUse) int {
		return cmp.Or(cmp.Compare(b.Executions, a.Executions), strings.Compare(a.Tenant, b.Tenant))
	})
	return all[:min(len(all), topTenants)]
}

// metricsSeries is GET /api/metrics/series?window=24h&step=15m: figures of the executions of the last while, step by step.
func (s *Server) metricsSeries(c *fiber.Ctx) error {
	given, err := query(c, "window", "step", "tenant")
	if err != nil {
		return err
	}
	q := audit.Query{}
	if q.Tenant, err = tenantFor(callerOf(c), given["tenant"]); err != nil {
		return err
	}
	window, err := windowOf(given)
	if err != nil {
		return err
	}
	step, err := stepOf(given, window)
	if err != nil {
		return err
	}
	// Steps begin where the clock has a whole number of them, and the last is the one that goes on.
	q.Until = s.deps.Now().UTC().Truncate(step).Add(step)
	q.Since = q.Until.Add(-(window + step - 1).Truncate(step))
	figures, complete, err := s.series(q, step)
	if err != nil {
		return err
	}
	points := make([]point, len(figures))
	var sum audit.Figures
	for i, f := range figures {
		points[i] = pointOf(q.Since.Add(time.Duration(i)*step), step, f)
		sum.Merge(f)
	}
	return s.send(c, struct {
		Window     string      `json:"window"`
		WindowMs   int64       `json:"windowMs"`
		Step       string      `json:"step"`
		StepMs     int64       `json:"stepMs"`
		Since      time.Time   `json:"since"`
		Until      time.Time   `json:"until"`
		Complete   bool        `json:"complete"`
		Total      point       `json:"total"`
		TopTenants []tenantUse `json:"topTenants"`
		Items      []point     `json:"items"`
	}{
		window.String(), window.Milliseconds(), step.String(), step.Milliseconds(), q.Since, q.Until, complete,
		pointOf(q.Since, q.Until.Sub(q.Since), sum), top(sum), points,
	})
}

// stepOf reads the step of a series, or chooses one.
func stepOf(given map[string]string, window time.Duration) (time.Duration, error) {
	text, ok := given["step"]
	if !ok {
		for _, step := range steps() {
			if window/step <= usualPoints {
				return step, nil
			}
		}
	}
	step, err := lengthOf(text)
	if err != nil || step < time.Second || step%time.Second != 0 || step > longestWindow {
		return 0, bad("step", "must be whole seconds, such as 1m or 1d")
	}
	if window/step > mostPoints {
		return 0, bad("step", "must be larger: a series has 1000 points at most")
	}
	return step, nil
}

// series asks the index, where there is one that is not behind, and else looks at the newest records itself.
func (s *Server) series(q audit.Query, step time.Duration) ([]audit.Figures, bool, error) {
	if index, ok := s.deps.Records.(Index); ok {
		figures, err := index.Series(s.base, q, step)
		if err == nil {
			return figures, true, nil
		}
		if !errors.Is(err, audit.ErrBehind) {
			return nil, false, unreadable(err)
		}
	}
	figures := make([]audit.Figures, q.Until.Sub(q.Since)/step)
	complete, err := s.newest(q, func(r audit.Record) bool {
		figures[r.Time.Sub(q.Since)/step].Add(audit.OutlineOf(r))
		return true
	})
	return figures, complete, err
}

func total(m map[string]int64) (sum int64) {
	for _, n := range m {
		sum += n
	}
	return sum
}
