package gateway

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/policy/audit"
)

// longestWindow is how far back figures go.
const longestWindow = 31 * 24 * time.Hour

// quantiles summarise milliseconds. They are at most 1 % off, mean and max are exact; all are 0 for no executions.
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

// bin counts the executions that took at most UpTo bytes and more than the bin before; nil is no bound.
type bin struct {
	UpTo  *int64 `json:"upTo"`
	Count int64  `json:"count"`
}

func binsOf(f audit.Figures) []bin {
	bins := make([]bin, 0, audit.MemoryBins)
	for i, n := range f.Memory {
		b := bin{Count: n}
		if bound, ok := audit.MemoryBound(i); ok {
			b.UpTo = &bound
		}
		bins = append(bins, b)
	}
	return bins
}

// figures are the totals over the records that a query selects. complete is false when they are over the newest only.
func (s *Server) figures(q audit.Query) (sum audit.Figures, complete bool, err error) {
	if index, ok := s.deps.Records.(Index); ok {
		sum, err := index.Figures(s.base, q)
		if err == nil {
			return sum, true, nil
		}
		if !errors.Is(err, audit.ErrBehind) {
			return sum, false, unreadable(err)
		}
	}
	complete, err = s.newest(q, func(r audit.Record) bool {
		sum.Add(audit.OutlineOf(r))
		return true
	})
	return sum, complete, err
}

// threats are the newest of a query's records that have a score, 20 at most.
func (s *Server) threats(q audit.Query) (threats []audit.Record, err error) {
	if index, ok := s.deps.Records.(Index); ok {
		q.Limit = recentThreats
		threats, err = index.Threats(s.base, q)
		if err == nil {
			return threats, nil
		}
		if !errors.Is(err, audit.ErrBehind) {
			return nil, unreadable(err)
		}
	}
	_, err = s.newest(q, func(r audit.Record) bool {
		if audit.OutlineOf(r).Score > 0 {
			threats = append(threats, r)
		}
		return len(threats) < recentThreats
	})
	return threats, err
}

// newest calls fn with a query's records, newest first, until it has had enough or there were many: where there is no
// index, and while it is behind. It reports whether fn saw all.
func (s *Server) newest(q audit.Query, fn func(audit.Record) bool) (all bool, err error) {
	q.Limit = 500
	for seen := 0; ; {
		page, err := s.deps.Records.List(s.base, q)
		if err != nil {
			return false, unreadable(err)
		}
		for _, r := range page.Items {
			if !fn(r) {
				return false, nil
			}
		}
		if seen += max(len(page.Items), 1); page.Next == "" || seen >= summaryRecords {
			return page.Next == "", nil
		}
		q.Cursor = page.Next
	}
}

// executionMetrics is GET /api/metrics/executions?window=15m: the caller's tenant's executions of the last while.
func (s *Server) executionMetrics(c *fiber.Ctx) error {
	given, err := query(c, "window")
	if err != nil {
		return err
	}
	window, err := windowOf(given)
	if err != nil {
		return err
	}
	q := audit.Query{Tenant: tenantOf(callerOf(c)), Since: s.deps.Now().Add(-window).UTC()}
	f, complete, err := s.figures(q)
	if err != nil {
		return err
	}
	return s.send(c, struct {
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
		Memory      []bin            `json:"memoryHistogram"`
		ByStatus    map[string]int64 `json:"byStatus"`
		Errors      map[string]int64 `json:"errorCategories"`
	}{
		window.String(), window.Milliseconds(), q.Since, f.Records, complete, float64(f.Records) / window.Seconds(), successRate(f), f.Reused,
		quantilesOf(f.Durations, f.DurationMs, f.PeakDurationMs, f.Records), quantilesOf(f.Queues, f.QueueMs, f.PeakQueueMs, f.Records),
		binsOf(f), counts(f.ByStatus), counts(f.ByFailure),
	})
}

// successRate is the share that completed, from 0 to 1; 0 for none.
func successRate(f audit.Figures) float64 {
	return float64(f.ByStatus["completed"]) / float64(max(f.Records, 1))
}

// windowOf reads how far back figures go: an hour unless something else is given.
func windowOf(given map[string]string) (time.Duration, error) {
	text, ok := given["window"]
	if !ok {
		return time.Hour, nil
	}
	window, err := lengthOf(text)
	if err != nil || window < time.Second || window > longestWindow {
		return 0, bad("window", "must be a length of time from 1s to 31d, such as 15m or 7d")
	}
	return window, nil
}

// lengthOf reads a length of time that may be given in days.
func lengthOf(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 10)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}
