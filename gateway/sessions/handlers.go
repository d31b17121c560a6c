package sessions

import (
	"errors"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/policy"
)

// view is a session as callers see it.
type view struct {
	ID     string `json:"id"`
	Policy string `json:"policy"`
	// Steps is the number of completed steps.
	Steps     int    `json:"steps"`
	Running   bool   `json:"running"`
	CreatedAt string `json:"createdAt"`
	ChangedAt string `json:"changedAt"`
	ExpiresAt string `json:"expiresAt"`
	// Bytes is the size of the stored snapshot.
	Bytes int `json:"bytes"`
}

func (s *Sessions) viewOf(job execution.Job) view {
	w := job.Wait
	return view{
		ID: job.ID, Policy: w.Tier, Steps: w.Segment, Running: running(job, s.cfg.Now()), CreatedAt: api.Stamp(w.Since),
		ChangedAt: api.Stamp(w.Changed), ExpiresAt: api.Stamp(w.ExpiresAt), Bytes: len(job.Snapshot),
	}
}

// Handlers serve /api/sessions. Sessions is nil where the gateway has no place for snapshots.
type Handlers struct {
	Sessions *Sessions
	// Read reads the execution request of a step.
	Read func(c *fiber.Ctx) (api.Submission, error)
	// Respond runs a submission and responds with its result.
	Respond func(c *fiber.Ctx, s api.Submission) error
	// Validate returns the error of a submission that is not valid.
	Validate func(s api.Submission) error
	// Tier returns a tier by its name.
	Tier func(name string) (policy.Tier, bool)
}

// Available refuses requests where the gateway cannot keep sessions.
func (h *Handlers) Available(c *fiber.Ctx) error {
	if h.Sessions == nil {
		return &api.Problem{
			Status: 501, Code: "no_sessions",
			Detail: "this gateway cannot keep sessions: they need state in a folder, or in Postgres or DynamoDB with " +
				"SNAPSHOT_KEYS",
		}
	}
	return c.Next()
}

// options are the members of a request that makes a session.
type options struct {
	Policy string `json:"policy"`
	// MaxAge is in milliseconds; 0 means the default.
	MaxAge *float64 `json:"maxAge"`
}

// defaultAge is how long a session exists unless its caller or its tier says otherwise.
const defaultAge = 24 * time.Hour

// ageOf returns how long a session of a tier may exist.
func (o options) ageOf(tier policy.Tier) (time.Duration, error) {
	most := tier.Waits.MaxAge
	if o.MaxAge == nil {
		return min(defaultAge, most), nil
	}
	if !(*o.MaxAge >= 1) || *o.MaxAge > float64(most.Milliseconds()) {
		return 0, api.Invalid("maxAge", "must be a number of milliseconds from 1 to "+
			strconv.FormatInt(most.Milliseconds(), 10)+", the longest that the policy "+tier.Name+" allows")
	}
	return time.Duration(*o.MaxAge) * time.Millisecond, nil
}

// tier returns the tier that a session may have.
func (h *Handlers) tier(c *fiber.Ctx, name string) (policy.Tier, error) {
	if name == "" {
		name = policy.DefaultTier
	}
	s := api.NewSubmission(c, execution.Request{Code: "0", Policy: name}, h.Sessions.cfg.Now())
	if err := h.Validate(s); err != nil {
		return policy.Tier{}, err
	}
	tier, found := h.Tier(name)
	if !found || tier.Waits.MaxPending <= 0 {
		return tier, api.Invalid("policy", "must be the name of a policy that lets executions wait; "+
			api.Clip(name, 40)+" does not, and has no sessions")
	}
	return tier, nil
}

// Create serves POST /api/sessions.
func (h *Handlers) Create(c *fiber.Ctx) error {
	var o options
	if err := api.DecodeSmall(c, &o, "an object with the fields policy and maxAge"); err != nil {
		return err
	}
	tier, err := h.tier(c, o.Policy)
	if err != nil {
		return err
	}
	age, err := o.ageOf(tier)
	if err != nil {
		return err
	}
	job, err := h.Sessions.create(c.UserContext(), api.NewSubmission(c, execution.Request{}, h.Sessions.cfg.Now()),
		tier.Name, age)
	if err != nil {
		return err
	}
	return h.created(c, job)
}

