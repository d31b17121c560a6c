package gateway

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	listed   = 25 // executions in a picture; older ones are asked for page by page
	failures = 8
	inSight  = 50 // of those that go on
)

// sceneFor reads what a live stream is to show.
func (s *Server) sceneFor(c *fiber.Ctx) (scene, error) {
	given, err := query(c, "view", "window", "tenant", "status", "policy")
	if err != nil {
		return nil, err
	}
	caller := callerOf(c)
	show := shown{s: s, all: caller.May(authn.AuditReadAll), status: given["status"], policy: given["policy"]}
	if show.tenant, err = tenantFor(caller, given["tenant"]); err != nil {
		return nil, err
	}
	if show.window, err = windowOf(given); err != nil {
		return nil, err
	}
	if show.step, err = stepOf(nil, show.window); err != nil {
		return nil, err
	}
	if err := checkStatus(show.status); err != nil {
		return nil, err
	}
	if len(show.policy) > 64 {
		return nil, bad("policy", "is too long")
	}
	switch given["view"] {
	case "dashboard":
		return show.dashboard, nil
	case "security":
		return show.security, nil
	}
	return nil, bad("view", "must be dashboard or security")
}

// shown is what a page is set to show.
type shown struct {
	s              *Server
	all            bool // the caller may see every tenant
	tenant         string
	status, policy string // of the list alone
	window, step   time.Duration
}

// span is the time that is shown: whole steps, the last of which goes on.
func (v shown) span() audit.Query {
	until := v.s.deps.Now().UTC().Truncate(v.step).Add(v.step)
	return audit.Query{Tenant: v.tenant, Since: until.Add(-(v.window + v.step - 1).Truncate(v.step)), Until: until}
}

// brief is a line of a list of executions.
type brief struct {
	ID          string             `json:"id"`
	Time        time.Time          `json:"time"`
	Status      string             `json:"status"`
	Limit       string             `json:"limit,omitempty"`
	Error       string             `json:"error,omitempty"`
	Policy      string             `json:"policy"`
	Via         string             `json:"via"`
	Tenant      string             `json:"tenant,omitempty"`
	Subject     string             `json:"subject,omitempty"`
	Function    *audit.FunctionRef `json:"function,omitempty"`
	DurationMs  float64            `json:"durationMs"`
	MemoryBytes int64              `json:"memoryBytes"`
	Score       int                `json:"score"`
	Level       string             `json:"level,omitempty"`
	Findings    int                `json:"findings"`
}

func briefOf(r audit.Record) brief {
	o := audit.OutlineOf(r)
	return brief{
		r.ID, r.Time, r.Status, r.Limit, clip(r.Error, 300), r.Policy, r.Via, r.Caller.Tenant, r.Caller.Subject, r.Function, r.DurationMs,
		r.Usage.MemoryBytes, o.Score, o.Level, len(o.Findings),
	}
}

func briefsOf(records []audit.Record) []brief {
	out := make([]brief, len(records))
	for i, r := range records {
		out[i] = briefOf(r)
	}
	return out
}

// clip cuts a text after so many bytes, between characters.
func clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}

// chart is what charts are drawn from.
type chart struct {
	WindowMs   int64            `json:"windowMs"`
	StepMs     int64            `json:"stepMs"`
	Complete   bool             `json:"complete"` // false while they are over the newest records only
	Total      point            `json:"total"`
	ByPolicy   map[string]int64 `json:"byPolicy"`
	Memory     []bin            `json:"memoryHistogram"`
	TopTenants []tenantUse      `json:"topTenants"`
	Items      []point          `json:"items"`
}

func (v shown) chart() (chart, audit.Figures, error) {
	q := v.span()
	steps, complete, err := v.s.series(q, v.step)
	if err != nil {
		return chart{}, audit.Figures{}, err
	}
	var sum audit.Figures
	points := make([]point, len(steps))
	for i, f := range steps {
		points[i] = pointOf(q.Since.Add(time.Duration(i)*v.step), v.step, f)
		sum.Merge(f)
	}
	return chart{
		WindowMs: v.window.Milliseconds(), StepMs: v.step.Milliseconds(), Complete: complete, Total: pointOf(q.Since, q.Until.Sub(q.Since), sum),
		ByPolicy: counts(sum.ByPolicy), Memory: binsOf(sum), TopTenants: top(sum), Items: points,
	}, sum, nil
}

