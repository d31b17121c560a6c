package audit

import (
	"encoding/json"
	"time"
)

// A Record is the account of one execution. It is written once and never changed.
type Record struct {
	ID         string    `json:"id"`
	Time       time.Time `json:"time"` // when the request was received, UTC
	DurationMs float64   `json:"durationMs"`
	Caller     Caller    `json:"caller"`
	Via        string    `json:"via"` // http, mcp, hook, schedule, lambda, cli
	Source
	Policy string `json:"policy"`
	Engine string `json:"engine"`
	// EngineBuild is the build of the engine that ran, for replays. Records without it are of quickjs-ng 0.10.1.
	EngineBuild string `json:"engineBuild,omitempty"`
	// Packages are the packages of the deployment that the code imported.
	Packages []Package `json:"packages,omitempty"`
	Assessment
	Ending
	Custody []Step `json:"custody"`
	Inputs
	ResultSHA256 string `json:"resultSha256,omitempty"`
	// Function is the saved function that ran, or nil if the caller sent the code.
	Function *FunctionRef `json:"function,omitempty"`
	Lineage
	Chain Chain `json:"chain"`
}

// WithoutContent returns r without its code, its request and its journal, which may be large.
func (r Record) WithoutContent() Record {
	r.Code, r.Request, r.Journal = "", nil, nil
	return r
}

// Source describes the code that an execution was asked to run.
type Source struct {
	CodeSHA256 string `json:"codeSha256"`
	CodeBytes  int    `json:"codeBytes"`
	// Code is kept only if the deployment says so.
	Code     string `json:"code,omitempty"`
	Language string `json:"language,omitempty"`
}

// An Assessment holds what the policy found in the code and what it granted.
type Assessment struct {
	Grants         json.RawMessage `json:"grants,omitempty"`
	Reasons        []string        `json:"reasons,omitempty"` // why the policy decided as it did
	DangerAnalysis json.RawMessage `json:"dangerAnalysis,omitempty"`
	ASTTelemetry   json.RawMessage `json:"astTelemetry,omitempty"`
}

// An Ending says how an execution ended and what it used.
type Ending struct {
	Status string `json:"status"`
	Limit  string `json:"limit,omitempty"`
	Error  string `json:"error,omitempty"`
	// ExitCode is what the code passed to process.exit or set process.exitCode to, if not 0.
	ExitCode    int   `json:"exitCode,omitempty"`
	OutputBytes int64 `json:"outputBytes"`
	Usage       Usage `json:"usage"`
}

// Inputs is what a replay needs in addition to the code.
type Inputs struct {
	Seed *int64 `json:"seed,omitempty"`
	// Request is the whole request (redacted). It is kept only if the deployment says so.
	Request json.RawMessage `json:"request,omitempty"`
	// Journal holds the host's answers to the guest's calls in order. With Seed it makes the run repeatable.
	Journal json.RawMessage `json:"journal,omitempty"`
}

// Lineage says which other records a record belongs to.
type Lineage struct {
	// Reused is the execution whose result was returned instead of a run.
	Reused string `json:"reused,omitempty"`
	// Parent is the execution that the record is a later part of: a segment after a pause, a decision, or its end. Segment
	// counts from 1.
	Parent  string `json:"parent,omitempty"`
	Segment int    `json:"segment,omitempty"`
	// Session is the session that the execution was a step of, and Step the number of the step, from 1. The record of the
	// end of a session has the number of its last step.
	Session string `json:"session,omitempty"`
	Step    int    `json:"step,omitempty"`
	// Restarted says that the step began with an empty state, as its session was restarted before it.
	Restarted bool `json:"restarted,omitempty"`
	// ForkOf is the session whose step before this one the step continued, as it is the first of a fork.
	ForkOf string `json:"forkOf,omitempty"`
	// Decision is set in the record of a decision. Caller is then who decided.
	Decision *Decision `json:"decision,omitempty"`
}

// DecidedStatus is the status of the record of a decision about a paused execution.
const DecidedStatus = "decided"

// A Decision is what was decided about one operation that a paused execution waits for.
type Decision struct {
	Seq      int    `json:"seq"`
	Kind     string `json:"kind"`
	Tool     string `json:"tool,omitempty"`
	Name     string `json:"name,omitempty"`
	Decision string `json:"decision"` // approve, edit, respond, reject or event
	Reason   string `json:"reason,omitempty"`
	// ArgsSHA256 and ValueSHA256 are the hashes of the arguments that the tool is called with and of the value that was
	// given.
	ArgsSHA256  string `json:"argsSha256,omitempty"`
	ValueSHA256 string `json:"valueSha256,omitempty"`
}

// A Package is a package of the deployment. Integrity is a hash of it and of all that it depends on.
type Package struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
}

// A Caller made the request.
type Caller struct {
	Subject string `json:"subject,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	IP      string `json:"ip,omitempty"`
}

// A FunctionRef names one version of a saved function.
type FunctionRef struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// Usage holds the resources that the execution consumed; for a segment after a pause, those of the segment alone.
// MemoryBytes is the peak of all segments so far. Its fields are those of execution.Usage.
type Usage struct {
	WallMs      float64 `json:"wallMs"`
	CPUMs       float64 `json:"cpuMs"`
	Ticks       int64   `json:"ticks"`
	MemoryBytes int64   `json:"memoryBytes"`
	OutputBytes int64   `json:"outputBytes"`
	APICalls    int     `json:"apiCalls"`
	QueueMs     float64 `json:"queueMs"`
	// LogsDropped counts the console calls that the logs do not list.
	LogsDropped int `json:"logsDropped,omitempty"`
}

// The custody steps in their order.
const (
	Received = "received"
	Decided  = "decided"
	Started  = "started"
	Finished = "finished"
	Recorded = "recorded"
)

// A Step is one hand-over in the life of an execution.
type Step struct {
	Step string  `json:"step"`
	AtMs float64 `json:"atMs"` // since Record.Time
}

// A Chain binds a record to the previous one of its writer. Stores set it.
type Chain struct {
	Writer string `json:"writer"`
	Seq    int64  `json:"seq"`
	Prev   string `json:"prev"`
	// PrevID is the id of the previous record, which names it even when it is gone.
	PrevID string `json:"prevId,omitempty"`
	Hash   string `json:"hash"`
	// MAC is set if the deployment has a chain key.
	MAC string `json:"mac,omitempty"`
}