func (h *Handlers) created(c *fiber.Ctx, job execution.Job) error {
	c.Set(fiber.HeaderLocation, "/api/sessions/"+job.ID)
	c.Status(201)
	return api.Send(c, h.Sessions.viewOf(job))
}

// find returns the session that the path names. Another caller's session does not exist.
func (h *Handlers) find(c *fiber.Ctx) (execution.Job, error) {
	id := api.Param(c, "id")
	if !execution.ValidSessionID(id) {
		return execution.Job{}, notFound()
	}
	job, err := h.Sessions.cfg.Store.Job(c.UserContext(), id)
	if errors.Is(err, execution.ErrNotFound) {
		return job, notFound()
	}
	if err != nil {
		return job, err
	}
	if !api.CallerOf(c).Owns(ownerOf(job)) || h.Sessions.over(job) {
		return execution.Job{}, notFound()
	}
	return job, nil
}

func notFound() error {
	return api.NotFound("there is no session with this id; it may have expired, or have been deleted")
}

// Get serves GET /api/sessions/{id}.
func (h *Handlers) Get(c *fiber.Ctx) error {
	job, err := h.find(c)
	if err != nil {
		return err
	}
	return api.Send(c, h.Sessions.viewOf(job))
}

// Delete serves DELETE /api/sessions/{id}.
func (h *Handlers) Delete(c *fiber.Ctx) error {
	job, err := h.find(c)
	if err != nil {
		return err
	}
	caller := api.CallerOf(c)
	by := execution.Caller{Subject: caller.Subject, Tenant: caller.Tenant, IP: utils.CopyString(c.IP())}
	_, _, err = h.Sessions.cfg.Cancel(c.UserContext(), job.ID, execution.Result{}, by)
	if errors.Is(err, jobs.ErrEnded) || errors.Is(err, execution.ErrNotFound) {
		return notFound()
	}
	if err != nil {
		return err
	}
	return c.SendStatus(204)
}

// Fork serves POST /api/sessions/{id}/fork: it makes a new session from the state of a session.
func (h *Handlers) Fork(c *fiber.Ctx) error {
	var o options
	if len(c.Request().Body()) > 0 {
		if err := api.DecodeSmall(c, &o, "an object with the field maxAge"); err != nil {
			return err
		}
	}
	job, err := h.find(c)
	if err != nil {
		return err
	}
	if o.Policy != "" && o.Policy != job.Wait.Tier {
		return api.Invalid("policy", "must be left out: a fork has the policy of its session")
	}
	tier, err := h.tier(c, job.Wait.Tier)
	if err != nil {
		return err
	}
	age, err := o.ageOf(tier)
	if err != nil {
		return err
	}
	s := api.NewSubmission(c, execution.Request{}, h.Sessions.cfg.Now())
	if job, err = h.Sessions.fork(c.UserContext(), s, job, age); err != nil {
		return err
	}
	return h.created(c, job)
}

// Execute serves POST /api/sessions/{id}/execute: it runs a request as the next step of a session.
func (h *Handlers) Execute(c *fiber.Ctx) error {
	job, err := h.find(c)
	if err != nil {
		return err
	}
	s, err := h.Read(c)
	if err != nil {
		return err
	}
	if s.Request.Policy != "" && s.Request.Policy != job.Wait.Tier {
		return api.Invalid("policy", "must be left out: the policy of the session is "+job.Wait.Tier)
	}
	s.Request.Policy = job.Wait.Tier
	if err := h.Validate(s); err != nil {
		return err
	}
	release, err := h.Sessions.begin(c.UserContext(), job.ID, &s)
	if err != nil {
		return err
	}
	defer release()
	return h.Respond(c, s)
}
