package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy"
)

// view is a session as callers see it.
type view struct {
	ID     string `json:"id"`
	Policy string `json:"policy"`
	// Steps is the number of completed steps, and Earliest the first of them that a fork can begin after.
	Steps     int    `json:"steps"`
	Earliest  int    `json:"earliest"`
	Running   bool   `json:"running"`
	CreatedAt string `json:"createdAt"`
	ChangedAt string `json:"changedAt"`
	ExpiresAt string `json:"expiresAt"`
	// Bytes is the size of the stored snapshots. Lists leave it out.
	Bytes *int `json:"bytes,omitempty"`
}

func (s *Sessions) viewOf(job execution.Job) view {
	v := s.listed(job)
	v.Bytes = new(max(len(job.Snapshot), job.SnapshotBytes))
	return v
}

// listed returns a session as a list shows it.
func (s *Sessions) listed(job execution.Job) view {
	w := job.Wait
	return view{
		ID: job.ID, Policy: w.Tier, Steps: w.Segment, Earliest: earliest(job), Running: w.Session.Runs(s.cfg.Now()),
		CreatedAt: api.Stamp(w.Since), ChangedAt: api.Stamp(w.Changed), ExpiresAt: api.Stamp(w.ExpiresAt),
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
	// Ceiling returns the most that the policy grants the caller of a submission under its tier.
	Ceiling func(s api.Submission) policy.Grants
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

// defaultAge is how long a session exists unless its caller or its tier says otherwise.
const defaultAge = 24 * time.Hour

// ageOf returns how long a session of a tier may exist.
func ageOf(o api.SessionOptions, tier policy.Tier) (time.Duration, error) {
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

// tier returns the tier of a session for the caller of a submission.
func (h *Handlers) tier(s api.Submission, name string) (policy.Tier, error) {
	if name == "" {
		name = policy.DefaultTier
	}
	s.Request = execution.Request{Code: "0", Policy: name}
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

// make makes a session, or a fork of one, for the caller of a submission.
func (h *Handlers) make(ctx context.Context, from api.Submission, o api.SessionOptions) (execution.Job, error) {
	var job execution.Job
	if o.From != "" {
		found, err := h.find(ctx, from.Caller, o.From)
		if err != nil {
			return job, err
		}
		if job = found; o.Policy != "" && o.Policy != job.Wait.Tier {
			return job, api.Invalid("policy", "must be left out: a fork has the policy of its session")
		}
		o.Policy = job.Wait.Tier
	}
	tier, err := h.tier(from, o.Policy)
	if err != nil {
		return job, err
	}
	age, err := ageOf(o, tier)
	switch {
	case err != nil:
		return job, err
	case o.From == "" && o.Step != nil:
		return job, api.Invalid("step", "belongs to a fork")
	}
	made := h.Sessions.newJob(from, tier.Name, age)
	if made.Wait.Session.Granted, err = h.granted(from, tier.Name, job); err != nil {
		return made, err
	}
	if o.From == "" {
		return made, h.Sessions.store(ctx, made)
	}
	step, err := stepOf(o, job)
	if err != nil {
		return job, err
	}
	return h.Sessions.fork(ctx, made, job, step)
}

// granted returns the most that the steps of a new session may be granted. of is the session that it is a fork of.
func (h *Handlers) granted(from api.Submission, tier string, of execution.Job) (json.RawMessage, error) {
	from.Request = execution.Request{Code: "0", Policy: tier}
	from.Waits = true
	most := h.Ceiling(from)
	if of.Wait != nil {
		before := execution.SessionStep{Granted: of.Wait.Session.Granted}
		var err error
		if most, _, err = governance.Narrowed(most, execution.Segments{Session: &before}); err != nil {
			return nil, unreadable(err)
		}
	}
	return governance.EncodeGrants(most), nil
}

// stepOf returns the step of a session that a fork begins after.
func stepOf(o api.SessionOptions, job execution.Job) (int, error) {
	first, last := earliest(job), job.Wait.Segment
	if o.Step == nil {
		return last, nil
	}
	if *o.Step == 0 || *o.Step >= first && *o.Step <= last {
		return *o.Step, nil
	}
	return 0, api.Invalid("step", "must be 0, which makes an empty session, or a whole number from "+
		strconv.Itoa(first)+" to "+strconv.Itoa(last)+": the steps whose state is kept")
}

// Create serves POST /api/sessions.
func (h *Handlers) Create(c *fiber.Ctx) error {
	var body struct {
		Policy string   `json:"policy"`
		MaxAge *float64 `json:"maxAge"`
	}
	if err := api.DecodeSmall(c, &body, "an object with the fields policy and maxAge"); err != nil {
		return err
	}
	return h.create(c, api.SessionOptions{Policy: body.Policy, MaxAge: body.MaxAge})
}

// Fork serves POST /api/sessions/{id}/fork: it makes a new session from the state of a session after one of its steps.
func (h *Handlers) Fork(c *fiber.Ctx) error {
	var body struct {
		Policy string   `json:"policy"`
		MaxAge *float64 `json:"maxAge"`
		Step   *int     `json:"step"`
	}
	if len(c.Request().Body()) > 0 {
		if err := api.DecodeSmall(c, &body, "an object with the fields step and maxAge"); err != nil {
			return err
		}
	}
	return h.create(c, api.SessionOptions{
		Policy: body.Policy, MaxAge: body.MaxAge, From: api.Param(c, "id"), Step: body.Step,
	})
}

// create makes a session and responds with it.
func (h *Handlers) create(c *fiber.Ctx, o api.SessionOptions) error {
	job, err := h.make(c.UserContext(), api.NewSubmission(c, execution.Request{}, h.Sessions.cfg.Now()), o)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderLocation, "/api/sessions/"+job.ID)
	c.Status(201)
	return api.Send(c, h.Sessions.viewOf(job))
}

// find returns a session of a caller without its snapshots. Another caller's session does not exist.
func (h *Handlers) find(ctx context.Context, caller authn.Identity, id string) (execution.Job, error) {
	if !execution.ValidSessionID(id) {
		return execution.Job{}, notFound()
	}
	job, err := h.Sessions.cfg.Store.JobState(ctx, id)
	if errors.Is(err, execution.ErrNotFound) {
		return job, notFound()
	}
	if err != nil {
		return job, err
	}
	if !caller.Owns(ownerOf(job)) || h.Sessions.over(job) {
		return execution.Job{}, notFound()
	}
	return job, nil
}

func notFound() error {
	return api.NotFound("there is no session with this id; it may have expired, or have been deleted")
}

// Get serves GET /api/sessions/{id}.
func (h *Handlers) Get(c *fiber.Ctx) error {
	job, err := h.find(c.UserContext(), api.CallerOf(c), api.Param(c, "id"))
	if err != nil {
		return err
	}
	return api.Send(c, h.Sessions.viewOf(job))
}

// Delete serves DELETE /api/sessions/{id}.
func (h *Handlers) Delete(c *fiber.Ctx) error {
	if err := h.End(c.UserContext(), api.CallerOf(c), c.IP(), api.Param(c, "id")); err != nil {
		return err
	}
	return c.SendStatus(204)
}

// Execute serves POST /api/sessions/{id}/execute: it runs a request as the next step of a session.
func (h *Handlers) Execute(c *fiber.Ctx) error {
	// A session that does not exist is not found, whatever the body.
	job, err := h.find(c.UserContext(), api.CallerOf(c), api.Param(c, "id"))
	if err != nil {
		return err
	}
	s, err := h.Read(c)
	if err != nil {
		return err
	}
	release, err := h.begin(c.UserContext(), job, &s)
	if err != nil {
		return err
	}
	defer release()
	return h.Respond(c, s)
}

// begin makes a submission the next step of a session. release must be called when the step has ended.
func (h *Handlers) begin(ctx context.Context, job execution.Job, s *api.Submission) (release func(), err error) {
	if s.Request.Policy != "" && s.Request.Policy != job.Wait.Tier {
		return nil, api.Invalid("policy", "must be left out: the policy of the session is "+job.Wait.Tier)
	}
	s.Request.Policy = job.Wait.Tier
	if err := h.Validate(*s); err != nil {
		return nil, err
	}
	return h.Sessions.begin(ctx, job.ID, s)
}
