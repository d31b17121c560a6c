package records

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/audit"
)

// coverage says which records a summary covers. Complete is false if there are more records than were read.
type coverage struct {
	Records  int64      `json:"records"`
	Complete bool       `json:"complete"`
	Newest   *time.Time `json:"newest"`
	Oldest   *time.Time `json:"oldest"`
}

func coverageOf(f audit.Summary, complete bool) coverage {
	s := coverage{Records: f.Records, Complete: complete}
	if f.Records > 0 {
		s.Newest, s.Oldest = &f.Newest, &f.Oldest
	}
	return s
}

// coveredQuery reads which of the caller's records a summary covers.
func coveredQuery(c *fiber.Ctx) (audit.Query, error) {
	q := audit.Query{Tenant: TenantOf(api.CallerOf(c))}
	given, err := api.Query(c, "since", "until")
	if err != nil {
		return q, err
	}
	if q.Since, err = timeParam(given, "since"); err != nil {
		return q, err
	}
	q.Until, err = timeParam(given, "until")
	return q, err
}

// A Threat is the worst finding of an execution.
type Threat struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Tenant   string    `json:"tenant,omitempty"`
	Status   string    `json:"status"`
	Level    string    `json:"level"`
	Score    int       `json:"score"`
	Category string    `json:"category"`
	Severity string    `json:"severity"`
	Message  string    `json:"message"`
	Line     int       `json:"line"`
	Column   int       `json:"column"`
	Excerpt  string    `json:"excerpt"`
	File     string    `json:"file,omitempty"`
	Findings int       `json:"findings"` // their number
}

// threatOf returns the worst finding of a record; ok is false if it has none.
func threatOf(r audit.Record) (t Threat, ok bool) {
	var danger struct {
		Score    int    `json:"score"`
		Level    string `json:"level"`
		Findings []struct {
			Category, Severity, Message, Excerpt, File string
			Line, Column, Score                        int
		} `json:"findings"`
	}
	if json.Unmarshal(r.DangerAnalysis, &danger) != nil || len(danger.Findings) == 0 {
		return Threat{}, false
	}
	worst := danger.Findings[0]
	for _, f := range danger.Findings {
		if f.Score > worst.Score {
			worst = f
		}
	}
	return Threat{
		r.ID, r.Time, r.Caller.Tenant, r.Status, danger.Level, danger.Score, worst.Category, worst.Severity, worst.Message,
		worst.Line,
		worst.Column, worst.Excerpt, worst.File, len(danger.Findings),
	}, true
}

// ThreatsOf returns the worst finding of each record that has one.
func ThreatsOf(records []audit.Record) []Threat {
	threats := []Threat{}
	for _, r := range records {
		if t, ok := threatOf(r); ok {
			threats = append(threats, t)
		}
	}
	return threats
}

// SecuritySummary serves GET /api/audit/security-summary: findings by severity and category, the executions with
// findings by tenant, and the latest of them.
func (h *Handlers) SecuritySummary(c *fiber.Ctx) error {
	q, err := coveredQuery(c)
	if err != nil {
		return err
	}
	sum, complete, err := Totals(c.UserContext(), h.Records, q)
	if err != nil {
		return err
	}
	latest, err := Threats(c.UserContext(), h.Records, q)
	if err != nil {
		return err
	}
	return api.Send(c, struct {
		coverage
		BySeverity    map[string]int64 `json:"bySeverity"`
		ByCategory    map[string]int64 `json:"byCategory"`
		ByLevel       map[string]int64 `json:"byLevel"`
		ByTenant      map[string]int64 `json:"byTenant"`
		Blocked       int64            `json:"blocked"`
		Allowed       int64            `json:"allowed"`
		TopTenants    []TenantUse      `json:"topTenants"`
		RecentThreats []Threat         `json:"recentThreats"`
	}{
		coverageOf(sum, complete), Counts(sum.BySeverity, severities()...), Counts(sum.ByCategory),
		Counts(sum.ByLevel, Levels()...), Counts(sum.Flagged), sum.ByStatus["blocked"],
		sum.Records - sum.ByStatus["blocked"], TopTenants(sum), ThreatsOf(latest),
	})
}

// Stats serves GET /api/audit/stats: aggregates over the records.
func (h *Handlers) Stats(c *fiber.Ctx) error {
	q, err := coveredQuery(c)
	if err != nil {
		return err
	}
	sum, complete, err := Totals(c.UserContext(), h.Records, q)
	if err != nil {
		return err
	}
	return api.Send(c, struct {
		coverage
		ByStatus          map[string]int64 `json:"byStatus"`
		ByPolicy          map[string]int64 `json:"byPolicy"`
		ByVia             map[string]int64 `json:"byVia"`
		ByLimit           map[string]int64 `json:"byLimit"`
		AverageDurationMs float64          `json:"averageDurationMs"`
		CPUMs             float64          `json:"cpuMs"`
		OutputBytes       int64            `json:"outputBytes"`
		APICalls          int64            `json:"apiCalls"`
		PeakMemoryBytes   int64            `json:"peakMemoryBytes"`
	}{
		coverageOf(sum, complete), Counts(sum.ByStatus), Counts(sum.ByPolicy), Counts(sum.ByVia), Counts(sum.ByLimit),
		sum.DurationMs / float64(max(sum.Records, 1)), sum.CPUMs, sum.OutputBytes, sum.APICalls, sum.PeakMemoryBytes,
	})
}
