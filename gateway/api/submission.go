package api

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	fast "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
)

// A Submission asks for one execution. Every handler that runs code makes one: from a body, a saved function, a
// webhook, a schedule, a stored job, or the call of an agent.
type Submission struct {
	Request    execution.Request
	Caller     authn.Identity
	IP         string
	Via        string // execution.ViaHTTP and the like
	ReceivedAt time.Time
	// Function is the saved function that Request was made from, or nil.
	Function *execution.FunctionRef
	// Content is the hash of the sources of a saved function. If empty, it is computed.
	Content string
	// ID is the id of the execution. If empty, one is made.
	ID string
	// TraceParent is the caller's place in a trace (W3C Trace Context), or "".
	TraceParent string
	// StartBefore, which may be nil, returns the time until which a function may begin the execution now. Zero means no
	// bound.
	StartBefore func() time.Time
	// Resume says which part of which execution runs, if the execution has paused before. ID is then that of the segment.
	Resume *execution.Resume
	// Waits says that the execution may pause. If Stored is set, it is a stored job, and its result then holds the
	// snapshot. Otherwise the executor stores it as a job.
	Waits, Stored bool
	// Session makes the execution a step of a session. KeepStep then keeps the snapshot in its result for the next step.
	// If it fails, the caller does not get the result.
	Session  *execution.SessionStep
	KeepStep func(ctx context.Context, result execution.Result) error
	// Fresh demands a run even where the result of an identical execution is known.
	Fresh bool
	// Admitted, which may be nil, is called when the execution has its place in the queue, or its result without one.
	Admitted func()
	// OnLog, which may be nil, receives each log as the guest prints it.
	OnLog func(execution.Log)
	// RequestLost says that the store has lost the request. The execution can only end.
	RequestLost bool
	// CallTool calls the tools of the caller. Nil refuses a request that has any.
	CallTool execution.CallTool
}

// NewSubmission returns the submission of an HTTP request.
func NewSubmission(c *fiber.Ctx, request execution.Request, received time.Time) Submission {
	return Submission{
		Request: request, Caller: CallerOf(c), IP: utils.CopyString(c.IP()), Via: execution.ViaHTTP,
		ReceivedAt: received.UTC(), TraceParent: TraceParent(c), Waits: true,
		Fresh: hasDirective(c.Get(fiber.HeaderCacheControl), "no-store"),
	}
}

// CheckPriority refuses a priority that the caller may not ask for.
func CheckPriority(caller authn.Identity, request execution.Request) error {
	if request.Priority == "high" && !caller.May(authn.Priority) {
		return MissingScope(authn.Priority)
	}
	return nil
}

// An Executor runs submissions. It is safe for concurrent use.
type Executor interface {
	// Execute runs a submission and waits. If the error is nil, the result has its audit record. If ctx ends, the run is
	// stopped and recorded, and its result says cancelled. With an error, the result has no status; it holds the ID and
	// what the policy decided.
	Execute(ctx context.Context, s Submission) (execution.Result, error)
}

// A Decision decides about an operation that a paused execution waits for.
type Decision struct {
	Seq      int             `json:"seq"`
	Decision string          `json:"decision"`
	Args     json.RawMessage `json:"args,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}

// DecodeDecisions decodes a list of decisions. Duplicate names in it were refused before. A list of too many is refused
// before they take memory.
func DecodeDecisions(text []byte) (decisions []Decision, err error) {
	if execution.HasMore(text, execution.MaxWaiting) {
		return nil, WrongDecisions()
	}
	once, known := jsontext.AllowDuplicateNames(true), fast.RejectUnknownMembers(true)
	if err := fast.Unmarshal(text, &decisions, once, known); err != nil {
		return nil, Invalid("decisions", "must be a list of objects with the members seq, decision, args, value, reason")
	}
	return decisions, nil
}

// WrongDecisions returns the error of no decisions, or of too many.
func WrongDecisions() error {
	return Invalid("decisions", "must have 1 to "+strconv.Itoa(execution.MaxWaiting)+" entries")
}

// SessionOptions say what session a caller wants.
type SessionOptions struct {
	Policy string `json:"policy"`
	// MaxAge is in milliseconds; nil means the default.
	MaxAge *float64 `json:"maxAge"`
	// From is the ID of the session that the new one is a fork of, if any. Step is the completed step whose state the
	// fork begins with; nil means the last.
	From string `json:"from"`
	Step *int   `json:"step"`
}
