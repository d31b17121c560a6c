package execution

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The values of [Waiting.Kind]. Codes are append-only.
const (
	WaitApproval = "approval" // a call of a tool, or airlock.approve, that a person must decide
	WaitEvent    = "event"    // airlock.waitForEvent
	WaitSleep    = "sleep"    // airlock.sleep
	WaitTool     = "tool"     // a call of a durable tool, whose value comes later
)

// A Waiting is an operation that a paused execution waits for.
type Waiting struct {
	// Seq numbers the operations of an execution. It never changes.
	Seq  int    `json:"seq"`
	Kind string `json:"kind"`
	// Tool is the tool that was called, if any, and Args are its parameters.
	Tool string          `json:"tool,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
	// Name is the name of an event.
	Name string `json:"name,omitempty"`
	// Title, Detail and Schema are what airlock.approve was given for the person who decides.
	Title  string          `json:"title,omitempty"`
	Detail string          `json:"detail,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"`
	// DueAt is when a sleep ends. ExpiresAt is when nobody waits any longer: an event that has not come by then rejects
	// the guest's promise, and an execution that is not decided about by then expires.
	DueAt     time.Time `json:"dueAt,omitzero"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
}

// An Answer is the outcome of one operation that a paused execution waits for.
type Answer struct {
	Seq int `json:"seq"`
	// Call has the function call the tool now, with Args, and answer with what the tool returns.
	Call bool            `json:"call,omitempty"`
	Args json.RawMessage `json:"args,omitempty"`
	// Value resolves the guest's promise. Error, if set, rejects it, with an error of the name ErrorName.
	Value     json.RawMessage `json:"value,omitempty"`
	Error     string          `json:"error,omitempty"`
	ErrorName string          `json:"errorName,omitempty"`
}

// A Resume says which part of which execution an [Invocation] runs. The ID of the invocation is then that of the
// segment's record.
type Resume struct {
	// Parent is the ID of the execution, and Segment the number of this segment.
	Parent  string `json:"parent"`
	Segment int    `json:"segment"`
	// Snapshot is the state of the guest and of its host, as [Pause.Snapshot] had it, and Answers end some of what it
	// waits for. Both are empty for the first segment.
	Snapshot []byte   `json:"snapshot,omitempty"`
	Answers  []Answer `json:"answers,omitempty"`
	// EngineBuild is the build of the engine that made the snapshot, if it is known.
	EngineBuild string `json:"engineBuild,omitempty"`
	// Used is what the earlier segments used together.
	Used Usage `json:"used,omitzero"`
}

// Share returns the part of a result that its segment used itself: Result.Usage and DurationMs count all segments so
// far. MemoryBytes stays the peak of all of them. A nil Resume is that of an execution that has only one segment.
func (r *Resume) Share(result Result) (durationMs float64, u Usage) {
	durationMs, u = result.DurationMs, result.Usage
	if r == nil || result.Status == Blocked { // a blocked segment has counted nothing
		return durationMs, u
	}
	durationMs = max(durationMs-r.Used.WallMs, 0)
	u.WallMs = max(u.WallMs-r.Used.WallMs, 0)
	u.CPUMs = max(u.CPUMs-r.Used.CPUMs, 0)
	u.Ticks = max(u.Ticks-r.Used.Ticks, 0)
	u.OutputBytes = max(u.OutputBytes-r.Used.OutputBytes, 0)
	u.APICalls = max(u.APICalls-r.Used.APICalls, 0)
	u.LogsDropped = max(u.LogsDropped-r.Used.LogsDropped, 0)
	return durationMs, u
}

// MaxWaiting bounds the operations that an execution may wait for at once, and so the answers of a [Resume].
const MaxWaiting = 1024

// check returns an error unless the resume is well formed.
func (r *Resume) check() *Error {
	switch {
	case r == nil:
		return nil
	case !ValidID(r.Parent):
		return invalid("resume.parent", `must be "exec_" and 10 to 64 letters or digits`)
	case r.Segment < 1:
		return invalid("resume.segment", "must be a positive whole number")
	case r.Segment > 1 == (len(r.Snapshot) == 0):
		return invalid("resume.snapshot", "is required for every segment but the first, which has none")
	case len(r.Answers) > MaxWaiting:
		return invalid("resume.answers", "has %d entries; at most %d are accepted", len(r.Answers), MaxWaiting)
	case r.Segment > 1 == (len(r.Answers) == 0):
		return invalid("resume.answers", "is required for every segment but the first, which has none")
	}
	for i, a := range r.Answers {
		if a.Call && (a.Value != nil || a.Error != "") || a.Error != "" && a.Value != nil {
			return invalid(fmt.Sprintf("resume.answers[%d]", i), "may have only one of call, value and error")
		}
	}
	return nil
}

// The values of [Verdict.Decision]. Codes are append-only.
const (
	Approve = "approve" // the tool is called with its arguments
	Edit    = "edit"    // the tool is called with other arguments
	Respond = "respond" // the tool is not called; a value stands for its answer
	Reject  = "reject"  // the tool is not called; the guest's promise is rejected
	Signal  = "event"   // an event came
)

