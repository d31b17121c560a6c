package execution

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	fast "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// The values of [Invocation.Via] and of the audit record. Codes are append-only.
const (
	ViaHTTP   = "http"
	ViaMCP    = "mcp"
	ViaHook   = "hook"
	ViaLambda = "lambda"
	ViaCLI    = "cli"
	// ViaSchedule means that a schedule ran a saved function.
	ViaSchedule = "schedule"
)

// InvocationVersion is the value of [Invocation.Airlock] that this package writes and accepts.
const InvocationVersion = 1

// Grace is how much longer than the code may run a function that must start before a time takes at most: to decide,
// and to store the record. Afterwards another function may run the same execution.
const Grace = 10 * time.Second

// TooLate is the message of the [Throttled] error of a function that was asked after Invocation.StartBefore.
const TooLate = "arrived after the latest time at which it may start"

// An Invocation carries a Request from a gateway to a function. The function trusts it no more than a bare Request:
// it decides by its own policy.
type Invocation struct {
	// Airlock marks the envelope and carries its version. A payload without it is a bare Request.
	Airlock int     `json:"airlock"`
	ID      string  `json:"id"`
	Request Request `json:"request"`
	Caller  Caller  `json:"caller"`
	Via     string  `json:"via"`
	// ReceivedAt is when the gateway had read the request; QueueMs is how long it then waited for a place.
	ReceivedAt time.Time `json:"receivedAt"`
	QueueMs    float64   `json:"queueMs"`
	// Stream asks for a sequence of Event lines instead of one Result.
	Stream bool `json:"stream,omitempty"`
	// Scopes are the scopes of the caller's token that restrict the grants ("tier:NAME", "host:PATTERN", …). They make
	// the function's decision as narrow as the gateway's and never widen it.
	Scopes []string `json:"scopes,omitempty"`
	// TraceParent is the execution's place in a trace (W3C Trace Context, version 00), or empty.
	TraceParent string `json:"traceParent,omitempty"`
	// Function is the saved function that Request comes from; nil if there is none.
	Function *FunctionRef `json:"function,omitempty"`
	// Content is the [Sources.Sum] of Request for a saved function. Request may then omit its sources: a function that
	// has them cached for the same tenant uses those, and any other answers [SourcesNeeded].
	Content string `json:"content,omitempty"`
	// StartBefore is the latest start of the execution; zero sets no limit. A function that is asked later answers
	// [Throttled], because another gateway may have taken the execution over. A function that starts in time stores the
	// record within the time of the execution and [Grace], or not at all.
	StartBefore time.Time `json:"startBefore,omitzero"`
	// Servers identifies the servers of the granted remote tools, by namespace. A call is refused if its namespace has
	// another server by then.
	Servers map[string]string `json:"servers,omitempty"`
	// Replay is the audit record of an execution to replay; Request is then empty. If the execution continued earlier
	// ones, it is the list of their records and of its own. Nothing outside is reached and nothing is recorded. The Result
	// is that of the replay, under ID.
	Replay json.RawMessage `json:"replay,omitempty"`
	Segments
	// Decision, which may be nil, returns the decision of the gateway's policy for an invoker that writes the record.
	// It is not sent.
	Decision func() Decision `json:"-"`
	// Scanned, which may be nil, returns the gateway's scan of the sources (scan.Hand), for a function process that
	// trusts its invoker. It is not sent with the invocation: only an invoker that started the process itself has a
	// way to send it.
	Scanned func() []byte `json:"-"`
	// Free, which may be nil, is called by an invoker that writes the record, before it does: the function is free, and
	// only the record is missing. It is called at most once, before the invoker returns. It is not sent.
	Free func() `json:"-"`
	// CallTool, which may be nil, calls the tools of the caller. It is not sent: an invoker that can carries the calls.
	CallTool CallTool `json:"-"`
}

// Segments say whether an execution may run in several segments, with pauses between, and which of them this is, or
// which step of a session.
type Segments struct {
	// Waits says that the gateway keeps the execution if it pauses. Without it, the code cannot wait.
	Waits bool `json:"waits,omitempty"`
	// Resume continues a paused execution. Invocation.ID is then that of the new segment's record.
	Resume *Resume `json:"resume,omitempty"`
	// Session makes the execution a step of a session, which cannot wait.
	Session *SessionStep `json:"session,omitempty"`
}

// A Decision is a policy decision in the form of an audit record.
type Decision struct {
	Grants, DangerAnalysis, ASTTelemetry json.RawMessage
	Reasons                              []string
}

