package runner

import (
	"context"
	"errors"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

// waitsOf returns how a run may wait. A step of a session may not, but its snapshot has the same limit.
func waitsOf(w policy.Waits, s execution.Segments) sandbox.Waits {
	out := sandbox.Waits{MaxPending: w.MaxPending, MaxImageBytes: w.MaxImageBytes}
	switch {
	case s.Session != nil:
		out.MaxPending, out.Hint = 0, "a step of a session cannot wait: run this code outside a session"
	case s.Waits:
		out.Hint = "the policies standard, extended and agent grant waiting"
	default:
		out.Hint = "nobody keeps this execution while it waits: run it through a gateway that has state"
	}
	return out
}

// segment runs a script from its start, as a step of a session or, if the resume has a snapshot, continues it.
func segment(
	ctx context.Context, s Sandbox, of execution.Segments, script sandbox.Script, grants sandbox.Grants,
) (sandbox.Result, error) {
	if step := of.Session; step != nil {
		stepper, ok := s.(Stepper)
		if !ok {
			return sandbox.Result{}, errors.New("this sandbox does not support sessions")
		}
		return stepper.Step(ctx, step.Snapshot, script, grants)
	}
	resume := of.Resume
	if resume == nil || len(resume.Snapshot) == 0 {
		return s.Run(ctx, script, grants)
	}
	resumer, ok := s.(Resumer)
	if !ok {
		return sandbox.Result{}, errors.New("this sandbox cannot continue a run")
	}
	answers := make([]sandbox.Answer, len(resume.Answers))
	for i, a := range resume.Answers {
		answers[i] = sandbox.Answer{Seq: a.Seq, Value: a.Value, Error: a.Error, ErrorName: a.ErrorName, Call: a.Call,
			Args: a.Args}
	}
	out, err := resumer.Resume(ctx, resume.Snapshot, answers, script, grants)
	if !errors.Is(err, sandbox.ErrAnswer) {
		return out, err
	}
	// Nothing has run. The guest learns that a value from outside was not what it asked for.
	for i, a := range answers {
		if a.Value != nil {
			answers[i] = sandbox.Answer{Seq: a.Seq, Error: err.Error(), ErrorName: "TypeError"}
		}
	}
	return resumer.Resume(ctx, resume.Snapshot, answers, script, grants)
}

// builtBy returns the sandbox of the engine build that made the snapshot of an invocation, if it can be opened.
// Otherwise it returns the sandbox of new runs, which refuses the snapshot.
func (r *Runner) builtBy(ctx context.Context, of execution.Segments) Sandbox {
	build := ""
	switch {
	case of.Session != nil:
		build = of.Session.EngineBuild
	case of.Resume != nil:
		build = of.Resume.EngineBuild
	}
	if build == "" || build == r.cfg.EngineBuild || r.cfg.OpenBuild == nil {
		return r.cfg.Sandbox
	}
	other, err := r.cfg.OpenBuild(ctx, build)
	if err != nil {
		r.cfg.Log.WarnContext(ctx, "the engine build of a snapshot cannot be opened", "build", build, "err", err)
		return r.cfg.Sandbox
	}
	return other
}

// unresumable returns why an execution can never continue from its snapshot.
func unresumable(err error, session bool) (reason string, is bool) {
	switch {
	case errors.Is(err, sandbox.ErrEngineChanged) && session:
		return "engine_changed: the session is of another build of the engine and cannot continue on this one", true
	case errors.Is(err, sandbox.ErrSnapshot) && session:
		return "the snapshot of the session is not valid", true
	case errors.Is(err, sandbox.ErrEngineChanged):
		return "engine_changed: the execution paused on another build of the engine and cannot continue on this one", true
	case errors.Is(err, sandbox.ErrSnapshot):
		return "the snapshot of the execution is not valid", true
	case errors.Is(err, sandbox.ErrNotPending):
		return "the execution does not wait for what was answered", true
	case errors.Is(err, sandbox.ErrAnswer):
		return err.Error(), true
	}
	return "", false
}

// lost returns the result of an execution that cannot continue.
func (o *outcome) lost(reason string) execution.Result {
	r := o.base()
	r.Status, r.Error = execution.Failed, &reason
	return r
}

// waiting returns what a run that parked waits for.
func waiting(parked *sandbox.Parked) []execution.Waiting {
	out := make([]execution.Waiting, len(parked.Waiting))
	for i, w := range parked.Waiting {
		out[i] = execution.Waiting{Seq: w.Seq, Kind: w.Kind, Tool: w.Tool, Args: w.Args, Name: w.Name, Title: w.Title,
			Detail: w.Detail, Schema: w.Schema, DueAt: w.DueAt, ExpiresAt: w.ExpiresAt}
	}
	return out
}
