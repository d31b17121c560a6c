package gateway

import (
	"encoding/json"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// summaryRecords is how many records, newest first, a summary looks at. Its answer says when there were more.
	summaryRecords = 5000
	recentThreats  = 20
)

// survey is the records a summary is over.
type survey struct {
	Records  int        `json:"records"`
	Complete bool       `json:"complete"`
	Newest   *time.Time `json:"newest"`
	Oldest   *time.Time `json:"oldest"`
}

// each reads the caller's records, newest first, within since and until.
func (s *Server) each(c *fiber.Ctx, fn func(audit.Record)) (survey, error) {
	seen := survey{Complete: true}
	given, err := query(c, "since", "until")
	if err != nil {
		return seen, err
	}
	q := audit.Query{Limit: 500, Tenant: tenantOf(callerOf(c))}
	if q.Since, err = moment(given, "since"); err != nil {
		return seen, err
	}
	if q.Until, err = moment(given, "until"); err != nil {
		return seen, err
	}
	for {
		page, err := s.deps.Records.List(s.base, q)
		if err != nil {
			return seen, unreadable(err)
		}
		for _, r := range page.Items {
			if seen.Records == 0 {
				seen.Newest = &r.Time
			}
			seen.Records++
			seen.Oldest = &r.Time
			fn(r)
		}
		if page.Next == "" {
			return seen, nil
		}
		if seen.Records >= summaryRecords {
			seen.Complete = false
			return seen, nil
		}
		q.Cursor = page.Next
	}
}

type threat struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Status   string    `json:"status"`
	Level    string    `json:"level"`
	Score    int       `json:"score"`
	Category string    `json:"category"`
	Severity string    `json:"severity"`
	Message  string    `json:"message"`
	Line     int       `json:"line"`
}

// securitySummary is GET /api/audit/security-summary: findings by severity and category, and the latest executions that
// had some.
func (s *Server) securitySummary(c *fiber.Ctx) error {
	answer := struct {
		survey
		BySeverity    map[string]int `json:"bySeverity"`
		ByCategory    map[string]int `json:"byCategory"`
		ByLevel       map[string]int `json:"byLevel"`
		Blocked       int            `json:"blocked"`
		RecentThreats []threat       `json:"recentThreats"`
	}{
		BySeverity: map[string]int{"critical": 0, "high": 0, "medium": 0, "low": 0}, ByCategory: map[string]int{},
		ByLevel: map[string]int{"safe": 0, "low": 0, "medium": 0, "high": 0, "critical": 0}, RecentThreats: []threat{},
	}
	seen, err := s.each(c, func(r audit.Record) {
		var danger struct {
			Score    int    `json:"score"`
			Level    string `json:"level"`
			Findings []struct {
				Category, Severity, Message string
				Line, Score                 int
			} `json:"findings"`
		}
		if r.Status == "blocked" {
			answer.Blocked++
		}
		if json.Unmarshal(r.DangerAnalysis, &danger) != nil {
			return // a record of another kind of execution: it has no analysis
		}
		answer.ByLevel[danger.Level]++
		worst := -1
		for i, f := range danger.Findings {
			answer.BySeverity[f.Severity]++
			answer.ByCategory[f.Category]++
			if worst < 0 || f.Score > danger.Findings[worst].Score {
				worst = i
			}
		}
		if worst >= 0 && danger.Score > 0 && len(answer.RecentThreats) < recentThreats {
			f := danger.Findings[worst]
			answer.RecentThreats = append(answer.RecentThreats, threat{
				r.ID, r.Time, r.Status, danger.Level, danger.Score, f.Category, f.Severity, f.Message, f.Line,
			})
		}
	})
	if err != nil {
		return err
	}
	answer.survey = seen
	return s.send(c, answer)
}

// auditStats is GET /api/audit/stats: figures over the records.
func (s *Server) auditStats(c *fiber.Ctx) error {
	answer := struct {
		survey
		ByStatus          map[string]int `json:"byStatus"`
		ByPolicy          map[string]int `json:"byPolicy"`
		ByVia             map[string]int `json:"byVia"`
		ByLimit           map[string]int `json:"byLimit"`
		AverageDurationMs float64        `json:"averageDurationMs"`
		CPUMs             float64        `json:"cpuMs"`
		OutputBytes       int64          `json:"outputBytes"`
		APICalls          int            `json:"apiCalls"`
		PeakMemoryBytes   int64          `json:"peakMemoryBytes"`
	}{ByStatus: map[string]int{}, ByPolicy: map[string]int{}, ByVia: map[string]int{}, ByLimit: map[string]int{}}
	total := 0.0
	seen, err := s.each(c, func(r audit.Record) {
		answer.ByStatus[r.Status]++
		answer.ByPolicy[r.Policy]++
		answer.ByVia[r.Via]++
		if r.Limit != "" {
			answer.ByLimit[r.Limit]++
		}
		total += r.DurationMs
		answer.CPUMs += r.Usage.CPUMs
		answer.OutputBytes += r.OutputBytes
		answer.APICalls += r.Usage.APICalls
		answer.PeakMemoryBytes = max(answer.PeakMemoryBytes, r.Usage.MemoryBytes)
	})
	if err != nil {
		return err
	}
	answer.survey = seen
	if seen.Records > 0 {
		answer.AverageDurationMs = total / float64(seen.Records)
	}
	return s.send(c, answer)
}
