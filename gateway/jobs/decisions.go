package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/policy/schema"
)

// maxReason bounds the reason of a decision.
const maxReason = 2000

// resumePatience is how long a caller waits for what an execution does next, unless the request says otherwise.
const resumePatience = 30 * time.Second

// Resume serves POST /api/executions/{id}/resume: it decides about operations of a paused execution, and waits until
// the execution pauses again or has ended.
func (h *Handlers) Resume(c *fiber.Ctx) error {
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	members, err := execution.Members(c.Request().Body())
	if err != nil {
		return err
	}
	var decisions []api.Decision
	for _, m := range members {
		if m.Name != "decisions" {
			return api.Invalid("", "must be an object with the list decisions")
		}
		if decisions, err = api.DecodeDecisions(m.Value); err != nil {
			return err
		}
	}
	change, err := h.decide(api.CallerOf(c), c.IP(), decisions)
	if err != nil {
		return err
	}
	return h.change(c, decisions, change)
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
	return h.bodyOf(ctx, job)
}

// decide returns the change that decisions of a caller make to a paused job.
func (h *Handlers) decide(
	caller authn.Identity, ip string, decisions []api.Decision,
) (func(*execution.Job) error, error) {
	if n := len(decisions); n == 0 || n > execution.MaxWaiting {
		return nil, api.WrongDecisions()
	}
	if h.Queue == nil {
		return nil, noPaused()
	}
	verdicts := map[int]execution.Verdict{}
	for i, d := range decisions {
		field := "decisions[" + strconv.Itoa(i) + "]"
		if err := check(&d, field); err != nil {
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

// check returns an error unless a decision is well formed. It compacts its arguments and its value.
func check(d *api.Decision, field string) (err error) {
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
	case execution.Edit:
		d.Args, err = compact(field+".args", d.Args, execution.CompactMember)
		return err
	case execution.Respond:
		d.Value, err = compact(field+".value", d.Value, execution.CompactMember)
		return err
	case execution.Approve, execution.Reject:
		return nil
	}
	return api.Invalid(field+".decision", "must be approve, edit, respond or reject")
}

// compact returns a value without white space. The error is that of a value that no segment could begin with: one that
// a request could not have, either.
func compact(
	field string, value json.RawMessage, compacted func([]byte) ([]byte, bool),
) (json.RawMessage, error) {
	if depth.Over(value, field, execution.MaxDepth) == "" {
		if value, ok := compacted(value); ok {
			return value, nil
		}
	}
	return nil, api.Invalid(field, "must be valid JSON in UTF-8, at most "+strconv.Itoa(execution.MaxDepth)+
		" levels deep, without duplicate names and without lone surrogates")
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
		var err error
		if value, err = compact("", c.Request().Body(), execution.CompactJSON); err != nil {
			return err
		}
	}
	name, err := api.TextParam(c, "name")
	if err != nil {
		return err
	}
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
	return h.send(c, job)
}

// changeJob changes the paused execution with an ID. The values of decisions must fit what its code asked for. A job
// can hold megabytes of earlier answers, so it is read before the change only if there are values to check.
func (h *Handlers) changeJob(
	ctx context.Context, caller authn.Identity, id string, decisions []api.Decision, fn func(*execution.Job) error,
) (execution.Job, error) {
	if h.Queue == nil || !execution.ValidID(id) {
		return execution.Job{}, noPaused()
	}
	if h.Queue.cfg.Waits.Keys == nil {
		return execution.Job{}, &api.Problem{
			Status: 501, Code: "stateless", Detail: "this gateway cannot continue paused executions: " +
				"with state in Postgres or DynamoDB they need SNAPSHOT_KEYS",
		}
	}
	responds := func(d api.Decision) bool { return d.Decision == execution.Respond }
	if slices.ContainsFunc(decisions, responds) {
		job, err := h.paused(ctx, caller, id)
		if err == nil && job.ID == "" {
			err = noPaused()
		}
		if err == nil {
			if err = h.hasKey(job); errors.Is(err, waits.ErrApart) {
				if job, err = h.Queue.Job(ctx, id); err == nil {
					err = h.hasKey(job)
				}
			}
		}
		if errors.Is(err, execution.ErrNotFound) || err == nil && job.Wait == nil {
			err = noPaused()
		}
		if err == nil {
			err = fit(ctx, job, decisions)
		}
		if err != nil {
			return job, err
		}
	}
	job, err := h.Queue.Change(ctx, id, func(job *execution.Job) error {
		if job.Wait == nil || !seesPaused(caller, *job) {
			return noPaused()
		}
		if err := h.hasKey(*job); err != nil {
			return err
		}
		return fn(job)
	})
	if errors.Is(err, execution.ErrNotFound) {
		err = noPaused()
	}
	return job, err
}

// hasKey returns an error if a paused execution could not continue here because its key is not configured.
func (h *Handlers) hasKey(job execution.Job) error {
	if job.Status != execution.Paused {
		return nil
	}
	err := h.Queue.cfg.Waits.Keys.Has(job)
	if errors.Is(err, waits.ErrNoKey) {
		return api.NoSnapshotKey(err)
	}
	if errors.Is(err, waits.ErrApart) {
		return err
	}
	return nil
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
