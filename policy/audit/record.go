package audit

import (
	"encoding/json"
	"time"
)

// Record is the account of one execution. It is written once and never changed.
type Record struct {
	ID         string    `json:"id"`
	Time       time.Time `json:"time"` // when the request was received, UTC
	DurationMs float64   `json:"durationMs"`
	Caller     Caller    `json:"caller"`
	Via        string    `json:"via"` // http, mcp, hook, schedule, lambda, cli
	CodeSHA256 string    `json:"codeSha256"`
	CodeBytes  int       `json:"codeBytes"`
	// Code is kept only where the deployment says so.
	Code     string `json:"code,omitempty"`
	Language string `json:"language,omitempty"`
	Policy   string `json:"policy"`
	Engine   string `json:"engine"`
	// EngineBuild is the build of the engine that ran, which a replay uses. Records before it was kept are of quickjs-ng
	// 0.10.1.
	EngineBuild    string          `json:"engineBuild,omitempty"`
	Grants         json.RawMessage `json:"grants,omitempty"`
	Reasons        []string        `json:"reasons,omitempty"` // why the policy decided as it did
	DangerAnalysis json.RawMessage `json:"dangerAnalysis,omitempty"`
	ASTTelemetry   json.RawMessage `json:"astTelemetry,omitempty"`
	Status         string          `json:"status"`
	Limit          string          `json:"limit,omitempty"`
	Error          string          `json:"error,omitempty"`
	OutputBytes    int64           `json:"outputBytes"`
	Usage          Usage           `json:"usage"`
	Custody        []Step          `json:"custody"`
	Seed           *int64          `json:"seed,omitempty"`
	// Request is the whole request (redacted), kept where the deployment says so; replay needs it.
	Request json.RawMessage `json:"request,omitempty"`
	// Journal is what the host answered to the guest's calls, in order; with Seed it makes the run repeatable.
	Journal      json.RawMessage `json:"journal,omitempty"`
	ResultSHA256 string          `json:"resultSha256,omitempty"`
	// Function is the saved function that ran; nil when the caller brought the code.
	Function *FunctionRef `json:"function,omitempty"`
	// Reused is the execution whose result was given again, so that nothing ran.
	Reused string `json:"reused,omitempty"`
	Chain  Chain  `json:"chain"`
}

// Caller is who asked.
type Caller struct {
	Subject string `json:"subject,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	IP      string `json:"ip,omitempty"`
}

// FunctionRef names the version of a saved function.
type FunctionRef struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

// Usage is what the execution consumed; the fields are those of execution.Usage.
type Usage struct {
	WallMs      float64 `json:"wallMs"`
	CPUMs       float64 `json:"cpuMs"`
	Ticks       int64   `json:"ticks"`
	MemoryBytes int64   `json:"memoryBytes"`
	OutputBytes int64   `json:"outputBytes"`
	APICalls    int     `json:"apiCalls"`
	QueueMs     float64 `json:"queueMs"`
}

// The custody steps, in their order.
const (
	Received = "received"
	Decided  = "decided"
	Started  = "started"
	Finished = "finished"
	Recorded = "recorded"
)

// Step is one hand-over in the life of an execution.
type Step struct {
	Step string  `json:"step"`
	AtMs float64 `json:"atMs"` // since Record.Time
}

// Chain binds a record to the one its writer wrote before it. Stores fill it in.
type Chain struct {
	Writer string `json:"writer"`
	Seq    int64  `json:"seq"`
	Prev   string `json:"prev"`
	// PrevID is the id of that record, so that it can be named when it is gone.
	PrevID string `json:"prevId,omitempty"`
	Hash   string `json:"hash"`
	// MAC is there where the deployment has a chain key.
	MAC string `json:"mac,omitempty"`
}
