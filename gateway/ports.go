package gateway

import (
	"context"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/scan"
)

// An Invoker runs executions on functions. It is safe for concurrent use.
type Invoker interface {
	// Invoke runs one execution and waits for it. onLog, which may be nil, receives every log as the guest prints it, in
	// order, and is not called after Invoke has returned. While it blocks, the guest waits. When ctx ends, the run is
	// stopped. Errors are *execution.Error.
	Invoke(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error)
	// Ready reports whether an execution could run now.
	Ready(ctx context.Context) error
}

// Records has the audit record of every execution. It may be a records.Index and a records.ChainVerifier, too. It is
// safe for concurrent use.
type Records interface {
	audit.Store
}

// A Decider decides which executions may run, and with what powers. It is pure and safe for concurrent use.
type Decider interface {
	// DecideWith decides by what scanner finds in the code. If scanner fails, there is no decision, and the error is that
	// of scanner.
	DecideWith(ctx context.Context, r policy.Request, scanner scan.Func) (policy.Decision, error)
	// Validate returns the first reason that finds the request itself at fault. It does not scan the code.
	Validate(r policy.Request) (policy.Reason, bool)
	// AnalyzeWith decides about code that does not run now. It finds every syntax error, at the cost of a second parse.
	AnalyzeWith(ctx context.Context, r policy.Request, scanner scan.Func) (policy.Decision, error)
	// Ceiling returns the most that a caller is granted under a tier, whatever the code asks for.
	Ceiling(r policy.Request) policy.Grants
	// Tiers returns the tiers that a request may name.
	Tiers() []policy.Tier
	// Hosts returns the hosts that the deployment opened.
	Hosts() []string
}

// A CodeScanner scans code for the policy where a parser can be stopped: in another process. It is safe for concurrent
// use.
type CodeScanner interface {
	// Scan scans code. It marks a source that it could not finish in time as unanalysed. When ctx ends, it stops soon
	// and uses no more resources. An error means that the code was not scanned at all.
	Scan(ctx context.Context, in scan.Input) (scan.Result, error)
}

// Health is a part of the deployment that GET /readyz checks.
type Health struct {
	Name string
	// Ready reports whether the part works now. It must return within a second.
	Ready func(ctx context.Context) error
	// Optional marks a part without which requests are still served. If it does not work, it shows as degraded, and the
	// gateway stays ready.
	Optional bool
}

// State keeps what outlives the process: saved functions, jobs, deliveries and idempotency keys. It is safe for
// concurrent use. It may report its storage usage, too, by a method Stats.
type State interface {
	registry.Store
	jobs.Store
	schedule.Store
	hooks.Store
	// Ready reports whether the state can be changed now.
	Ready(ctx context.Context) error
}

// measuredRecords are records whose writing is measured.
type measuredRecords struct {
	Records
	writer audit.Appender
}

// Append implements audit.Appender.
func (m measuredRecords) Append(ctx context.Context, r audit.Record) error {
	return m.writer.Append(ctx, r)
}
