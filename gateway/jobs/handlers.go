package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/policy/address"
)

// respondAsync reports whether the caller prefers not to wait (RFC 7240 §4.1).
func respondAsync(c *fiber.Ctx) bool {
	for _, header := range c.Request().Header.PeekAll("Prefer") {
		for part := range strings.SplitSeq(string(header), ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}

func needsAsync() error {
	return bad("callback", "needs the header Prefer: respond-async; who waits for the answer is not called back")
}

// executeOrAccept is POST /api/execute: run and wait, or, with Prefer: respond-async, accept and run later.
func (s *Server) executeOrAccept(c *fiber.Ctx) error {
	if !respondAsync(c) || s.state == nil {
		return s.execute(c)
	}
	received := s.deps.Now()
	if err := plainJSON(c); err != nil {
		return err
	}
	var taken map[string]json.RawMessage
	request, err := decoded(s, c, func(body []byte) (request execution.Request, err error) {
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
	caller := callerOf(c)
	if request.Priority == "high" && !caller.May(authn.Priority) {
		return lacks(authn.Priority)
	}
	return s.accept(c, Job{
		Request: request, Caller: caller, IP: utils.CopyString(c.IP()), Via: execution.ViaHTTP, ReceivedAt: received.UTC(),
		TraceParent: traceOf(c), Fresh: directive(c.Get(fiber.HeaderCacheControl), "no-store"),
	}, taken["callback"])
}

// accept keeps a job and answers 202. From then on the job will have a result, whatever happens to this process.
func (s *Server) accept(c *fiber.Ctx, job Job, callback json.RawMessage) error {
	if s.state == nil {
		return s.stateful(c)
	}
	ctx, release := s.attached(c)
	defer release()
	decision, err := s.decider.decide(ctx, askOf(job))
	if err != nil {
		return err
	}
	if bad, ok := decision.BadField(); ok {
		return &execution.Error{Code: execution.InvalidRequest, Field: bad.Field, Message: bad.Message}
	}
	if job.ID == "" {
		job.ID = s.newID(c)
	}
	kept := jobOf(job)
	given := ""
	if callback != nil {
		to, err := callbacks.Decode(callback)
		if err != nil {
			return err
		}
		u, err := url.Parse(to.URL)
		if err == nil {
			err = address.Hosts(s.cfg.OpenedHosts).Check(u)
		}
		switch {
		case errors.Is(err, address.ErrRefused):
			return bad("callback", address.ErrRefused.Error())
		case err != nil:
			return bad("callback", "the URL's host is not a valid name or address")
		}
		if to.Secret == "" {
			to.Secret = s.cfg.CallbackSecret
		}
		if to.Secret == "" {
			to.Secret = callbacks.NewSecret()
			given = to.Secret
		}
		kept.Callback = to
	}
	if err := s.submit(s.base, kept); err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, "/api/result/"+job.ID)
	c.Set("Preference-Applied", "respond-async")
	c.Status(202)
	return s.send(c, struct {
		ID       string                 `json:"id"`
		Status   execution.Status       `json:"status"`
		Location string                 `json:"location"`
		Function *execution.FunctionRef `json:"function,omitempty"`
		// CallbackSecret is what the callback will be signed with, when the caller gave no secret and the deployment has none.
		CallbackSecret string `json:"callbackSecret,omitempty"`
	}{job.ID, execution.Queued, "/api/result/" + job.ID, job.Function, given})
}

// jobOf is a job as it is kept. Of the caller's scopes only those that restrict are needed later.
func jobOf(job Job) execution.Job {
	return execution.Job{
		ID: job.ID, Tenant: job.Caller.Tenant, Subject: job.Caller.Subject, Kinds: true, Scopes: restricting(job.Caller.Scopes), IP: job.IP, Via: job.Via,
		Function: job.Function, Fresh: job.Fresh, TraceParent: job.TraceParent, ReceivedAt: job.ReceivedAt, Status: execution.Queued, Request: job.Request,
	}
}

func fromKept(job execution.Job) Job {
	if job.Via == execution.ViaHook { // an earlier release may have kept credentials
		job.Request.Input = webhook.WithoutCredentials(job.Request.Input)
	}
	return Job{
		ID: job.ID, Caller: ownerOf(job), IP: job.IP, Via: job.Via, Function: job.Function, Fresh: job.Fresh, TraceParent: job.TraceParent,
		ReceivedAt: job.ReceivedAt, StartBefore: job.StartBefore, Request: job.Request, called: job.Callback != nil,
	}
}

// ownerOf returns who asked for a job. A webhook or schedule of an older version has a subject of its kind already.
func ownerOf(job execution.Job) authn.Identity {
	id := authn.Identity{Subject: job.Subject, Tenant: job.Tenant}
	if !job.Kinds && job.Via != execution.ViaHook && job.Via != execution.ViaSchedule {
		id = authn.Former(job.Tenant, job.Subject)
	}
	id.Scopes = job.Scopes
	return id
}

// resultOrJob is GET /api/result/{id}: the result, or how far the execution is.
func (s *Server) resultOrJob(c *fiber.Ctx) error {
	err := s.result(c)
	if err == nil || s.state == nil {
		return err
	}
	job, found, failed := s.ownJob(c, true)
	switch {
	case failed != nil:
		return failed
	case !found:
		return err
	}
	return s.sendJob(c, job)
}

// ownJob finds the job that the path names, when it is the caller's.
func (s *Server) ownJob(c *fiber.Ctx, reading bool) (job execution.Job, found bool, err error) {
	id, caller := param(c, "id"), callerOf(c)
	if !execution.ValidID(id) {
		return job, false, nil
	}
	job, err = s.state.jobs.Job(s.base, id)
	if errors.Is(err, execution.ErrNotFound) {
		return job, false, nil
	}
	if err != nil {
		return job, false, err
	}
	return job, caller.Owns(ownerOf(job)) || reading && caller.May(authn.AuditReadAll), nil
}

// toldOf is how far a receiver has been told, for the job's owner.
type toldOf struct {
	URL      string `json:"url"`
	State    string `json:"state"`
	Attempts int    `json:"attempts"`
	Next     string `json:"next,omitempty"`
	Problem  string `json:"problem,omitempty"`
}

func calledOf(job execution.Job) *toldOf {
	if job.Callback == nil {
		return nil
	}
	to := job.Callback
	return &toldOf{to.URL, to.State, to.Attempts, stamp(to.Next), to.Problem}
}

// sendJob answers with the result of a job, or with how far it is, and with how far its receiver has been told.
func (s *Server) sendJob(c *fiber.Ctx, job execution.Job) error {
	if job.Ended() {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		body := bytes.TrimSpace(job.Result)
		if to := calledOf(job); to != nil && bytes.HasSuffix(body, []byte("}")) {
			body = slices.Concat(body[:len(body)-1], []byte(`,"callback":`), raw(to), []byte("}"))
		}
		return c.Send(append(body, '\n'))
	}
	return s.send(c, struct {
		ID         string                 `json:"id"`
		Status     execution.Status       `json:"status"`
		ReceivedAt string                 `json:"receivedAt"`
		StartedAt  string                 `json:"startedAt,omitempty"`
		Function   *execution.FunctionRef `json:"function,omitempty"`
		Callback   *toldOf                `json:"callback,omitempty"`
	}{job.ID, job.Status, stamp(job.ReceivedAt), stamp(job.StartedAt), job.Function, calledOf(job)})
}

// cancelResult is DELETE /api/result/{id}: what waits never runs, what runs is stopped.
func (s *Server) cancelResult(c *fiber.Ctx) error {
	if id := param(c, "id"); s.streams.cancel(id, callerOf(c).Owner()) {
		c.Status(202)
		return s.send(c, map[string]string{"id": id, "status": "running"})
	}
	if s.state == nil {
		return s.stateful(c)
	}
	job, found, err := s.ownJob(c, false)
	if err != nil {
		return err
	}
	if !found {
		if k, ok := s.kept.Get(param(c, "id")); ok && k.owner == callerOf(c).Owner() { // its caller waited for it
			return jobs.ErrEnded
		}
		return &problem{status: 404, detail: "there is no execution with this id to cancel"}
	}
	if job.Status == execution.Cancelled {
		return s.sendJob(c, job)
	}
	r, err := s.begin(s.base, fromKept(job))
	if err != nil {
		return err
	}
	cancelled := r.completed(cancelledBy("the execution was cancelled before it began"))
	job, began, err := s.state.jobs.Cancel(s.base, job.ID, cancelled)
	if err != nil {
		return err
	}
	if !began {
		if _, err := s.close(s.base, r, cancelled); err != nil {
			return err
		}
	}
	if job.Ended() && job.Status != execution.Cancelled {
		return jobs.ErrEnded
	}
	if !job.Ended() {
		c.Status(202)
	}
	return s.sendJob(c, job)
}

func cancelledBy(line string) execution.Result {
	return execution.Result{Status: execution.Cancelled, Error: &line}
}
