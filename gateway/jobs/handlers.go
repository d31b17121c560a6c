package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/idempotency"
	"github.com/airlock-run/airlock/gateway/results"
)

// Executions is the execution path as the handlers need it. It is safe for concurrent use.
type Executions interface {
	api.Turns
	// Cancelled decides about a submission that never runs and returns its result. record writes the audit record.
	Cancelled(ctx context.Context, s api.Submission, reason string) (
		result execution.Result, record func(context.Context) error, err error)
	// Validate returns the error of a request that is not valid. The policy decides when the submission runs.
	Validate(s api.Submission) error
}

// Callbacks reads who is called back with a result.
type Callbacks interface {
	// Accept reads the member callback of a request. made is the signing secret if one was made for it.
	Accept(member json.RawMessage) (to *execution.Callback, made string, err error)
}

// Streams are the executions whose callers follow them.
type Streams interface {
	// Cancel stops an execution of owner. It reports whether there was one.
	Cancel(id, owner string) bool
}

// Handlers serve asynchronous executions and GET and DELETE /api/result/{id}. Queue is nil where the gateway keeps no
// state.
type Handlers struct {
	Queue      *Queue
	Executions Executions
	// ExecuteNow serves POST /api/execute for callers who wait.
	ExecuteNow fiber.Handler
	Callbacks  Callbacks
	Results    *results.Store[results.Finished]
	Streams    Streams
	Keys       *idempotency.Keys
	// Wake has a process run a stored job soon. It may be nil: the job is found without it, too, only later.
	Wake func(ctx context.Context, id string) error
	// FourEyes, which may be nil, reports whether a tier demands that somebody else decides about a paused execution than
	// who started it.
	FourEyes func(tier string) bool
	Now      func() time.Time
	Logger   *slog.Logger
}

// Execute serves POST /api/execute: it runs the request and waits or, with Prefer: respond-async, stores it as a job.
func (h *Handlers) Execute(c *fiber.Ctx) error {
	if !api.RespondAsync(c) || h.Queue == nil {
		return h.ExecuteNow(c)
	}
	received := h.Now()
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	var taken map[string]json.RawMessage
	request, err := api.Decode(c, h.Executions, func(body []byte) (request execution.Request, err error) {
		rest, members, err := execution.TakeMembers(body, "callback")
		if err != nil {
			return request, err
		}
		taken = members
		return execution.DecodeRequest(rest)
	})
	if err != nil {
		return err
	}
	if err := api.CheckPriority(api.CallerOf(c), request); err != nil {
		return err
	}
	return h.Accept(c, api.NewSubmission(c, request, received), taken["callback"])
}

// Accept stores a submission and responds with 202. From then on the job will have a result, whatever happens to this
// process. callback is the member of the request, or nil.
func (h *Handlers) Accept(c *fiber.Ctx, s api.Submission, callback json.RawMessage) error {
	if h.Queue == nil {
		return api.Stateless()
	}
	if err := h.Executions.Validate(s); err != nil {
		return err
	}
	if s.ID == "" {
		s.ID = h.Keys.NewID(c)
	}
	job, made := JobOf(s), ""
	if callback != nil {
		var err error
		if job.Callback, made, err = h.Callbacks.Accept(callback); err != nil {
			return err
		}
	}
	if err := h.submit(c.UserContext(), job); err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, "/api/result/"+s.ID)
	c.Set(fiber.HeaderRetryAfter, askAgain)
	c.Set("Preference-Applied", "respond-async")
	c.Status(202)
	return api.Send(c, struct {
		ID       string                 `json:"id"`
		Status   execution.Status       `json:"status"`
		Location string                 `json:"location"`
		Function *execution.FunctionRef `json:"function,omitempty"`
		// CallbackSecret signs the callback if neither the caller nor the deployment gave a secret.
		CallbackSecret string `json:"callbackSecret,omitempty"`
	}{s.ID, execution.Queued, "/api/result/" + s.ID, s.Function, made})
}

// Submit stores a submission, which will have a result if the error is nil.
func (h *Handlers) Submit(ctx context.Context, s api.Submission) error {
	return h.submit(ctx, JobOf(s))
}

// wakeTime is how long a caller waits until a process is woken.
const wakeTime = 5 * time.Second

func (h *Handlers) submit(ctx context.Context, job execution.Job) error {
	if err := h.Queue.Submit(ctx, job); err != nil || h.Wake == nil {
		return err
	}
	waking, cancel := context.WithTimeout(ctx, wakeTime)
	defer cancel()
	if err := h.Wake(waking, job.ID); err != nil {
		h.Logger.Warn("no process was woken for a job; the job waits for the next run of due jobs",
			"execution", job.ID, "error", err)
	}
	return nil
}

// Result serves GET /api/result/{id}: the result, or how far the execution is. Only the caller who asked for the
// execution sees it, and so do callers who may read the records of every tenant.
func (h *Handlers) Result(c *fiber.Ctx) error {
	caller := api.CallerOf(c)
	if kept, ok := h.Results.Get(api.Param(c, "id")); ok && kept.VisibleTo(caller) {
		return api.SendJSON(c, kept.Body)
	}
	if h.Queue != nil {
		job, found, err := h.job(c.UserContext(), caller, api.Param(c, "id"), caller.May(authn.AuditReadAll))
		if err != nil {
			return err
		}
		if found {
			return h.send(c, job)
		}
	}
	return api.NotFound(
		"there is no result with this id; the last results are kept for a while, audit records permanently",
	)
}

