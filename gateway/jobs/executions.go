package jobs

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/schema"
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
	// Code and Result are what runs and what it has done so far. Lists leave them out.
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
	return send(c, job)
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
		body, err = bodyOf(job)
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
func bodyOf(job execution.Job) ([]byte, error) {
	if !job.Ended() {
		return api.Encode(stateOf(job))
	}
	return job.Result, nil
}

// paused returns the job with an ID if it has paused and the caller may see it. Otherwise the job has no ID.
func (h *Handlers) paused(ctx context.Context, caller authn.Identity, id string) (execution.Job, error) {
	if h.Queue == nil {
		return execution.Job{}, nil
	}
	job, found, err := h.job(ctx, caller, id, true)
	if err != nil || !found || job.Wait == nil {
		return execution.Job{}, err
	}
	owner := ownerOf(job)
	if caller.Owns(owner) || caller.May(authn.AuditReadAll) || caller.Tenant == owner.Tenant && caller.May(authn.Approve) {
		return job, nil
	}
	return execution.Job{}, nil
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
	limit := defaultPage
	if text := given["limit"]; text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > longestPage {
			return api.Invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(longestPage))
		}
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

// What a look at paused executions reads first, and about how many bytes of what they wait for are read in all. A
// page that would have more ends early.
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

// sizeOf returns about how many bytes an execution waits with.
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

// maxReason bounds the reason of a decision.
const maxReason = 2000

// resumePatience is how long a caller waits for what an execution does next, unless the request says otherwise.
const resumePatience = 30 * time.Second

// Resume serves POST /api/executions/{id}/resume: it decides about operations of a paused execution, and waits until
// the execution pauses again or has ended.
func (h *Handlers) Resume(c *fiber.Ctx) error {
	var body struct {
		Decisions []api.Decision `json:"decisions"`
	}
	if err := api.DecodeSmall(c, &body, "an object with the list decisions"); err != nil {
		return err
	}
	change, err := h.decide(api.CallerOf(c), c.IP(), body.Decisions)
	if err != nil {
		return err
	}
	return h.change(c, body.Decisions, change)
}

// Decide decides about operations of a paused execution, and waits until the execution pauses again or has ended. It
// returns what Resume responds with.
func (h *Handlers) Decide(
	ctx context.Context, caller authn.Identity, ip, id string, decisions []api.Decision,
) ([]byte, error) {
	change, err := h.decide(caller, ip, decisions)
	if err != nil {
		return nil, err
	}
	job, err := h.changeJob(ctx, caller, id, decisions, change)
	if err != nil {
		return nil, err
	}
	if job, err = h.Queue.Await(ctx, job, resumePatience); err != nil {
		return nil, err
	}
	return bodyOf(job)
}

// decide returns the change that decisions of a caller make to a paused job.
func (h *Handlers) decide(
	caller authn.Identity, ip string, decisions []api.Decision,
) (func(*execution.Job) error, error) {
	if n := len(decisions); n == 0 || n > execution.MaxWaiting {
		return nil, api.Invalid("decisions", "must have 1 to "+strconv.Itoa(execution.MaxWaiting)+" entries")
	}
	if h.Queue == nil {
		return nil, noPaused()
	}
	if h.Queue.cfg.Waits.Keys == nil {
		return nil, &api.Problem{Status: 501, Code: "stateless", Detail: "this gateway cannot continue paused executions: " +
			"with state in Postgres or DynamoDB they need SNAPSHOT_KEYS"}
	}
	verdicts := map[int]execution.Verdict{}
	for i, d := range decisions {
		field := "decisions[" + strconv.Itoa(i) + "]"
		if err := check(d, field); err != nil {
			return nil, err
		}
		if _, twice := verdicts[d.Seq]; twice {
			return nil, api.Invalid(field+".seq", "is decided twice")
		}
		verdicts[d.Seq] = h.verdict(caller, ip, d)
	}
	return func(j *execution.Job) error {
		if err := h.fourEyes(caller, *j); err != nil {
			return err
		}
		return waits.Decide(j, verdicts, h.Now())
	}, nil
}

// check returns an error unless a decision is well formed.
func check(d api.Decision, field string) error {
	switch {
	case len(d.Reason) > maxReason:
		return api.Invalid(field+".reason", "must have at most "+strconv.Itoa(maxReason)+" bytes")
	case d.Decision == execution.Edit && (len(d.Args) == 0 || d.Args[0] != '{'):
		return api.Invalid(field+".args", "must be an object: the arguments that the tool is called with")
	case d.Decision == execution.Respond && len(d.Value) == 0:
		return api.Invalid(field+".value", "is required: the value that replaces the tool's answer")
	case d.Decision != execution.Edit && len(d.Args) > 0:
		return api.Invalid(field+".args", "belongs to the decision edit")
	case d.Decision != execution.Respond && len(d.Value) > 0:
		return api.Invalid(field+".value", "belongs to the decision respond")
	}
	switch d.Decision {
	case execution.Approve, execution.Edit, execution.Respond, execution.Reject:
		return nil
	}
	return api.Invalid(field+".decision", "must be approve, edit, respond or reject")
}

