package runner

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// Sandbox runs one script in a fresh guest. *sandbox.Engine is one.
type Sandbox interface {
	Run(ctx context.Context, script sandbox.Script, grants sandbox.Grants) (sandbox.Result, error)
}

// Decider says whether an execution may run and with what powers. *policy.Set is one.
type Decider interface {
	Decide(ask policy.Request) policy.Decision
}

// Attached is how the tools of servers are called that the deployment attaches.
type Attached interface {
	// Begin gives what one execution has of them.
	Begin() Calls
}

// Calls are one execution's calls of attached tools.
type Calls interface {
	// Tool gives how a tool is called over a network, and how long one call may take; ok is false when it is not attached.
	Tool(name string) (over func(http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error), timeout time.Duration, ok bool)
	// Server identifies the server that a tool is of; "" when it is not attached.
	Server(tool string) string
	// Close ends what the calls began.
	Close()
}

// Config configures a Runner. Sandbox, Policy and Records are required.
type Config struct {
	Sandbox Sandbox
	Policy  Decider
	Records audit.Appender
	// MaxMemoryBytes lowers what any tier gives a guest; 0 leaves the tiers as they are.
	MaxMemoryBytes int64
	// KeepCode stores the code and the whole request in the record, which replay needs, in place of the code's hash alone.
	KeepCode bool
	// Secret gives the value of a secret that the policy names, "" where there is none; default none. Guests never see
	// values, and neither do records.
	Secret func(name string) string
	// Attached calls tools without a URL of their own; nil calls none.
	Attached Attached
	// Redact takes secrets out of a record before it is stored; nil changes nothing.
	Redact func(*audit.Record)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Log receives the causes of platform failures, which callers are not told; default none.
	Log *slog.Logger
}

// Runner runs invocations. It is safe for concurrent use.
type Runner struct {
	cfg   Config
	shelf shelf
}

// New checks cfg.
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

// Run executes one invocation: it decides, runs and records. onLog, which may be nil, is called for each console call as
// it happens. Errors are *execution.Error. When ctx is cancelled the guest is stopped and the execution recorded as
// cancelled.
func (r *Runner) Run(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Result, error) {
	if len(inv.Replay) > 0 {
		return r.replayed(ctx, inv)
	}
	codeSHA256, err := r.shelf.complete(&inv)
	if err != nil {
		return execution.Result{}, err
	}
	a := &account{inv: inv, now: r.cfg.Now, keepCode: r.cfg.KeepCode, codeSHA256: codeSHA256}
	if a.inv.ReceivedAt.IsZero() {
		a.inv.ReceivedAt = r.cfg.Now()
	}
	a.custody = append(a.custody, audit.Step{Step: audit.Received})
	a.decision = r.cfg.Policy.Decide(Ask(inv))
	a.step(audit.Decided)
	if bad, ok := a.decision.BadField(); ok {
		return execution.Result{}, &execution.Error{Code: execution.InvalidRequest, Field: bad.Field, Message: bad.Message}
	}
	if err := shallow(inv.Request, a.decision.Grants.Depth); err != nil && a.decision.Effect == policy.Allow {
		return execution.Result{}, err
	}
	var result execution.Result
	if a.decision.Effect != policy.Allow {
		result = a.blocked()
	} else {
		if result, err = r.sandboxed(ctx, a, onLog); err != nil {
			return execution.Result{}, err
		}
	}
	return r.recorded(ctx, a, result)
}

func (r *Runner) sandboxed(ctx context.Context, a *account, onLog func(execution.Log)) (execution.Result, error) {
	calls := r.callsOf(a.inv)
	defer calls.Close()
	grants, err := r.grantsOf(a.decision.Grants, a.inv.Request, calls)
	if err != nil {
		return execution.Result{}, err
	}
	if onLog != nil {
		grants.OnLog = func(l sandbox.Log) { onLog(logOf(l)) }
	}
	a.step(audit.Started)
	out, err := r.cfg.Sandbox.Run(ctx, scriptOf(a.inv), grants)
	if err != nil {
		r.cfg.Log.ErrorContext(ctx, "sandbox failed", "id", a.inv.ID, "err", err)
		return execution.Result{}, &execution.Error{Code: execution.Internal, Message: "the sandbox could not run the code", Err: err}
	}
	a.step(audit.Finished)
	a.seed = out.Seed
	if !out.Pure {
		a.journal = out.Journal
	}
	return a.result(out), nil
}

// recorded gives result only when its record is safe. A caller that hangs up loses no record.
func (r *Runner) recorded(ctx context.Context, a *account, result execution.Result) (execution.Result, error) {
	record := a.record(result)
	if r.cfg.Redact != nil {
		r.cfg.Redact(&record)
	}
	if err := r.cfg.Records.Append(context.WithoutCancel(ctx), record); err != nil {
		r.cfg.Log.ErrorContext(ctx, "audit record not written, result withheld", "id", a.inv.ID, "err", err)
		return execution.Result{}, &execution.Error{
			Code: execution.Unrecorded, Message: "the execution's audit record could not be written; its result is withheld", Err: err,
		}
	}
	return result, nil
}
