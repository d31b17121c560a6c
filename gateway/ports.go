package gateway

import (
	"context"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// Invoker has executions run by functions. It is safe for concurrent use.
type Invoker interface {
	// Invoke runs one execution and waits for it. onLog, which may be nil, is given every log as the guest prints it, in
	// order and never after Invoke has returned; while it blocks, the guest waits. When ctx ends the run is stopped. Errors
	// are *execution.Error.
	Invoke(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error)
	// Ready reports whether an execution could be run now.
	Ready(ctx context.Context) error
}

// Records keeps the account of every execution. It is safe for concurrent use.
type Records interface {
	audit.Store
}

// Decider says which executions may run, with what powers. It is pure and safe for concurrent use.
type Decider interface {
	// DecideWith has read read the code. Its error is read's: then there is no decision.
	DecideWith(ctx context.Context, ask policy.Ask, read policy.Reader) (policy.Decision, error)
	// AnalyzeWith is DecideWith for code that is not going to run: it finds every syntax error, at the cost of a second parse.
	AnalyzeWith(ctx context.Context, ask policy.Ask, read policy.Reader) (policy.Decision, error)
	// Tiers lists the tiers that an Ask may name.
	Tiers() []policy.Tier
}

// CodeReader reads code for the policy where a parser can be stopped: outside this process. It is safe for concurrent use.
type CodeReader interface {
	// Read reads a text. What it could not finish in time is marked as unanalysed. When ctx ends it stops soon, and costs
	// nothing more. An error means that the text was not read at all.
	Read(ctx context.Context, t policy.Text) (policy.Reading, error)
}

// Health is one more part of the deployment that GET /readyz asks.
type Health struct {
	Name string
	// Ready reports whether the part does its work now. It must answer within a second.
	Ready func(ctx context.Context) error
	// Optional marks a part without which requests are still answered: it shows as degraded, and no request is kept away.
	Optional bool
}

// Limiter counts the requests of callers. It is safe for concurrent use.
type Limiter interface {
	Take(ctx context.Context, key string) (ratelimit.Verdict, error)
}

// Quotas limit each tenant as a whole, whoever of it asks. It is safe for concurrent use.
type Quotas interface {
	// Take counts one request of the tenant. Limit is 0 where nothing limits it.
	Take(ctx context.Context, tenant string) (ratelimit.Verdict, error)
	// Concurrent is how many executions the tenant may have at once; 0 sets no bound.
	Concurrent(tenant string) int
}
