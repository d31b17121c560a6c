package runner

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// A Sandbox runs one script in a fresh guest. *sandbox.Engine implements it. One that can continue a run that parked is
// a [Resumer], and one that keeps sessions a [Stepper], too.
type Sandbox interface {
	Run(ctx context.Context, script sandbox.Script, grants sandbox.Grants) (sandbox.Result, error)
}

// A Resumer continues a run that parked, in a fresh guest. *sandbox.Engine implements it.
type Resumer interface {
	Resume(ctx context.Context, snapshot []byte, answers []sandbox.Answer, script sandbox.Script,
		grants sandbox.Grants) (sandbox.Result, error)
}

// A Stepper runs a script as a step of a session, in a fresh guest. *sandbox.Engine implements it.
type Stepper interface {
	Step(ctx context.Context, from []byte, script sandbox.Script, grants sandbox.Grants) (sandbox.Result, error)
}

// A Decider decides whether an execution may run and with which grants. *policy.Set implements it.
type Decider interface {
	Decide(ask policy.Request) policy.Decision
}

// RemoteTools are the tools of the servers that the deployment attaches.
type RemoteTools interface {
	// Begin returns the calls of one execution.
	Begin() ToolCalls
}

// ToolCalls are one execution's calls of remote tools.
type ToolCalls interface {
	// Tool returns how to call a tool and the time that one call may take. ok is false if no server has the tool.
	Tool(name string) (call CallVia, timeout time.Duration, ok bool)
	// Server identifies the server of a tool; "" if no server has it.
	Server(tool string) string
	// Close ends the sessions that the calls opened.
	Close()
}

// Config configures a Runner. Sandbox, Policy and Records are required.
type Config struct {
	Sandbox Sandbox
	Policy  Decider
	Records audit.Appender
	// MaxMemoryBytes lowers the memory of every tier; 0 leaves the tiers as they are.
	MaxMemoryBytes int64
	// KeepCode records the code and the whole request, which replay needs, and not only the code's hash.
	KeepCode bool
	// Secret returns the value of a secret that the policy names, or "". Neither guests nor records see values. The
	// default has no secrets.
	Secret func(name string) string
	// RemoteTools calls tools that have no URL of their own; nil calls none.
	RemoteTools RemoteTools
	// Packages are the packages of the deployment. The policy grants them by name.
	Packages []sandbox.Package
	// CallTool calls the tools of the caller; nil refuses requests that have any.
	CallTool execution.CallTool
	// Redact removes secrets from a record before it is stored; nil changes nothing.
	Redact func(*audit.Record)
	// EngineBuild is the build that Sandbox runs. OpenBuild opens another for the replay of a record, or for the snapshot
	// of a run, that names it, and may return the same Sandbox again. Nil refuses such a replay or snapshot.
	EngineBuild string
	OpenBuild   func(ctx context.Context, build string) (Sandbox, error)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Log receives the causes of platform failures, which callers do not see; the default discards them.
	Log *slog.Logger
}

// A Runner runs invocations. It is safe for concurrent use.
type Runner struct {
	cfg     Config
	sources sourceCache
}

