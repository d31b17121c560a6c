package execution

import "encoding/json"

// Status is how an execution ended. Codes are append-only.
type Status string

// The statuses. Queued and Running occur only where a result is polled. Paused is not an end: the execution waits, and
// continues when it is resumed. Expired is the end of one that nobody resumed in time.
const (
	Completed Status = "completed"
	Failed    Status = "error"
	TimedOut  Status = "timeout"
	Blocked   Status = "blocked"
	Cancelled Status = "cancelled"
	Queued    Status = "queued"
	Running   Status = "running"
	Paused    Status = "paused"
	Expired   Status = "expired"
)

// The values of [Result.Limit]. Codes are append-only.
const (
	LimitWall       = "wall"
	LimitCPU        = "cpu"
	LimitMemory     = "memory"
	LimitStack      = "stack"
	LimitOutput     = "output"
	LimitLogs       = "logs"
	LimitAPICalls   = "apiCalls"
	LimitFiles      = "files"
	LimitFetchBytes = "fetchBytes"
)

// A Result is the outcome of one execution. A guest's failure is part of it; a platform failure never is (see
// [Error]).
type Result struct {
	ID     string          `json:"id"`
	Status Status          `json:"status"`
	Result json.RawMessage `json:"result"`
	// Output is the console's text, one line per call, capped by Limits.OutputBytes.
	Output string `json:"output"`
	Logs   []Log  `json:"logs"`
	Failure
	Environment
	DurationMs     float64         `json:"durationMs"`
	Usage          Usage           `json:"usage"`
	DangerAnalysis json.RawMessage `json:"dangerAnalysis"`
	Violations     []string        `json:"violations"`
	Cached         bool            `json:"cached"`
	APICallCount   int             `json:"apiCallCount"`
	// Pure reports that the run used neither clock nor randomness nor host calls: the same request gives the same
	// result.
	Pure     bool            `json:"pure,omitempty"`
	FilesOut map[string]File `json:"filesOut,omitempty"`
	// Adjusted are the limits of the request that were above the tier's and were lowered.
	Adjusted []Adjustment    `json:"adjusted,omitempty"`
	Debug    json.RawMessage `json:"debug,omitempty"`
	// Function is set if a saved function ran.
	Function *FunctionRef `json:"function,omitempty"`
	Start
	Pause
}

// A Failure says why an execution did not complete. The zero value is that of an execution without fault.
type Failure struct {
	// Error is one line; nil if the execution completed.
	Error     *string    `json:"error"`
	Exception *Exception `json:"exception"`
	// Limit is the limit that ended the run; nil if none did.
	Limit *string `json:"limit"`
	// ExitCode is what the code passed to process.exit or set process.exitCode to, if not 0. A code that was only set
	// leaves the execution completed.
	ExitCode int `json:"exitCode,omitempty"`
}

// An Environment names the engine and the tier that an execution ran under.
type Environment struct {
	Engine string `json:"engine"`
	// EngineBuild names the build of the engine that ran, such as quickjs-ng-0.15.1; empty if nothing ran.
	EngineBuild string `json:"engineBuild,omitempty"`
	Policy      string `json:"policy"`
}

// Start says what a run started from.
type Start struct {
	// Warm reports whether a saved function started from its warm state, after its top level; ColdReason says why it could
	// not.
	Warm       *bool  `json:"warm,omitempty"`
	ColdReason string `json:"coldReason,omitempty"`
	// Session is set if the execution was a step of a session.
	Session *SessionRef `json:"session,omitempty"`
}

// Pause is what a paused execution waits for.
type Pause struct {
	Waiting []Waiting `json:"waiting,omitempty"`
	// Snapshot is the state from which the execution continues, or the next step of its session. It travels from the
	// function to the gateway, and no further.
	Snapshot []byte `json:"snapshot,omitempty"`
}

// An Adjustment is a limit of a request that was lowered. Memory is in bytes.
type Adjustment struct {
	Field     string  `json:"field"`
	Requested float64 `json:"requested"`
	Allowed   float64 `json:"allowed"`
}

// A FunctionRef names the version of a saved function.
type FunctionRef struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// A Log is one console call.
type Log struct {
	// Level is log, info, warn, error or debug.
	Level string `json:"level"`
	// Message is cut at the tier's length in characters, with an ellipsis.
	Message string `json:"message"`
	// AtMs is the time since the start of the run in milliseconds.
	AtMs float64 `json:"atMs"`
}

// An Exception is what the guest threw, in terms of the caller's source. Line and Column count from 1; 0 means
// unknown.
type Exception struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	// File is the file of the request that Line refers to; empty for Request.Code.
	File string `json:"file,omitempty"`
}

// Usage holds the resources that an execution consumed. Ticks are deterministic: the same code has the same count on
// every machine.
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