// job returns the state of the job with an ID if the caller owns it, or may see all jobs.
func (h *Handlers) job(
	ctx context.Context, caller authn.Identity, id string, all bool,
) (job execution.Job, found bool, err error) {
	if !execution.ValidID(id) {
		return job, false, nil
	}
	job, err = h.Queue.cfg.Store.JobState(ctx, id)
	if errors.Is(err, execution.ErrNotFound) {
		return job, false, nil
	}
	if err != nil {
		return job, false, err
	}
	return job, caller.Owns(ownerOf(job)) || all, nil
}

// callbackView is the state of a callback, for the owner of the job.
type callbackView struct {
	URL      string `json:"url"`
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	Next     string `json:"next,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

func callbackOf(job execution.Job) *callbackView {
	if job.Callback == nil {
		return nil
	}
	to := job.Callback
	return &callbackView{to.URL, to.State, to.Attempts, api.Stamp(to.Next), to.Problem}
}

// askAgain is the Retry-After of a result that is not there yet, in seconds; it is the smallest possible value.
const askAgain = "1"

// send responds with the result of a job or with how far it is, and with how far its callback is.
func (h *Handlers) send(c *fiber.Ctx, job execution.Job) error {
	if job.Wait != nil && !job.Ended() {
		job, err := h.withCode(c.UserContext(), job)
		if err != nil {
			return err
		}
		return api.Send(c, stateOf(job))
	}
	if job.Ended() {
		body := bytes.TrimSpace(job.Result)
		if to := callbackOf(job); to != nil && bytes.HasSuffix(body, []byte("}")) {
			body = slices.Concat(body[:len(body)-1], []byte(`,"callback":`), api.Raw(to), []byte("}"))
		}
		return api.SendJSON(c, append(body, '\n'))
	}
	c.Set(fiber.HeaderRetryAfter, askAgain)
	return api.Send(c, progressOf(job))
}

// withCode returns a job that has paused, and that was read without its request, with its code.
func (h *Handlers) withCode(ctx context.Context, job execution.Job) (execution.Job, error) {
	whole, err := withRequest(ctx, h.Queue, job)
	if errors.Is(err, execution.ErrNotFound) {
		err = nil // it was deleted meanwhile
	}
	return whole, err
}

// progress is the state of a job that has not ended.
type progress struct {
	ID         string                 `json:"id"`
	Status     execution.Status       `json:"status"`
	ReceivedAt string                 `json:"receivedAt"`
	StartedAt  string                 `json:"startedAt,omitempty"`
	Function   *execution.FunctionRef `json:"function,omitempty"`
	Callback   *callbackView          `json:"callback,omitempty"`
}

func progressOf(job execution.Job) progress {
	return progress{
		job.ID, job.Status, api.Stamp(job.ReceivedAt), api.Stamp(job.StartedAt), job.Function, callbackOf(job),
	}
}

// mayCancel reports whether a caller may cancel a job: its own, and with the scope every other one of its tenant.
func mayCancel(caller authn.Identity, job execution.Job) bool {
	owner := ownerOf(job)
	return caller.Owns(owner) || caller.Tenant == owner.Tenant && caller.May(authn.Cancel)
}

// Cancel serves DELETE /api/result/{id}: a job that waits never runs, and an execution that runs is stopped. Callers
// who do not own it get neither its result nor its code.
func (h *Handlers) Cancel(c *fiber.Ctx) error {
	id, owner, ctx := api.Param(c, "id"), api.CallerOf(c).Owner(), c.UserContext()
	if h.Streams.Cancel(id, owner) {
		c.Status(202)
		return api.Send(c, map[string]string{"id": id, "status": "running"})
	}
	if h.Queue == nil {
		return api.Stateless()
	}
	by := api.CallerOf(c)
	job, found, err := h.job(ctx, by, id, true)
	if err != nil {
		return err
	}
	if !found || !mayCancel(by, job) {
		if kept, ok := h.Results.Get(id); ok && kept.Owner == owner { // its caller waited for it
			return ErrEnded
		}
		return api.NotFound("there is no execution with this id to cancel")
	}
	respond := func(job execution.Job) error {
		if !by.Owns(ownerOf(job)) {
			c.Status(202)
			return api.Send(c, map[string]string{"id": id, "status": string(job.Status)})
		}
		return h.send(c, job)
	}
	if job.Status == execution.Cancelled {
		return respond(job)
	}
	whole, err := h.Queue.Job(ctx, id)
	lost := errors.Is(err, execution.ErrContentLost)
	switch {
	case errors.Is(err, execution.ErrNotFound):
		return ErrEnded
	case err == nil:
		job = whole
	case !lost:
		return err
	}
	submission := SubmissionOf(job)
	submission.RequestLost = lost
	cancelled, record, err := h.Executions.Cancelled(ctx, submission, "the execution was cancelled before it began")
	if err != nil {
		return err
	}
	job, _, err = h.Queue.Cancel(ctx, job.ID, cancelled, record,
		execution.Caller{Subject: by.Subject, Tenant: by.Tenant, IP: utils.CopyString(c.IP())})
	if err != nil {
		return err
	}
	if job.Ended() && job.Status != execution.Cancelled {
		return ErrEnded
	}
	if !job.Ended() {
		c.Status(202)
	}
	return respond(job)
}
