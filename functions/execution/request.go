package execution

import "encoding/json"

// Request is one execution as a caller asks for it. The zero value of every optional field means "what the tier says";
// numbers only ever lower a tier's limits.
type Request struct {
	// Code is JavaScript or TypeScript: an expression, statements, a function, or a module. Markdown fences are stripped.
	Code string `json:"code"`
	// Language is "javascript" (default) or "typescript".
	Language string `json:"language,omitempty"`
	// Engine is "quickjs" (default). "v8" and "jsc" are known names that are not available.
	Engine string `json:"engine,omitempty"`
	// Policy names the tier; default "standard".
	Policy string `json:"policy,omitempty"`
	// Timeout is wall time in milliseconds.
	Timeout float64 `json:"timeout,omitempty"`
	// Memory is a size such as "32mb".
	Memory string `json:"memory,omitempty"`
	// Context holds one global per entry.
	Context map[string]json.RawMessage `json:"context,omitempty"`
	// Input is the global input; absent means null.
	Input json.RawMessage `json:"input,omitempty"`
	// Tools are functions the guest may call; each call is made by the host.
	Tools []Tool `json:"tools,omitempty"`
	// Limits lowers single caps of the tier.
	Limits Limits `json:"limits,omitzero"`
	// Seed fixes Math.random and the clock, for replay.
	Seed *int64 `json:"seed,omitempty"`
	// Priority is "low", "normal" (default) or "high".
	Priority string `json:"priority,omitempty"`
	// Debug asks for more to be reported.
	Debug *Debug `json:"debug,omitempty"`
	// Files fills the execution's in-memory file system, by relative path.
	Files map[string]File `json:"files,omitempty"`
	// Entry is the path in Files to run in place of Code.
	Entry string `json:"entry,omitempty"`
	// Hosts asks for network access to these hosts (exact names, or "*.example.com"); the deployment decides.
	Hosts []string `json:"hosts,omitempty"`
	// Secrets names secrets of the deployment that requests to their own hosts may carry.
	Secrets []string `json:"secrets,omitempty"`
}

// Limits lowers a tier's caps. Zero means the tier's own value, never "unlimited".
type Limits struct {
	CPUMs       float64 `json:"cpuMs,omitempty"`
	OutputBytes int64   `json:"outputBytes,omitempty"`
	LogEntries  int     `json:"logEntries,omitempty"`
	APICalls    int     `json:"apiCalls,omitempty"`
	// Ticks is work in [Usage.Ticks], which are the same on every machine; hitting it is the limit "cpu".
	Ticks int64 `json:"ticks,omitempty"`
	// FetchBytes is of bodies sent and received, FileBytes of files in the file system.
	FetchBytes int64 `json:"fetchBytes,omitempty"`
	FileBytes  int64 `json:"fileBytes,omitempty"`
}

// Debug asks for more to be reported. It grants nothing.
type Debug struct {
	StackTraces bool `json:"stackTraces,omitempty"`
	Profile     bool `json:"profile,omitempty"`
	Steps       bool `json:"steps,omitempty"`
}

// Tool is a function that the host calls for the guest: POST {"tool","params","executionId"} to URL.
type Tool struct {
	// Name says how the guest calls it; see [ToolGlobal].
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// InputSchema and OutputSchema are JSON Schemas that parameters and answers are held against.
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	URL          string          `json:"url,omitempty"`
	// Server identifies the attached server that listed the tool; "" for a tool of the request's own. It travels in
	// [Invocation.Servers].
	Server string `json:"-"`
}
