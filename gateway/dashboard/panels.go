package dashboard

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	listedExecutions = 25 // older ones are read page by page
	listedFailures   = 8
	listedOngoing    = 50
)

// A panel is one event of a live stream.
type panel struct {
	name    string
	content any
}

// view returns the func that reads the panels which a request asks for.
func (h *Handlers) view(c *fiber.Ctx) (func() ([]panel, error), error) {
	given, err := api.Query(c, "view", "window", "tenant", "status", "policy", "function")
	if err != nil {
		return nil, err
	}
	caller := api.CallerOf(c)
	f := filter{
		Handlers: h, ctx: c.UserContext(), all: caller.May(authn.AuditReadAll),
		status: given["status"], policy: given["policy"], function: given["function"],
	}
	if f.tenant, err = records.TenantFor(caller, given["tenant"]); err != nil {
		return nil, err
	}
	if f.window, err = records.WindowOf(given); err != nil {
		return nil, err
	}
	if f.step, err = records.StepOf(nil, f.window); err != nil {
		return nil, err
	}
	if err := records.CheckStatus(f.status); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"policy": f.policy, "function": f.function} {
		if len(value) > 64 {
			return nil, api.Invalid(name, "is too long")
		}
	}
	switch given["view"] {
	case "dashboard":
		return f.dashboard, nil
	case "security":
		return f.security, nil
	}
	return nil, api.Invalid("view", "must be dashboard or security")
}

// A filter selects what the panels of a stream show.
type filter struct {
	*Handlers
	ctx    context.Context
	all    bool // the caller may see every tenant
	tenant string
	// status, policy and function select in the list of executions alone.
	status, policy, function string
	window, step             time.Duration
}

// query selects the records of the window.
func (f filter) query() audit.Query {
	q := audit.Query{Tenant: f.tenant}
	q.Since, q.Until = records.Span(f.cfg.Now(), f.window, f.step)
	return q
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
		r.ID, r.Time, r.Status, r.Limit, api.Clip(r.Error, 300), r.Policy, r.Via, r.Caller.Tenant, r.Caller.Subject,
		r.Function, r.DurationMs, r.Usage.MemoryBytes, o.Score, o.Level, len(o.Findings),
	}
}

func briefsOf(records []audit.Record) []brief {
	out := make([]brief, len(records))
	for i, r := range records {
		out[i] = briefOf(r)
	}
	return out
}

// chart is the data of the charts.
type chart struct {
	WindowMs   int64               `json:"windowMs"`
	StepMs     int64               `json:"stepMs"`
	Complete   bool                `json:"complete"` // false if it covers only the newest records
	Total      records.Point       `json:"total"`
	ByPolicy   map[string]int64    `json:"byPolicy"`
	Memory     []records.Bin       `json:"memoryHistogram"`
	TopTenants []records.TenantUse `json:"topTenants"`
	Items      []records.Point     `json:"items"`
}

func (f filter) chart() (chart, audit.Summary, error) {
	q := f.query()
	steps, complete, err := records.Series(f.ctx, f.cfg.Records, q, f.step)
	if err != nil {
		return chart{}, audit.Summary{}, err
	}
	points, sum := records.PointsOf(q.Since, f.step, steps)
	return chart{
		WindowMs: f.window.Milliseconds(), StepMs: f.step.Milliseconds(), Complete: complete,
		Total:    records.PointOf(q.Since, q.Until.Sub(q.Since), sum),
		ByPolicy: records.Counts(sum.ByPolicy), Memory: records.BinsOf(sum), TopTenants: records.TopTenants(sum),
		Items: points,
	}, sum, nil
}

// dashboard returns the panels of /dashboard: what happens now, the charts, and the executions that have ended.
func (f filter) dashboard() ([]panel, error) {
	figures, sum, err := f.chart()
	if err != nil {
		return nil, err
	}
	q := f.query()
	q.Status, q.Policy, q.Function, q.Limit = f.status, f.policy, f.function, listedExecutions
	page, err := f.cfg.Records.List(f.ctx, q)
	if err != nil {
		return nil, api.RecordsUnavailable(err)
	}
	failed, err := f.failed()
	if err != nil {
		return nil, err
	}
	slowest, err := f.slowest(sum)
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
	for _, t := range f.cfg.Tiers() {
		names = append(names, t.Name)
	}
	return []panel{
		{"policies", map[string][]string{"names": names}},
		{"now", f.now()},
		{"figures", figures},
		{"ended", ended{briefsOf(page.Items), page.Next, briefsOf(failed), briefsOf(slowest)}},
	}, nil
}

// now holds the current state.
type now struct {
	Queue     any          `json:"queue"`
	Running   []Ongoing    `json:"running"`
	Functions *meter.Fleet `json:"functions"` // null if the functions are not processes of this machine
	StartedAt time.Time    `json:"startedAt"`
}

func (f filter) now() now {
	return now{f.cfg.Load(), f.cfg.Activity.list(f.tenant, listedOngoing), f.cfg.Fleet(), f.started.UTC()}
}

// failed returns the latest executions that did not complete.
func (f filter) failed() ([]audit.Record, error) {
	var all []audit.Record
	for _, status := range []execution.Status{execution.Failed, execution.TimedOut, execution.Blocked} {
		q := f.query()
		q.Status, q.Limit = string(status), listedFailures
		page, err := f.cfg.Records.List(f.ctx, q)
		if err != nil {
			return nil, api.RecordsUnavailable(err)
		}
		all = append(all, page.Items...)
	}
	slices.SortFunc(all, func(a, b audit.Record) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(b.ID, a.ID))
	})
	return all[:min(len(all), listedFailures)], nil
}

// slowest returns the records of the slowest executions. A record that has been deleted is left out.
func (f filter) slowest(sum audit.Summary) ([]audit.Record, error) {
	var all []audit.Record
	for _, slow := range sum.Slowest {
		r, err := f.cfg.Records.Get(f.ctx, slow.ID)
		if errors.Is(err, audit.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, api.RecordsUnavailable(err)
		}
		all = append(all, r)
	}
	return all, nil
}

// security returns the panels of /security.
func (f filter) security() ([]panel, error) {
	figures, sum, err := f.chart()
	if err != nil {
		return nil, err
	}
	latest, err := records.Threats(f.ctx, f.cfg.Records, f.query())
	if err != nil {
		return nil, err
	}
	if f.all {
		f.cfg.Verifier.Refresh()
	}
	return []panel{
		{"figures", figures},
		{"threats", struct {
			Flagged map[string]int64 `json:"flaggedByTenant"`
			Levels  map[string]int64 `json:"byLevel"`
			Items   []records.Threat `json:"items"`
		}{records.Counts(sum.Flagged), records.Counts(sum.ByLevel, records.Levels()...), records.ThreatsOf(latest)}},
		{"chain", f.cfg.Verifier.State(f.all)},
		{"pages", map[string]int64{"policyReports": f.reports.Count()}},
	}, nil
}
