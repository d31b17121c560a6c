package execution

import (
	"bytes"
	"encoding/json"
	"time"
)

// The ways in, as they appear in [Invocation.Via] and in the audit record. Codes are append-only.
const (
	ViaHTTP   = "http"
	ViaMCP    = "mcp"
	ViaHook   = "hook"
	ViaLambda = "lambda"
	ViaCLI    = "cli"
	// ViaSchedule: a saved function ran by the clock.
	ViaSchedule = "schedule"
)

// InvocationVersion is the value of [Invocation.Airlock] that this code writes and accepts.
const InvocationVersion = 1

// Invocation is a Request on its way from a gateway to a function. The function trusts none of it more than a bare
// Request: it decides by its own policy.
type Invocation struct {
	// Airlock marks the envelope and carries its version. A payload without it is a bare Request.
	Airlock int     `json:"airlock"`
	ID      string  `json:"id"`
	Request Request `json:"request"`
	Caller  Caller  `json:"caller"`
	Via     string  `json:"via"`
	// ReceivedAt is when the gateway had read the request; QueueMs how long it then waited for a place.
	ReceivedAt time.Time `json:"receivedAt"`
	QueueMs    float64   `json:"queueMs"`
	// Stream asks for a sequence of Event lines in place of one Result.
	Stream bool `json:"stream,omitempty"`
	// Scopes are those of the caller's token that restrict what the policy grants ("tier:NAME", "host:PATTERN", …), so
	// that the function's decision is as narrow as the gateway's. They never widen anything.
	Scopes []string `json:"scopes,omitempty"`
	// TraceParent is the execution's place in a trace (W3C Trace Context, version 00), or empty.
	TraceParent string `json:"traceParent,omitempty"`
	// Function is the saved function that Request is made of; nil when it is none.
	Function *FunctionRef `json:"function,omitempty"`
	// Content is the [Sources.Sum] of Request, for a saved function. Request may then come without its sources: a function
	// that has met them before, for the same tenant, takes those, and any other answers [SourcesNeeded].
	Content string `json:"content,omitempty"`
	// StartBefore is until when the execution may begin; zero is no bound. A function that is asked later answers [Throttled]:
	// whoever asked may have been given up for dead, and the execution to somebody else.
	StartBefore time.Time `json:"startBefore,omitzero"`
	// Servers identifies, by namespace, the attached servers whose tools were granted. A call of a tool whose namespace has
	// another server by then is refused.
	Servers map[string]string `json:"servers,omitempty"`
	// Replay is the audit record of an execution that is to be run again as it is recorded; Request then says nothing.
	// Nothing outside is reached, and nothing is recorded. The Result is that of the run, under ID.
	Replay json.RawMessage `json:"replay,omitempty"`
	// Decision, which may be nil, returns what the gateway's own policy decided, for an invoker that writes the record. It
	// does not travel.
	Decision func() Decision `json:"-"`
}

// Decision is what a policy decided, as an audit record has it.
type Decision struct {
	Grants, DangerAnalysis, ASTTelemetry json.RawMessage
	Reasons                              []string
}

// Encode writes the invocation as JSON, without the escapes that only HTML needs: they would make a payload up to six times
// as long.
func (inv Invocation) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(inv); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Caller is who asked, as the gateway authenticated it.
type Caller struct {
	Subject string `json:"subject,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	IP      string `json:"ip,omitempty"`
}

// Event is one line (JSON, ended by \n) of a streamed answer: any number of logs, then exactly one of the others.
type Event struct {
	Log    *Log    `json:"log,omitempty"`
	Result *Result `json:"result,omitempty"`
	Error  *Error  `json:"error,omitempty"`
}

// Reply is what an invoker makes of a function's answer.
type Reply struct {
	Result Result
	// Recorded is false when the function ended without a word (killed at its deadline, crashed, out of memory) and the
	// invoker put the Result together itself: the caller then owes the audit record.
	Recorded bool
}
