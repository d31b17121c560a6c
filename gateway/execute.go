package gateway

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// Job is one execution to be had.
type Job struct {
	Request    execution.Request
	Caller     authn.Identity
	IP         string
	Via        string // execution.ViaHTTP and the like
	ReceivedAt time.Time
	// Function is the saved function that Request is made of; nil when it is none.
	Function *execution.FunctionRef
	// Content is the Sum of the sources of Request, for a saved function; it is worked out when it is empty.
	Content string
	// ID is the execution's; one is made when it is empty.
	ID string
	// Admitted, which may be nil, is called when the execution has its place, or its result without one.
	Admitted func()
	// OnLog, which may be nil, is given every log as the guest prints it.
	OnLog func(execution.Log)
	// TraceParent is the caller's place in a trace (W3C Trace Context), or empty.
	TraceParent string
	// StartBefore is until when a function may begin it; zero is no bound.
	StartBefore time.Time
	// Fresh asks for a run even where the result of an identical one is known.
	Fresh bool
	// called says that somebody is told of the result, and the job knows how far that is.
	called bool
}

// execute is POST /api/execute.
func (s *Server) execute(c *fiber.Ctx) error {
	job, err := s.job(c)
	if err != nil {
		return err
	}
	return s.answer(c, job)
}

// answer runs a job and waits. With an idempotency key the caller means to come back for the answer: hanging up does not
// stop the run.
func (s *Server) answer(c *fiber.Ctx, job Job) error {
	ctx := s.base
	if len(c.Request().Header.Peek("Idempotency-Key")) == 0 {
		attached, release := s.attached(c)
		defer release()
		ctx = attached
	}
	result, err := s.Execute(ctx, job)
	if err != nil {
		return err
	}
	if k, ok := s.kept.Get(result.ID); ok { // it was encoded to be kept
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(k.body)
	}
	return s.send(c, result)
}

// Execute is the main flow. The Result has its audit record when the error is nil. When ctx ends the run is stopped,
// recorded, and its Result says cancelled.
func (s *Server) Execute(ctx context.Context, job Job) (execution.Result, error) {
	job, end := s.span(s.attach(job))
	result, err := s.perform(ctx, job)
	end(result, err)
	return result, err
}

func (s *Server) perform(ctx context.Context, job Job) (execution.Result, error) {
	r, err := s.begin(ctx, job)
	if err != nil && ctx.Err() != nil {
		return s.close(ctx, r, r.cancelled())
	}
	if err != nil {
		return execution.Result{}, err
	}
	if bad, ok := r.decision.BadField(); ok {
		return execution.Result{}, &execution.Error{Code: execution.InvalidRequest, Field: bad.Field, Message: bad.Message}
	}
	if r.decision.Effect != policy.Allow {
		return s.close(ctx, r, r.blocked())
	}
	if result, ok := s.reuse(r); ok {
		return s.close(ctx, r, result)
	}
	s.activity.begin(r)
	defer s.activity.end(r.id)
	place, err := s.place(ctx, r)
	if errors.Is(err, context.Canceled) {
		return s.close(ctx, r, r.cancelled())
	}
	if err != nil {
		return execution.Result{}, err
	}
	defer place.Release()
	s.activity.running(r.id)
	r.admitted()
	reply, err := s.invoke(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		return s.close(ctx, r, r.cancelled())
	case err != nil:
		return execution.Result{}, s.abandon(ctx, r, err)
	case !reply.Recorded:
		return s.close(ctx, r, reply.Result)
	}
	return s.keep(r, reply.Result), nil
}

// place waits in line.
func (s *Server) place(ctx context.Context, r *run) (*queue.Place, error) {
	waiting, cancel := context.WithTimeout(ctx, s.cfg.QueueWait)
	defer cancel()
	place, err := s.queue.AcquireFor(waiting, classOf(r.job.Request.Priority), r.job.Caller.Tenant, r.job.Caller.Subject)
	switch {
	case err == nil:
		r.queued = place.Waited
	case ctx.Err() != nil:
		err = context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		err = &queue.Full{RetryAfter: 5 * time.Second}
	}
	return place, err
}

func classOf(priority string) queue.Class {
	switch priority {
	case "low":
		return queue.Low
	case "high":
		return queue.High
	}
	return queue.Normal
}

