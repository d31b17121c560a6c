package records

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/audit"
)

// longestWindow is how far back aggregates go.
const longestWindow = 31 * 24 * time.Hour

// quantiles summarize milliseconds. They are at most 1 % off; mean and max are exact. All are 0 for no executions.
type quantiles struct {
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

func quantilesOf(s audit.Spread, sum, peak float64, n int64) quantiles {
	q := s.Quantiles(.50, .95, .99)
	for i := range q {
		q[i] = math.Round(min(q[i], peak)*1000) / 1000
	}
	return quantiles{q[0], q[1], q[2], sum / float64(max(n, 1)), peak}
}

// A Bin counts the executions that used at most UpTo bytes, and more than the bin before. UpTo is nil in the last bin.
type Bin struct {
	UpTo  *int64 `json:"upTo"`
	Count int64  `json:"count"`
}

// BinsOf returns the histogram of memory.
func BinsOf(f audit.Summary) []Bin {
	bins := make([]Bin, 0, audit.MemoryBins)
	for i, n := range f.Memory {
		b := Bin{Count: n}
		if bound, ok := audit.MemoryBound(i); ok {
			b.UpTo = &bound
		}
		bins = append(bins, b)
	}
	return bins
}

// Metrics serves GET /api/metrics/executions?window=15m: the recent executions of the caller's tenant.
func (h *Handlers) Metrics(c *fiber.Ctx) error {
	given, err := api.Query(c, "window")
	if err != nil {
		return err
	}
	window, err := WindowOf(given)
	if err != nil {
		return err
	}
	q := audit.Query{Tenant: TenantOf(api.CallerOf(c)), Since: h.Now().Add(-window).UTC()}
	f, complete, err := Totals(c.UserContext(), h.Records, q)
	if err != nil {
		return err
	}
	return api.Send(c, struct {
		Window      string           `json:"window"`
		WindowMs    int64            `json:"windowMs"`
		Since       time.Time        `json:"since"`
		Count       int64            `json:"count"`
		Complete    bool             `json:"complete"`
		PerSecond   float64          `json:"perSecond"`
		SuccessRate float64          `json:"successRate"`
		Cached      int64            `json:"cached"`
		DurationMs  quantiles        `json:"durationMs"`
		QueueMs     quantiles        `json:"queueMs"`
		Memory      []Bin            `json:"memoryHistogram"`
		ByStatus    map[string]int64 `json:"byStatus"`
		Errors      map[string]int64 `json:"errorCategories"`
	}{
		window.String(), window.Milliseconds(), q.Since, f.Records, complete,
		float64(f.Records) / window.Seconds(), successRate(f), f.Reused,
		quantilesOf(f.Durations, f.DurationMs, f.PeakDurationMs, f.Records),
		quantilesOf(f.Queues, f.QueueMs, f.PeakQueueMs, f.Records),
		BinsOf(f), Counts(f.ByStatus), Counts(f.ByFailure),
	})
}

// successRate returns the share of executions that completed, from 0 to 1; it is 0 for none.
func successRate(f audit.Summary) float64 {
	return float64(f.ByStatus["completed"]) / float64(max(f.Records, 1))
}

// WindowOf reads the parameter window: how far back aggregates go, by default an hour.
func WindowOf(given map[string]string) (time.Duration, error) {
	text, ok := given["window"]
	if !ok {
		return time.Hour, nil
	}
	window, err := parseDuration(text)
	if err != nil || window < time.Second || window > longestWindow {
		return 0, api.Invalid("window", "must be a duration from 1s to 31d, such as 15m or 7d")
	}
	return window, nil
}

// parseDuration reads a duration, which may be given in days.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 10)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}

// Counts returns m, never nil, with the names that must be present.
func Counts(m map[string]int64, always ...string) map[string]int64 {
	all := make(map[string]int64, len(m)+len(always))
	for _, name := range always {
		all[name] = 0
	}
	for name, n := range m {
		all[name] = n
	}
	return all
}

// Levels returns the threat levels, lowest first.
func Levels() []string { return []string{"safe", "low", "medium", "high", "critical"} }

func severities() []string { return []string{"critical", "high", "medium", "low"} }
