package gateway

import (
	"context"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/scan"
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
	// DecideWith decides by what scanner finds. The error is scanner's; there is no decision then.
	DecideWith(ctx context.Context, r policy.Request, scanner scan.Func) (policy.Decision, error)
	// AnalyzeWith is DecideWith for code that is not going to run. It finds every syntax error, at the cost of a second parse.
	AnalyzeWith(ctx context.Context, r policy.Request, scanner scan.Func) (policy.Decision, error)
	// Tiers returns the tiers that a request may name.
	Tiers() []policy.Tier
}

// A CodeScanner scans code outside this process, where a parser can be stopped. It is safe for concurrent use.
type CodeScanner interface {
	// Scan scans an input. A source that it did not finish in time is marked as unanalysed. It stops soon after ctx ends. An
	// error means that the code was not scanned at all.
	Scan(ctx context.Context, in scan.Input) (scan.Result, error)
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