// invoke has a function run it, within the tier's time.
func (s *Server) invoke(ctx context.Context, r *run) (execution.Reply, error) {
	running, cancel := context.WithTimeout(ctx, r.decision.Grants.Timeout+s.cfg.Overhead)
	defer cancel()
	r.step(audit.Started)
	defer r.step(audit.Finished)
	reply, err := s.deps.Invoker.Invoke(running, execution.Invocation{
		Servers: execution.ServersOf(r.job.Request.Tools),
		Airlock: execution.InvocationVersion, ID: r.id, Request: r.job.Request, Via: r.job.Via,
		Caller:     execution.Caller{Subject: r.job.Caller.Subject, Tenant: r.job.Caller.Tenant, IP: r.job.IP},
		ReceivedAt: r.job.ReceivedAt, QueueMs: milliseconds(r.queued), Scopes: restricting(r.job.Caller.Scopes),
		TraceParent: r.job.TraceParent, Function: r.job.Function, Content: r.job.Content, StartBefore: r.job.StartBefore,
		Decision: r.decided,
	}, r.job.OnLog)
	if err == nil {
		s.learnStart(ctx, r, reply.Result)
	}
	if err == nil && reply.Result.ID != r.id && reply.Result.ID != "" {
		err = &execution.Error{Code: execution.Internal, Message: "the function answered for another execution"}
	}
	return reply, err
}

// restricting picks the scopes that the function's policy must know too; all others are for the gateway's doors.
func restricting(scopes []string) []string {
	var out []string
	for _, s := range scopes {
		kind, _, _ := strings.Cut(s, ":")
		switch kind {
		case "tier", "host", "secret", "tool":
			out = append(out, s)
		}
	}
	return out
}

// close ends a run whose record the gateway owes: no record, no result.
func (s *Server) close(ctx context.Context, r *run, result execution.Result) (execution.Result, error) {
	result = r.completed(result)
	if err := s.append(ctx, r.record(result, s.cfg.KeepCode)); err != nil {
		return execution.Result{}, err
	}
	return s.keep(r, result), nil
}

// abandon records a run that the platform lost, and gives the error for its caller.
func (s *Server) abandon(ctx context.Context, r *run, lost error) error {
	var public *execution.Error
	if errors.As(lost, &public) && (public.Code == execution.InvalidRequest || public.Code == execution.Throttled || public.Code == execution.TooLarge) {
		return lost
	}
	message := "the execution was lost inside the platform"
	if public != nil {
		message = public.Message
	}
	result := r.completed(execution.Result{Status: execution.Failed, Error: &message})
	if err := s.append(ctx, r.record(result, s.cfg.KeepCode)); err != nil {
		return errors.Join(err, lost)
	}
	return lost
}

// append writes a record whatever became of the caller. A function that died after it had recorded has done it already;
// when its record says something else than the answer would, there is no answer.
func (s *Server) append(ctx context.Context, record audit.Record) error {
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.WriteTimeout)
	defer cancel()
	if s.deps.Redact != nil {
		s.deps.Redact(&record)
	}
	err := s.deps.Records.Append(writing, record)
	if err == nil {
		return nil
	}
	if errors.Is(err, audit.ErrExists) {
		if have, err := s.deps.Records.Get(writing, record.ID); err == nil && have.Status == record.Status {
			return nil
		}
		return &execution.Error{
			Code: execution.Unavailable, Message: "the execution ended and was recorded, and its result was lost on the way; its record is " + record.ID,
		}
	}
	return &execution.Error{
		Code: execution.Unrecorded, Err: err, RetryAfter: 5 * time.Second,
		Message: "the execution could not be recorded, and its result is withheld; try again",
	}
}

// keep counts a finished run and puts its result where GET /api/result finds it.
func (s *Server) keep(r *run, result execution.Result) execution.Result {
	result = r.completed(result)
	s.meter.Observe(sample(result))
	s.activity.happened()
	body, err := encode(result)
	if err == nil {
		s.kept.Put(r.job.Caller.Owner(), result.ID, kept{owner: r.job.Caller.Owner(), body: body, job: r.job.called}, len(body))
		s.learn(r, result, len(body))
	}
	return result
}