// Encode returns the invocation as JSON without the escapes that only HTML needs, which would make a payload up to
// six times as long.
func (inv Invocation) Encode() ([]byte, error) {
	request := inv.Request
	longInput := len(request.Input) >= longText && request.inputIsValid()
	long := longInput || request.Sources().Bytes() >= longText
	if long {
		inv.Request.Code, inv.Request.Files = "", nil
	}
	if longInput {
		inv.Request.Input = nil
	} else {
		request.Input = nil
	}
	snapshot, mark := inv.takeSnapshot()
	replay := inv.Replay
	if len(replay) >= longSnapshot {
		inv.Replay = json.RawMessage(`"` + rand.Text() + `"`) // nothing else in the invocation is that
	}
	b, err := fast.Marshal(inv, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))
	if err == nil && len(replay) >= longSnapshot {
		b = bytes.Replace(b, inv.Replay, replay, 1)
	}
	if err == nil && mark != nil {
		b, err = putSnapshot(b, snapshot, mark)
	}
	if err != nil || !long {
		return b, err
	}
	// Only the version and the ID precede the request, and its code is its first member.
	const first = `"request":{"code":`
	head, rest, ok := bytes.Cut(b, []byte(first+`""`))
	if !ok {
		return nil, errors.New("the code of a request is not its first member")
	}
	return appendData(append(slices.Clone(head), first...), rest, request), nil
}

// longSnapshot is the size in bytes from which a snapshot is encoded here, in a fifth of the time.
const longSnapshot = 64 << 10

// takeSnapshot replaces a long snapshot by a mark that nothing else in the invocation can be, and returns both.
func (inv *Invocation) takeSnapshot() (snapshot, mark []byte) {
	switch r, s := inv.Resume, inv.Session; {
	case r != nil && len(r.Snapshot) >= longSnapshot:
		short := *r
		snapshot, mark = r.Snapshot, []byte(rand.Text())
		short.Snapshot, inv.Resume = mark, &short
	case s != nil && len(s.Snapshot) >= longSnapshot:
		short := *s
		snapshot, mark = s.Snapshot, []byte(rand.Text())
		short.Snapshot, inv.Session = mark, &short
	}
	return snapshot, mark
}

// putSnapshot replaces a mark in the JSON of an invocation by a snapshot.
func putSnapshot(b, snapshot, mark []byte) ([]byte, error) {
	head, rest, ok := bytes.Cut(b, base64.StdEncoding.AppendEncode(nil, mark))
	if !ok {
		return nil, errors.New("the invocation does not contain its snapshot")
	}
	out := make([]byte, 0, len(b)+base64.StdEncoding.EncodedLen(len(snapshot)))
	return append(appendBase64(append(out, head...), snapshot), rest...), nil
}

// base64Pairs returns the two digits of each 12 bits, the first one in the lower byte.
var base64Pairs = sync.OnceValue(func() *[1 << 12]uint16 {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var pairs [1 << 12]uint16
	for i := range pairs {
		pairs[i] = uint16(digits[i>>6]) | uint16(digits[i&63])<<8
	}
	return &pairs
})

// appendBase64 does what base64.StdEncoding.AppendEncode does, in half the time for megabytes.
func appendBase64(out, b []byte) []byte {
	pairs := base64Pairs()
	more := base64.StdEncoding.EncodedLen(len(b))
	out = slices.Grow(out, more)
	out = out[:len(out)+more]
	to := out[len(out)-more:]
	for len(b) >= 8 && len(to) >= 8 { // 6 bytes are 8 digits
		v := binary.BigEndian.Uint64(b) >> 16
		binary.LittleEndian.PutUint64(to, uint64(pairs[v>>36])|uint64(pairs[v>>24&0xfff])<<16|
			uint64(pairs[v>>12&0xfff])<<32|uint64(pairs[v&0xfff])<<48)
		b, to = b[6:], to[8:]
	}
	base64.StdEncoding.Encode(to, b)
	return out
}

// A Caller is the caller as the gateway authenticated it.
type Caller struct {
	Subject string `json:"subject,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	IP      string `json:"ip,omitempty"`
}

// An Event is one JSON line of a streamed answer: any number of logs, then exactly one result or error.
type Event struct {
	Log    *Log    `json:"log,omitempty"`
	Result *Result `json:"result,omitempty"`
	Error  *Error  `json:"error,omitempty"`
}

// A Reply is an invoker's summary of a function's answer.
type Reply struct {
	Result Result
	// Recorded is false if the function ended without an answer (killed at its deadline, crashed, out of memory) and
	// the invoker made the Result. The invoker's caller must then write the audit record.
	Recorded bool
}
