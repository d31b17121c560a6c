package jobs

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/waits"
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
	job, err := h.paused(c)
	if err != nil {
		return err
	}
	if job.ID == "" {
		return h.Result(c)
	}
	return send(c, job)
}

// paused returns the job that the path names if it has paused and the caller may see it. The ID is empty if not.
func (h *Handlers) paused(c *fiber.Ctx) (execution.Job, error) {
	if h.Queue == nil {
		return execution.Job{}, nil
	}
	caller := api.CallerOf(c)
	job, found, err := h.job(c, true)
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

// List serves GET /api/executions?status=paused&limit&cursor, in the order in which the executions began. Callers who
// may approve see those of their tenant, others their own.
func (h *Handlers) List(c *fiber.Ctx) error {
	given, err := api.Query(c, "status", "limit", "cursor")
	if err != nil {
		return err
	}
	if s := given["status"]; s != string(execution.Paused) {
		return api.Invalid("status", "must be paused; GET /api/audit/executions lists executions of every status")
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
	page, err := h.Page(c.UserContext(), api.CallerOf(c), given["cursor"], limit)
	if err != nil {
		return err
	}
	return api.Send(c, page)
}

// Page returns the paused executions after a cursor that a caller may see.
func (h *Handlers) Page(
	ctx context.Context, caller authn.Identity, after string, limit int,
) (api.List[state], error) {
	page := api.List[state]{Items: []state{}}
	subject := caller.Subject
	if caller.May(authn.Approve) {
		subject = ""
	}
	found, err := h.Queue.cfg.Store.Paused(ctx, caller.Tenant, subject, after, limit+1)
	if err != nil {
		return page, err
	}
	if len(found) > limit {
		found = found[:limit]
		page.Next = &found[limit-1].ID
	}
	for _, job := range found {
		job.Result = nil
		page.Items = append(page.Items, stateOf(job))
	}
	return page, nil
}

// A decision is an entry of the body of POST /api/executions/{id}/resume.
type decision struct {
	Seq      int             `json:"seq"`
	Decision string          `json:"decision"`
	Args     json.RawMessage `json:"args"`
	Value    json.RawMessage `json:"value"`
	Reason   string          `json:"reason"`
}

// maxReason bounds the reason of a decision.
const maxReason = 2000

// resumePatience is how long a caller waits for what an execution does next, unless the request says otherwise.
const resumePatience = 30 * time.Second

// Resume serves POST /api/executions/{id}/resume: it decides about operations of a paused execution, and waits until
// the execution pauses again or has ended.
func (h *Handlers) Resume(c *fiber.Ctx) error {
	var body struct {
		Decisions []decision `json:"decisions"`
	}
	if err := api.DecodeSmall(c, &body, "an object with the list decisions"); err != nil {
		return err
	}
	if n := len(body.Decisions); n == 0 || n > execution.MaxWaiting {
		return api.Invalid("decisions", "must have 1 to "+strconv.Itoa(execution.MaxWaiting)+" entries")
	}
	verdicts := map[int]execution.Verdict{}
	for i, d := range body.Decisions {
		field := "decisions[" + strconv.Itoa(i) + "]"
		if err := d.check(field); err != nil {
			return err
		}
		if _, twice := verdicts[d.Seq]; twice {
			return api.Invalid(field+".seq", "is decided twice")
		}
		verdicts[d.Seq] = h.verdict(c, d.Decision, d.Reason, d.Args, d.Value)
	}
	return h.change(c, func(j *execution.Job) error {
		if err := h.fourEyes(c, *j); err != nil {
			return err
		}
		return waits.Decide(j, verdicts, h.Now())
	})
}

func (d decision) check(field string) error {
	switch {
	case len(d.Reason) > maxReason:
		return api.Invalid(field+".reason", "must have at most "+strconv.Itoa(maxReason)+" bytes")
	case d.Decision == execution.Edit && (len(d.Args) == 0 || d.Args[0] != '{'):
		return api.Invalid(field+".args", "must be an object: the arguments that the tool is called with")
	case d.Decision == execution.Respond && len(d.Value) == 0:
		return api.Invalid(field+".value", "is required: what stands for the tool's answer")
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

// verdict returns what the caller of a request decided.
func (h *Handlers) verdict(c *fiber.Ctx, decision, reason string, args, value json.RawMessage) execution.Verdict {
	return execution.Verdict{
		Decision: decision, Reason: reason, Args: args, Value: value, By: decider(c), At: h.Now().UTC(),
		Record: h.Queue.cfg.Waits.NewID(),
	}
}

func decider(c *fiber.Ctx) execution.Caller {
	caller := api.CallerOf(c)
	return execution.Caller{Subject: caller.Subject, Tenant: caller.Tenant, IP: utils.CopyString(c.IP())}
}

// fourEyes refuses a decision by the caller who started the execution, if the tier says so.
func (h *Handlers) fourEyes(c *fiber.Ctx, job execution.Job) error {
	if h.FourEyes != nil && job.Wait != nil && h.FourEyes(job.Wait.Tier) && api.CallerOf(c).Owns(ownerOf(job)) {
		return &api.Problem{
			Status: 403, Code: "approver_is_requester",
			Detail: "the policy " + job.Wait.Tier + " asks for the decision of somebody else than who started the execution",
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
	v := h.verdict(c, execution.Signal, "", nil, value)
	return h.change(c, func(j *execution.Job) error { return waits.Signal(j, name, v, h.Now()) })
}

// change changes the paused execution that the path names, and responds with what becomes of it.
func (h *Handlers) change(c *fiber.Ctx, fn func(*execution.Job) error) error {
	job, err := h.paused(c)
	if err != nil {
		return err
	}
	if job.ID == "" {
		return api.NotFound("there is no paused execution with this id")
	}
	if job, err = h.Queue.Change(c.UserContext(), job.ID, fn); err != nil {
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