// dashboard is what /dashboard shows: what goes on now, the figures, and the executions that have ended.
func (v shown) dashboard() ([]picture, error) {
	figures, sum, err := v.chart()
	if err != nil {
		return nil, err
	}
	q := v.span()
	q.Status, q.Policy, q.Limit = v.status, v.policy, listed
	page, err := v.s.deps.Records.List(v.s.base, q)
	if err != nil {
		return nil, unreadable(err)
	}
	failed, err := v.failed()
	if err != nil {
		return nil, err
	}
	slowest, err := v.slowest(sum)
	if err != nil {
		return nil, err
	}
	type ended struct {
		Executions []brief `json:"executions"`
		Next       string  `json:"next,omitempty"`
		Failures   []brief `json:"failures"`
		Slowest    []brief `json:"slowest"`
	}
	names := []string{}
	for _, t := range v.s.deps.Policy.Tiers() {
		names = append(names, t.Name)
	}
	return []picture{
		{"policies", map[string][]string{"names": names}}, {"now", v.s.nowFor(v.tenant)}, {"figures", figures}, {"ended", ended{briefsOf(page.Items), page.Next, briefsOf(failed), briefsOf(slowest)}},
	}, nil
}

// now is what goes on.
type now struct {
	Queue     load      `json:"queue"`
	Running   []ongoing `json:"running"`
	Functions *Fleet    `json:"functions"` // null where the functions are not processes of this machine
	StartedAt time.Time `json:"startedAt"`
}

func (s *Server) nowFor(tenant string) now {
	return now{s.load(), s.activity.list(tenant, inSight), s.fleet(), s.started.UTC()}
}

// failed are the latest that did not complete.
func (v shown) failed() ([]audit.Record, error) {
	var all []audit.Record
	for _, status := range []execution.Status{execution.Failed, execution.TimedOut, execution.Blocked} {
		q := v.span()
		q.Status, q.Limit = string(status), failures
		page, err := v.s.deps.Records.List(v.s.base, q)
		if err != nil {
			return nil, unreadable(err)
		}
		all = append(all, page.Items...)
	}
	slices.SortFunc(all, func(a, b audit.Record) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(b.ID, a.ID))
	})
	return all[:min(len(all), failures)], nil
}

// slowest are those that the figures name. One whose record is gone by now is left out.
func (v shown) slowest(sum audit.Figures) ([]audit.Record, error) {
	var all []audit.Record
	for _, slow := range sum.Slowest {
		r, err := v.s.deps.Records.Get(v.s.base, slow.ID)
		if errors.Is(err, audit.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, unreadable(err)
		}
		all = append(all, r)
	}
	return all, nil
}

// security is what /security shows.
func (v shown) security() ([]picture, error) {
	figures, sum, err := v.chart()
	if err != nil {
		return nil, err
	}
	latest, err := v.s.threats(v.span())
	if err != nil {
		return nil, err
	}
	threats := []flagged{}
	for _, r := range latest {
		if t, ok := threatOf(r); ok {
			threats = append(threats, t)
		}
	}
	if v.all {
		v.s.verifier.refresh()
	}
	return []picture{
		{"figures", figures},
		{"threats", struct {
			Flagged map[string]int64 `json:"flaggedByTenant"`
			Levels  map[string]int64 `json:"byLevel"`
			Items   []flagged        `json:"items"`
		}{counts(sum.Flagged), counts(sum.ByLevel, "safe", "low", "medium", "high", "critical"), threats}},
		{"chain", v.s.verifier.state(v.all)},
		{"pages", map[string]int64{"policyReports": v.s.web.reports.Count()}},
	}, nil
}
