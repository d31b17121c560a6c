package mcp

import (
	"context"
	"encoding/json"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/registry"
)

// Caller is the authenticated caller of a tool.
type Caller struct {
	Identity authn.Identity
	IP       string
	// TraceParent is the caller's trace context (W3C), or "".
	TraceParent string
	// Refused, which may be nil, is called if a call was not carried out: it was refused, or ended before its answer.
	Refused func()
	// Arguments are those of the call, if they were cut out of the message because they are long.
	Arguments []byte
	// Decoded, which may be nil, is called when the arguments of a call have been decoded.
	Decoded func()

	long *longAnswer // nil where the SDK encodes answers of any length
}

func (c Caller) decoded() {
	if c.Decoded != nil {
		c.Decoded()
	}
}

// Executor is the gateway as the tools see it. It is safe for concurrent use, and checks what the caller may do.
type Executor interface {
	// Execute runs a request and waits. onLog, which may be nil, receives every log as it is printed. When ctx ends, the
	// run is stopped.
	Execute(
		ctx context.Context, caller Caller, request execution.Request, onLog func(execution.Log),
	) (execution.Result, error)
	// Analyze returns the response of POST /api/analyze.
	Analyze(ctx context.Context, caller Caller, request execution.Request) (json.RawMessage, error)
	// Execution returns what is known of an execution: its result while that is kept, and its audit record.
	Execution(ctx context.Context, caller Caller, id string) (json.RawMessage, error)
}

// Functions are the saved functions. It is safe for concurrent use, and checks what the caller may do.
type Functions interface {
	// ListFunctions returns a page, {"items", "next"}, after a cursor, which is empty for the first page.
	ListFunctions(ctx context.Context, caller Caller, cursor string) (json.RawMessage, error)
	// InvokeFunction runs a version and waits.
	InvokeFunction(
		ctx context.Context, caller Caller, call registry.Call, onLog func(execution.Log),
	) (execution.Result, error)
}

// Approvals are the paused executions. It is safe for concurrent use, and checks what the caller may do.
type Approvals interface {
	// ListPaused returns a page of the executions that wait, {"items", "next"}, after a cursor, which is empty for the
	// first page.
	ListPaused(ctx context.Context, caller Caller, cursor string) (json.RawMessage, error)
	// Asks reports whether the caller may decide about its own executions of a tier.
	Asks(caller Caller, tier string) bool
	// ResumeExecution decides about operations of a paused execution, and waits until it pauses again or has ended. It
	// returns how far the execution is then, or its result.
	ResumeExecution(ctx context.Context, caller Caller, id string, decisions []api.Decision) (json.RawMessage, error)
}

// Sessions are executions whose declarations persist. It is safe for concurrent use, and checks what the caller may do.
type Sessions interface {
	// CreateSession makes a session, or a fork of one, and returns it.
	CreateSession(ctx context.Context, caller Caller, o api.SessionOptions) (json.RawMessage, error)
	// ListSessions returns a page of the caller's sessions, {"items", "next"}, after a cursor, which is empty for the
	// first page.
	ListSessions(ctx context.Context, caller Caller, cursor string) (json.RawMessage, error)
	DeleteSession(ctx context.Context, caller Caller, id string) error
	// ExecuteIn runs a request as the next step of a session, and is otherwise like Executor.Execute.
	ExecuteIn(
		ctx context.Context, caller Caller, session string, request execution.Request, onLog func(execution.Log),
	) (execution.Result, error)
}

// Problem is an error as callers see it: the members of a problem document that matter here.
type Problem struct {
	Code       string `json:"code"`
	Field      string `json:"field,omitempty"`
	Error      string `json:"error"`
	RetryAfter int    `json:"retryAfter,omitempty"` // seconds
	// RetryAfterMs is RetryAfter in the unit that agents compute with.
	RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
}

// Tools finds the remote tools that code can call. It is safe for concurrent use.
type Tools interface {
	// SearchTools returns the tools that match, {"items", "next"}, best first, each with its declaration.
	SearchTools(ctx context.Context, caller Caller, q ToolQuery) (json.RawMessage, error)
	// Namespaces returns what is attached, as far as the caller may use it.
	Namespaces(ctx context.Context, caller Caller) Attached
	// Offers returns what the servers have beside tools, as far as the caller may use it.
	Offers(ctx context.Context, caller Caller) ([]execution.Offers, error)
}

// ToolQuery says which tools are searched for. The zero value means all, up to the default limit.
type ToolQuery struct {
	Query     string `json:"query"`
	Namespace string `json:"namespace"`
	Limit     int    `json:"limit"`
}
