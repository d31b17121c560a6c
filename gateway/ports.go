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
	Decide(ask policy.Ask) policy.Decision
	// AnalyzeAsk is Decide for code that is not going to run: it finds every syntax error, at the cost of a second parse.
	AnalyzeAsk(ask policy.Ask) policy.Decision
	// Tiers lists the tiers that an Ask may name.
	Tiers() []policy.Tier
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