// A Verdict is what a person decided about an operation of a paused execution.
type Verdict struct {
	Decision string          `json:"decision"`
	Args     json.RawMessage `json:"args,omitempty"`  // of Edit
	Value    json.RawMessage `json:"value,omitempty"` // of Respond
	Reason   string          `json:"reason,omitempty"`
	// ArgsSHA256 and ValueSHA256 are the hashes of Args and Value if these are with the answer alone; see [LongValue].
	ArgsSHA256  string    `json:"argsSha256,omitempty"`
	ValueSHA256 string    `json:"valueSha256,omitempty"`
	By          Caller    `json:"by"`
	At          time.Time `json:"at"`
	// Record is the ID of the verdict's audit record.
	Record string `json:"record"`
}

// A Pending is an operation that a paused execution waits for, with what is known of its end.
type Pending struct {
	Waiting
	Verdict *Verdict `json:"verdict,omitempty"`
	// Answer is set when the operation has ended, and Sent when a segment has begun that has the answer.
	Answer *Answer `json:"answer,omitempty"`
	Sent   bool    `json:"sent,omitempty"`
	// Apart says where the arguments or the value of the answer are, if they are not in it. Older versions set it, and
	// stores do, in what they write.
	Apart *Apart `json:"apart,omitempty"`
}

// LongValue is the size in bytes from which stores keep a value of an operation beside the document of its job, which
// they write at each change. The verdict about it has its hash.
const LongValue = 4 << 10

// An Apart is the place in the stored snapshot of a job, behind what is encrypted, of the arguments and the value of an
// answer. Only older versions put them there.
type Apart struct {
	From  int `json:"from"`
	Args  int `json:"args,omitempty"` // bytes, which the value follows
	Value int `json:"value,omitempty"`
}

// Bytes returns the size of the arguments and the value; 0 for nil.
func (a *Apart) Bytes() int {
	if a == nil {
		return 0
	}
	return a.Args + a.Value
}

// An Ending is the end of a paused execution that does not run again.
type Ending struct {
	Status Status    `json:"status"` // Expired, Cancelled or Failed
	Reason string    `json:"reason"`
	By     Caller    `json:"by"`
	At     time.Time `json:"at"`
	// Record is the ID of its audit record.
	Record string `json:"record"`
	// Code is what is known of the code if the job has no request.
	Code *CodeSum `json:"code,omitempty"`
}

// A CodeSum identifies code.
type CodeSum struct {
	SHA256   string `json:"sha256"`
	Bytes    int    `json:"bytes"`
	Language string `json:"language,omitempty"`
}

// A Wait is the progress of an execution that has paused.
type Wait struct {
	// Segment is the number of the segment that runs, or that ran last. Run is the ID of its record; it is that of the
	// execution for the first.
	Segment int    `json:"segment"`
	Run     string `json:"run"`
	// Since is when the execution first paused. Until then it was an ordinary one.
	Since time.Time `json:"since"`
	// Attempts counts how often the segment was begun again because what it led to was lost.
	Attempts int `json:"attempts,omitempty"`
	// Changed is when it last paused or was resumed.
	Changed time.Time `json:"changed"`
	// ExpiresAt is when the execution expires, and DueAt when something has to be done about it, at the latest then.
	ExpiresAt time.Time `json:"expiresAt"`
	DueAt     time.Time `json:"dueAt"`
	Pending   []Pending `json:"pending"`
	// Ending is set when the execution ends without running again.
	Ending *Ending `json:"ending,omitempty"`
	// Tier is the tier that the execution runs under, and EngineBuild the build that made the snapshot.
	Tier        string `json:"tier"`
	EngineBuild string `json:"engineBuild"`
	// Used is what the segments used together that have paused.
	Used Usage `json:"used,omitzero"`
	// Session is set if the job is a session.
	Session *Session `json:"session,omitempty"`
	// Sealed is the size of the encrypted snapshot if answers follow it; see [Apart].
	Sealed int `json:"sealed,omitempty"`
	// Aside is the number of bytes that a store keeps beside the document of the job; see [LongValue]. Only stores set
	// it, in what they write.
	Aside int `json:"aside,omitempty"`
	// Lost reports that values of Pending are lost, so that the execution can only end. Only stores set it, in what they
	// read.
	Lost bool `json:"-"`
	// Key is the name of the key of the snapshot. Jobs of older versions lack it.
	Key string `json:"key,omitempty"`
	// Code identifies the code of the request, so that records need not read it. Jobs of older versions, and sessions,
	// lack it.
	Code *CodeSum `json:"code,omitempty"`
}

// Clone returns a copy that shares no list with w; nil for nil.
func (w *Wait) Clone() *Wait {
	if w == nil {
		return nil
	}
	out := *w
	out.Pending = slices.Clone(w.Pending)
	if w.Session != nil {
		session := *w.Session
		out.Session = &session
	}
	return &out
}

// Waits is the part of a [Job] that only an execution has that has paused.
type Waits struct {
	Wait *Wait `json:"wait,omitempty"`
	// Snapshot is encrypted, and answers may follow it that older versions put there; see package waits. SnapshotBytes is
	// its size as it is stored, also in a job that was read without it.
	Snapshot      []byte `json:"-"`
	SnapshotBytes int    `json:"-"`
}
