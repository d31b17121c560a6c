package gateway

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// summaryRecords is how many records, newest first, a summary looks at where there is no index.
	summaryRecords = 5000
	recentThreats  = 20
)

// survey is what a summary is over. Complete is false when there were more records than were looked at.
type survey struct {
	Records  int64      `json:"records"`
	Complete bool       `json:"complete"`
	Newest   *time.Time `json:"newest"`
	Oldest   *time.Time `json:"oldest"`
}

func surveyOf(f audit.Figures, complete bool) survey {
	s := survey{Records: f.Records, Complete: complete}
	if f.Records > 0 {
		s.Newest, s.Oldest = &f.Newest, &f.Oldest
	}
	return s
}

// span reads which of the caller's records a summary is over.
func span(c *fiber.Ctx) (audit.Query, error) {
	q := audit.Query{Tenant: tenantOf(callerOf(c))}
	given, err := query(c, "since", "until")
	if err != nil {
		return q, err
	}
	if q.Since, err = moment(given, "since"); err != nil {
		return q, err
	}
	q.Until, err = moment(given, "until")
	return q, err
}

type flagged struct {
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
	Findings int       `json:"findings"` // how many there are
}

// threatOf names the worst finding of a record; false when it has none.
func threatOf(r audit.Record) (flagged, bool) {
	var danger struct {
		Score    int    `json:"score"`
		Level    string `json:"level"`
		Findings []struct {
			Category, Severity, Message, Excerpt, File string
			Line, Column, Score                        int
		} `json:"findings"`
	}
	if json.Unmarshal(r.DangerAnalysis, &danger) != nil || len(danger.Findings) == 0 {
		return flagged{}, false
	}
	worst := danger.Findings[0]
	for _, f := range danger.Findings {
		if f.Score > worst.Score {
			worst = f
		}
	}
	return flagged{
		r.ID, r.Time, r.Caller.Tenant, r.Status, danger.Level, danger.Score, worst.Category, worst.Severity, worst.Message, worst.Line,
		worst.Column, worst.Excerpt, worst.File, len(danger.Findings),
	}, true
}

// securitySummary is GET /api/audit/security-summary: findings by severity and category, the executions with findings by
// tenant, and the latest of them.
func (s *Server) securitySummary(c *fiber.Ctx) error {
	q, err := span(c)
	if err != nil {
		return err
	}
	sum, complete, err := s.figures(q)
	if err != nil {
		return err
	}
	latest, err := s.threats(q)
	if err != nil {
		return err
	}
	threats := []flagged{}
	for _, r := range latest {
		if t, ok := threatOf(r); ok {
			threats = append(threats, t)
		}
	}
	return s.send(c, struct {
		survey
		BySeverity    map[string]int64 `json:"bySeverity"`
		ByCategory    map[string]int64 `json:"byCategory"`
		ByLevel       map[string]int64 `json:"byLevel"`
		ByTenant      map[string]int64 `json:"byTenant"`
		Blocked       int64            `json:"blocked"`
		Allowed       int64            `json:"allowed"`
		TopTenants    []tenantUse      `json:"topTenants"`
		RecentThreats []flagged        `json:"recentThreats"`
	}{
		surveyOf(sum, complete), counts(sum.BySeverity, severities()...), counts(sum.ByCategory),
		counts(sum.ByLevel, "safe", "low", "medium", "high", "critical"), counts(sum.Flagged), sum.ByStatus["blocked"],
		sum.Records - sum.ByStatus["blocked"], top(sum), threats,
	})
}

func severities() []string { return []string{"critical", "high", "medium", "low"} }

// counts has the names that are always there, and is never null.
func counts(m map[string]int64, always ...string) map[string]int64 {
	all := make(map[string]int64, len(m)+len(always))
	for _, name := range always {
		all[name] = 0
	}
	for name, n := range m {
		all[name] = n
	}
	return all
}

// auditStats is GET /api/audit/stats: figures over the records.
func (s *Server) auditStats(c *fiber.Ctx) error {
	q, err := span(c)
	if err != nil {
		return err
	}
	sum, complete, err := s.figures(q)
	if err != nil {
		return err
	}
	return s.send(c, struct {
		survey
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
		surveyOf(sum, complete), counts(sum.ByStatus), counts(sum.ByPolicy), counts(sum.ByVia), counts(sum.ByLimit),
		sum.DurationMs / float64(max(sum.Records, 1)), sum.CPUMs, sum.OutputBytes, sum.APICalls, sum.PeakMemoryBytes,
	})
}