// verdict returns what a caller decided.
func (h *Handlers) verdict(caller authn.Identity, ip string, d api.Decision) execution.Verdict {
	return execution.Verdict{
		Decision: d.Decision, Reason: d.Reason, Args: d.Args, Value: d.Value,
		By: execution.Caller{Subject: caller.Subject, Tenant: caller.Tenant, IP: utils.CopyString(ip)},
		At: h.Now().UTC(), Record: h.Queue.cfg.Waits.NewID(),
	}
}

// MayDecideOwn reports whether callers may decide about their own executions of a tier.
func (h *Handlers) MayDecideOwn(tier string) bool { return h.FourEyes == nil || !h.FourEyes(tier) }

// fourEyes refuses a decision by the caller who started the execution, if the tier says so.
func (h *Handlers) fourEyes(caller authn.Identity, job execution.Job) error {
	if job.Wait != nil && !h.MayDecideOwn(job.Wait.Tier) && caller.Owns(ownerOf(job)) {
		return &api.Problem{
			Status: 403, Code: "approver_is_requester",
			Detail: "the policy " + job.Wait.Tier + " requires a decision by somebody else: this caller started the execution",
		}
	}
	return nil
}

// Event serves POST /api/executions/{id}/events/{name}. The body, which may be empty, is the value of the event.
func (h *Handlers) Event(c *fiber.Ctx) error {
	value := json.RawMessage("null")
	if len(c.Request().Body()) > 0 {
		if err := api.RequireJSON(c); err != nil {
			return err
		}
		value = append(json.RawMessage(nil), c.Request().Body()...)
		if !json.Valid(value) {
			return api.Invalid("", "the body is not valid JSON")
		}
	}
	name := api.Param(c, "name")
	if h.Queue == nil {
		return noPaused()
	}
	v := h.verdict(api.CallerOf(c), c.IP(), api.Decision{Decision: execution.Signal, Value: value})
	return h.change(c, nil, func(j *execution.Job) error { return waits.Signal(j, name, v, h.Now()) })
}

// change changes the paused execution that the path names, and responds with what becomes of it.
func (h *Handlers) change(c *fiber.Ctx, decisions []api.Decision, fn func(*execution.Job) error) error {
	job, err := h.changeJob(c.UserContext(), api.CallerOf(c), api.Param(c, "id"), decisions, fn)
	if err != nil {
		return err
	}
	if !api.RespondAsync(c) {
		ctx, release := api.DisconnectContext(c)
		job, err = h.Queue.Await(ctx, job, resumePatience)
		release()
		if err != nil {
			return err
		}
	}
	if !job.Ended() {
		c.Set(fiber.HeaderLocation, api.ExecutionPath(job.ID))
		c.Status(202)
	}
	c.Set(api.ExecutionID, job.ID)
	return send(c, job)
}

// changeJob changes the paused execution with an ID. The values of decisions must fit what its code asked for.
func (h *Handlers) changeJob(
	ctx context.Context, caller authn.Identity, id string, decisions []api.Decision, fn func(*execution.Job) error,
) (execution.Job, error) {
	job, err := h.paused(ctx, caller, id)
	if err != nil {
		return job, err
	}
	if job.ID == "" {
		return job, noPaused()
	}
	if err := fit(ctx, job, decisions); err != nil {
		return job, err
	}
	return h.Queue.Change(ctx, job.ID, fn)
}

// The code that waits chose the schemas, so checks of them are bounded here. The function makes those that are missing
// when the execution continues.
const (
	checkedBytes = 8 << 10
	checkedSteps = 5000
)

// fit returns an error if a value of decisions does not fit the schema of its operation. It comes before the change, as
// it may take some milliseconds.
func fit(ctx context.Context, job execution.Job, decisions []api.Decision) error {
	budget := schema.Budget{Bytes: checkedBytes, Steps: checkedSteps}
	for i, d := range decisions {
		at := slices.IndexFunc(job.Wait.Pending, func(p execution.Pending) bool { return p.Seq == d.Seq })
		if at < 0 || d.Decision != execution.Respond {
			continue
		}
		if known, err := budget.Fits(ctx, job.Wait.Pending[at].Schema, d.Value); known && err != nil {
			return api.Invalid("decisions["+strconv.Itoa(i)+"].value",
				"does not fit the schema of operation "+strconv.Itoa(d.Seq)+": "+err.Error())
		}
	}
	return nil
}

func noPaused() error { return api.NotFound("there is no paused execution with this id") }