// New returns a Runner, or an error if cfg is incomplete.
func New(cfg Config) (*Runner, error) {
	switch {
	case cfg.Sandbox == nil:
		return nil, errors.New("runner: Sandbox is not set")
	case cfg.Policy == nil:
		return nil, errors.New("runner: Policy is not set")
	case cfg.Records == nil:
		return nil, errors.New("runner: Records is not set")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Secret == nil {
		cfg.Secret = func(string) string { return "" }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{cfg: cfg}, nil
}

// Run runs one invocation: it decides, runs the code and records. onLog, which may be nil, is called for each console
// call as it happens. Errors are of type *execution.Error. If ctx is cancelled, the guest is stopped and the
// execution recorded as cancelled.
func (r *Runner) Run(ctx context.Context, inv execution.Invocation,
	onLog func(execution.Log)) (execution.Result, error) {
	if len(inv.Replay) > 0 {
		return r.replayed(ctx, inv)
	}
	codeSHA256, err := r.sources.complete(&inv)
	if err != nil {
		return execution.Result{}, err
	}
	o := &outcome{inv: inv, now: r.cfg.Now, keepCode: r.cfg.KeepCode, maxMemory: r.cfg.MaxMemoryBytes,
		codeSHA256: codeSHA256}
	if o.inv.ReceivedAt.IsZero() {
		o.inv.ReceivedAt = r.cfg.Now()
	}
	if !inv.StartBefore.IsZero() {
		o.began = r.cfg.Now()
	}
	o.custody = append(o.custody, audit.Step{Step: audit.Received})
	o.decision = r.cfg.Policy.Decide(governance.PolicyRequest(inv))
	o.step(audit.Decided)
	if bad, ok := o.decision.BadField(); ok {
		return execution.Result{}, &execution.Error{Code: execution.InvalidRequest, Field: bad.Field, Message: bad.Message}
	}
	if err := shallow(inv.Request, o.decision.Grants.Depth); err != nil && o.decision.Effect == policy.Allow {
		return execution.Result{}, err
	}
	var result execution.Result
	if o.decision.Effect != policy.Allow {
		result = o.blocked()
	} else {
		if result, err = r.sandboxed(ctx, o, onLog); err != nil {
			return execution.Result{}, err
		}
	}
	return r.recorded(ctx, o, result)
}

func (r *Runner) sandboxed(ctx context.Context, o *outcome, onLog func(execution.Log)) (execution.Result, error) {
	if r.cfg.CallTool == nil {
		if err := execution.CheckCallerTools(o.inv.Request.Tools, noCaller); err != nil {
			return execution.Result{}, err
		}
	}
	if err := o.narrow(); err != nil {
		o.step(audit.Finished)
		return o.lost("the snapshot of the execution is not valid"), nil
	}
	calls := r.callsOf(o.inv)
	defer calls.Close()
	grants, err := r.grantsOf(o.decision.Grants, o.inv.Request, o.inv.Segments, calls)
	if err != nil {
		return execution.Result{}, err
	}
	if onLog != nil {
		grants.OnLog = func(l sandbox.Log) { onLog(logOf(l)) }
	}
	o.step(audit.Started)
	script := scriptOf(o.inv)
	script.Engine = o.decision.Grants.Engine
	out, err := segment(ctx, r.builtBy(ctx, o.inv.Segments), o.inv.Segments, script, grants)
	if reason, stays := unresumable(err, o.inv.Session != nil); stays {
		o.step(audit.Finished)
		return o.lost(reason), nil
	}
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "sandbox failed", "id", o.inv.ID, "err", err)
		return execution.Result{}, &execution.Error{Code: execution.Internal, Message: "the sandbox could not run the code",
			Err: err}
	}
	o.step(audit.Finished)
	o.seed = out.Seed
	if !out.Pure {
		o.journal = out.Journal
	}
	return o.result(out), nil
}

// recorded stores the record and then returns result. If the record cannot be stored, it withholds the result. A
// caller that hangs up does not cancel the record. The record of an execution that another function may run again is
// stored before that, or not at all.
func (r *Runner) recorded(ctx context.Context, o *outcome, result execution.Result) (execution.Result, error) {
	record := o.record(result)
	if r.cfg.Redact != nil {
		r.cfg.Redact(&record)
	}
	storing := context.WithoutCancel(ctx)
	if !o.began.IsZero() {
		left := o.decision.Grants.Timeout + execution.Grace - r.cfg.Now().Sub(o.began)
		bounded, cancel := context.WithTimeout(storing, left)
		defer cancel()
		storing = bounded
	}
	if err := r.cfg.Records.Append(storing, record); err != nil {
		r.cfg.Log.ErrorContext(ctx, "audit record not written, result withheld", "id", o.inv.ID, "err", err)
		return execution.Result{}, &execution.Error{
			Code: execution.Unrecorded, Message: "the execution's audit record could not be written; its result is withheld",
			Err: err,
		}
	}
	return result, nil
}
