package records

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// maxPoints bounds a series. Without a step, a series has at most usualPoints.
	maxPoints   = 1000
	usualPoints = 60
	topTenants  = 10
)

// steps returns the steps that are chosen from when a request gives none.
func steps() []time.Duration {
	const m, h = time.Minute, time.Hour
	return []time.Duration{
		time.Second, 5 * time.Second, 15 * time.Second, m, 5 * m, 15 * m, 30 * m, h, 3 * h, 6 * h, 12 * h, 24 * h,
	}
}

// A Point is a step of a series.
type Point struct {
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

// PointOf returns the point of a step.
func PointOf(start time.Time, step time.Duration, f audit.Summary) Point {
	blocked := f.ByStatus["blocked"]
	return Point{
		Start: start, Executions: f.Records, Completed: f.ByStatus["completed"], Blocked: blocked,
		Allowed: f.Records - blocked, Flagged: total(f.Flagged), PerSecond: float64(f.Records) / step.Seconds(),
		SuccessRate: successRate(f),
		DurationMs:  quantilesOf(f.Durations, f.DurationMs, f.PeakDurationMs, f.Records),
		QueueMs:     quantilesOf(f.Queues, f.QueueMs, f.PeakQueueMs, f.Records),
		CPUMs:       f.CPUMs, PeakMemoryBytes: f.PeakMemoryBytes, OutputBytes: f.OutputBytes, APICalls: f.APICalls,
		ByStatus: Counts(f.ByStatus), BySeverity: Counts(f.BySeverity, severities()...), ByCategory: Counts(f.ByCategory),
		ByVia: Counts(f.ByVia), Errors: Counts(f.ByFailure),
	}
}

// TenantUse counts the executions of a tenant.
type TenantUse struct {
	Tenant     string `json:"tenant"`
	Executions int64  `json:"executions"`
	Flagged    int64  `json:"flagged"`
}

// TopTenants returns the tenants with the most executions.
func TopTenants(f audit.Summary) []TenantUse {
	all := make([]TenantUse, 0, len(f.ByTenant))
	for name, n := range f.ByTenant {
		all = append(all, TenantUse{name, n, f.Flagged[name]})
	}
	slices.SortFunc(all, func(a, b TenantUse) int {
		return cmp.Or(cmp.Compare(b.Executions, a.Executions), strings.Compare(a.Tenant, b.Tenant))
	})
	return all[:min(len(all), topTenants)]
}

// Series serves GET /api/metrics/series?window=24h&step=15m: aggregates of the recent executions, step by step.
func (h *Handlers) Series(c *fiber.Ctx) error {
	given, err := api.Query(c, "window", "step", "tenant")
	if err != nil {
		return err
	}
	q := audit.Query{}
	if q.Tenant, err = TenantFor(api.CallerOf(c), given["tenant"]); err != nil {
		return err
	}
	window, err := WindowOf(given)
	if err != nil {
		return err
	}
	step, err := StepOf(given, window)
	if err != nil {
		return err
	}
	q.Since, q.Until = Span(h.Now(), window, step)
	steps, complete, err := Series(c.UserContext(), h.Records, q, step)
	if err != nil {
		return err
	}
	points, sum := PointsOf(q.Since, step, steps)
	return api.Send(c, struct {
		Window     string      `json:"window"`
		WindowMs   int64       `json:"windowMs"`
		Step       string      `json:"step"`
		StepMs     int64       `json:"stepMs"`
		Since      time.Time   `json:"since"`
		Until      time.Time   `json:"until"`
		Complete   bool        `json:"complete"`
		Total      Point       `json:"total"`
		TopTenants []TenantUse `json:"topTenants"`
		Items      []Point     `json:"items"`
	}{
		window.String(), window.Milliseconds(), step.String(), step.Milliseconds(), q.Since, q.Until, complete,
		PointOf(q.Since, q.Until.Sub(q.Since), sum), TopTenants(sum), points,
	})
}

// Span returns the whole steps that cover a window. Steps begin at whole multiples of their length, and the last one
// contains the present.
func Span(now time.Time, window, step time.Duration) (since, until time.Time) {
	until = now.UTC().Truncate(step).Add(step)
	return until.Add(-(window + step - 1).Truncate(step)), until
}

// PointsOf returns the points of consecutive steps, and the aggregates over all of them.
func PointsOf(since time.Time, step time.Duration, steps []audit.Summary) (points []Point, sum audit.Summary) {
	points = make([]Point, len(steps))
	for i, f := range steps {
		points[i] = PointOf(since.Add(time.Duration(i)*step), step, f)
		sum.Merge(f)
	}
	return points, sum
}

// StepOf reads the parameter step of a series, or chooses a step.
func StepOf(given map[string]string, window time.Duration) (time.Duration, error) {
	text, ok := given["step"]
	if !ok {
		for _, step := range steps() {
			if window/step <= usualPoints {
				return step, nil
			}
		}
	}
	step, err := parseDuration(text)
	if err != nil || step < time.Second || step%time.Second != 0 || step > longestWindow {
		return 0, api.Invalid("step", "must be whole seconds, such as 1m or 1d")
	}
	if window/step > maxPoints {
		return 0, api.Invalid("step", fmt.Sprintf("must be larger: a series has %d points at most", maxPoints))
	}
	return step, nil
}

func total(m map[string]int64) (sum int64) {
	for _, n := range m {
		sum += n
	}
	return sum
}
