package jobs

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
)

// state is a paused execution, or one that continues after a pause, as callers see it.
type state struct {
	ID          string                 `json:"id"`
	Status      execution.Status       `json:"status"`
	Policy      string                 `json:"policy"`
	Function    *execution.FunctionRef `json:"function,omitempty"`
	RequestedBy string                 `json:"requestedBy"`
	ReceivedAt  string                 `json:"receivedAt"`
	PausedAt    string                 `json:"pausedAt"`
	ExpiresAt   string                 `json:"expiresAt"`
	Segment     int                    `json:"segment"`
	Waiting     []execution.Waiting    `json:"waiting"`
	Decided     []decided              `json:"decided"`
	// Code is the code that runs, and Result its result so far. Lists leave them out.
	Code     string          `json:"code,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Callback *callbackView   `json:"callback,omitempty"`
}

// decided is a decision that a segment has not got yet, or has got last.
type decided struct {
	Seq      int    `json:"seq"`
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	By       string `json:"by"`
	At       string `json:"at"`
}

func stateOf(job execution.Job) state {
	s := state{
		ID: job.ID, Status: job.Status, Policy: job.Wait.Tier, Function: job.Function, RequestedBy: job.Subject,
		ReceivedAt: api.Stamp(job.ReceivedAt), PausedAt: api.Stamp(job.Wait.Since), ExpiresAt: api.Stamp(job.Wait.ExpiresAt),
		Segment: job.Wait.Segment, Waiting: shown(job.Wait), Decided: []decided{}, Code: job.Request.Main(),
		Result: job.Result, Callback: callbackOf(job),
	}
	for _, p := range job.Wait.Pending {
		if v := p.Verdict; v != nil {
			s.Decided = append(s.Decided, decided{p.Seq, v.Decision, v.Reason, v.By.Subject, api.Stamp(v.At)})
		}
	}
	return s
}

// Get serves GET /api/executions/{id}: a paused execution, one that is on its way, or a result. Besides its owner, the
// callers of its tenant see it who may approve.
func (h *Handlers) Get(c *fiber.Ctx) error {
	job, err := h.paused(c.UserContext(), api.CallerOf(c), api.Param(c, "id"))
	if err != nil {
		return err
	}
	if job.ID == "" {
		return h.Result(c)
	}
	return h.send(c, job)
}

// Find returns the stored execution with an ID as Get responds with it; nil if there is none that the caller may see.
// whole reports whether that is all there is to know: it is the execution's progress, or it has paused. Otherwise it
// is a result.
func (h *Handlers) Find(ctx context.Context, caller authn.Identity, id string) (body []byte, whole bool, err error) {
	job, err := h.paused(ctx, caller, id)
	if err != nil {
		return nil, false, err
	}
	if job.ID != "" {
		body, err = h.bodyOf(ctx, job)
		return body, true, err
	}
	if h.Queue == nil {
		return nil, false, nil
	}
	job, found, err := h.job(ctx, caller, id, caller.May(authn.AuditReadAll))
	switch {
	case err != nil || !found || job.Wait != nil:
		return nil, false, err
	case job.Ended():
		return job.Result, false, nil
	}
	body, err = api.Encode(progressOf(job))
	return body, true, err
}

// bodyOf returns how a job that has paused is shown: its result, or how far it is.
func (h *Handlers) bodyOf(ctx context.Context, job execution.Job) ([]byte, error) {
	if !job.Ended() {
		job, err := h.withCode(ctx, job)
		if err != nil {
			return nil, err
		}
		return api.Encode(stateOf(job))
	}
	return job.Result, nil
}

// paused returns the state of the job with an ID if it has paused and the caller may see it. Otherwise the job has no
// ID.
func (h *Handlers) paused(ctx context.Context, caller authn.Identity, id string) (execution.Job, error) {
	if h.Queue == nil {
		return execution.Job{}, nil
	}
	job, found, err := h.job(ctx, caller, id, true)
	if err != nil || !found || job.Wait == nil {
		return execution.Job{}, err
	}
	if seesPaused(caller, job) {
		return job, nil
	}
	return execution.Job{}, nil
}

// seesPaused reports whether a caller may see a job that has paused.
func seesPaused(caller authn.Identity, job execution.Job) bool {
	owner := ownerOf(job)
	return caller.Owns(owner) || caller.May(authn.AuditReadAll) ||
		caller.Tenant == owner.Tenant && caller.May(authn.Approve)
}

const (
	defaultPage = 50
	longestPage = 200
)

// List serves GET /api/executions?status&limit&cursor, in the order in which the executions began. status is paused,
// queued or running. Callers who may approve see the paused ones of their tenant, and callers who may read its records
// or cancel its jobs the other ones; others see their own.
func (h *Handlers) List(c *fiber.Ctx) error {
	given, err := api.Query(c, "status", "limit", "cursor")
	if err != nil {
		return err
	}
	status := execution.Status(given["status"])
	if status != execution.Paused && status != execution.Queued && status != execution.Running {
		return api.Invalid("status",
			"must be paused, queued or running; GET /api/audit/executions lists executions that ended")
	}
	limit, err := api.Limit(given, defaultPage, longestPage)
	if err != nil {
		return err
	}
	if after := given["cursor"]; after != "" && !execution.ValidID(after) {
		return api.Invalid("cursor", "is not one that this service issued")
	}
	if h.Queue == nil {
		return api.Stateless()
	}
	if status != execution.Paused {
		return h.listJobs(c, status, given["cursor"], limit)
	}
	page, err := h.Page(c.UserContext(), api.CallerOf(c), given["cursor"], limit)
	if err != nil {
		return err
	}
	return api.Send(c, page)
}

// listedJob is a job that is queued or runs, as lists show it.
type listedJob struct {
	progress
	Via         string `json:"via"`
	RequestedBy string `json:"requestedBy"`
	// Attempts counts how often the job could not begin, and NotBefore is when the next attempt is made.
	Attempts  int    `json:"attempts"`
	NotBefore string `json:"notBefore,omitempty"`
	// Cancellable reports whether the caller may cancel it.
	Cancellable bool `json:"cancellable"`
}

// listJobs responds with a page of the jobs that have a status. A page may have fewer jobs than there are.
func (h *Handlers) listJobs(c *fiber.Ctx, status execution.Status, after string, limit int) error {
	caller := api.CallerOf(c)
	subject := caller.Subject
	if caller.May(authn.AuditRead) || caller.May(authn.Cancel) {
		subject = ""
	}
	found, next, err := h.Queue.cfg.Store.Jobs(c.UserContext(), caller.Tenant, subject, status, after, limit)
	if err != nil {
		return err
	}
	page := api.List[listedJob]{Items: []listedJob{}}
	if next != "" {
		page.Next = &next
	}
	for _, job := range found {
		own := caller.Owns(ownerOf(job))
		if !own {
			job.Callback = nil // the URL may hold a secret
		}
		page.Items = append(page.Items, listedJob{
			progressOf(job), job.Via, job.Subject, job.Attempts, api.Stamp(job.NotBefore), mayCancel(caller, job),
		})
	}
	return api.Send(c, page)
}

// Page returns the paused executions after a cursor that a caller may see.
func (h *Handlers) Page(ctx context.Context, caller authn.Identity, after string, limit int) (any, error) {
	page := api.List[state]{Items: []state{}}
	subject := caller.Subject
	if caller.May(authn.Approve) {
		subject = ""
	}
	found, early, err := h.pausedSome(ctx, caller.Tenant, subject, after, limit+1)
	if err != nil {
		return page, err
	}
	if n := slices.IndexFunc(found, func(j execution.Job) bool { return j.ID > execution.FirstSession }); n >= 0 {
		found, early = found[:n], false // sessions come last
	}
	if early = early || len(found) > limit; early {
		found = found[:min(len(found), limit)]
		page.Next = &found[len(found)-1].ID
	}
	for _, job := range found {
		job.Result = nil
		page.Items = append(page.Items, stateOf(job))
	}
	return page, nil
}

// How many paused executions a list reads at first, and about how many bytes of their waits it reads in total. A page
// that would have more ends early.
const (
	firstLook    = 2
	maxPageBytes = 1 << 20
)

// pausedSome returns at most so many of the paused jobs that Store.Paused returns. If these are large, it ends early.
func (h *Handlers) pausedSome(
	ctx context.Context, tenant, subject, after string, most int,
) (all []execution.Job, early bool, err error) {
	bytes := 0
	for look := firstLook; ; {
		look = min(look, most-len(all))
		some, err := h.Queue.cfg.Store.Paused(ctx, tenant, subject, after, look)
		if err != nil {
			return nil, false, err
		}
		all = append(all, some...)
		for _, job := range some {
			bytes += sizeOf(job.Wait)
		}
		if len(some) < look || len(all) == most {
			return all, false, nil
		}
		if bytes >= maxPageBytes {
			return all, true, nil
		}
		after = all[len(all)-1].ID
		look = max((maxPageBytes-bytes)*len(all)/max(bytes, 1), 1) // as many as will fit if they are like these
	}
}

// sizeOf returns the approximate size of the waits of an execution in bytes.
func sizeOf(w *execution.Wait) int {
	n := 512
	for _, p := range w.Pending {
		n += len(p.Args) + len(p.Schema) + len(p.Title) + len(p.Detail)
		if p.Answer != nil {
			n += 2 * (len(p.Answer.Args) + len(p.Answer.Value))
		}
	}
	return n
}
