package execution

import "encoding/json"

// A Request asks for one execution. The zero value of an optional field means the tier's value; numbers only lower a
// tier's limits.
type Request struct {
	// Code is JavaScript or TypeScript: an expression, statements, a function, or a module. Markdown fences are stripped.
	Code string `json:"code"`
	// Language is "javascript" (default) or "typescript".
	Language string `json:"language,omitempty"`
	// Engine is "quickjs" (default), or "v8" or "jsc" where the deployment turns them on.
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
	// Args are the arguments of the program: process.argv from its third element on.
	Args []string `json:"args,omitempty"`
	// Tools are functions that the guest may call; the host makes the calls.
	Tools []Tool `json:"tools,omitempty"`
	// Limits lowers single limits of the tier.
	Limits Limits `json:"limits,omitzero"`
	// Seed fixes Math.random and the clock, for replay.
	Seed *int64 `json:"seed,omitempty"`
	// Priority is "low", "normal" (default) or "high".
	Priority string `json:"priority,omitempty"`
	// Debug asks for more to be reported.
	Debug *Debug `json:"debug,omitempty"`
	// Files are the initial files of the execution, by relative path.
	Files map[string]File `json:"files,omitempty"`
	// Entry is the path in Files that runs instead of Code.
	Entry string `json:"entry,omitempty"`
	// Hosts asks for network access to hosts (exact names, or "*.example.com"). The deployment decides.
	Hosts []string `json:"hosts,omitempty"`
	// Secrets names secrets of the deployment that requests to their hosts may carry.
	Secrets []string `json:"secrets,omitempty"`

	// valid is Input when it was last known to be JSON, so that it need not be parsed to be sent on.
	valid json.RawMessage
	// texts are the files that are known to be UTF-8, by their first bytes.
	texts map[*byte]int
}

// AddText adds a copy of a text to Files.
func (r *Request) AddText(name string, text Text) {
	content := append(File{}, text...)
	if r.Files == nil {
		r.Files = map[string]File{}
	}
	if r.Files[name] = content; len(content) > 0 {
		if r.texts == nil {
			r.texts = map[*byte]int{}
		}
		r.texts[&content[0]] = len(content)
	}
}

// CopyFiles sets Files to those of another request.
func (r *Request) CopyFiles(from Request) { r.Files, r.texts = from.Files, from.texts }

// isText reports whether a file is known to be UTF-8.
func (r *Request) isText(f File) bool { return len(f) > 0 && r.texts[&f[0]] == len(f) }

// SetInput sets Input to JSON that the caller has validated or written, without a duplicate name. Other assignments to
// Input are validated when the request is encoded.
func (r *Request) SetInput(input json.RawMessage) { r.Input, r.valid = input, input }

// CopyInput sets Input to that of another request.
func (r *Request) CopyInput(from Request) { r.Input, r.valid = from.Input, from.valid }

// inputIsValid reports whether Input is what was validated.
func (r *Request) inputIsValid() bool {
	return len(r.Input) > 0 && len(r.Input) == len(r.valid) && &r.Input[0] == &r.valid[0]
}

// Limits lowers a tier's limits. Zero means the tier's value, never "unlimited".
type Limits struct {
	CPUMs       float64 `json:"cpuMs,omitempty"`
	OutputBytes int64   `json:"outputBytes,omitempty"`
	LogEntries  int     `json:"logEntries,omitempty"`
	// OnLogs says what happens beyond LogEntries: "drop" (default) or "error", which ends the run.
	OnLogs   string `json:"onLogs,omitempty"`
	APICalls int    `json:"apiCalls,omitempty"`
	// Ticks is work in [Usage.Ticks], the same on every machine. Reaching it is the limit "cpu".
	Ticks int64 `json:"ticks,omitempty"`
	// FetchBytes counts bodies sent and received, FileBytes the files in the file system.
	FetchBytes int64 `json:"fetchBytes,omitempty"`
	FileBytes  int64 `json:"fileBytes,omitempty"`
}

// The values of [Limits.OnLogs].
const (
	OnLogsDrop  = "drop"
	OnLogsError = "error"
)

// Debug asks for more output. It grants nothing.
type Debug struct {
	StackTraces bool `json:"stackTraces,omitempty"`
	Profile     bool `json:"profile,omitempty"`
	Steps       bool `json:"steps,omitempty"`
}

// ToolOfCaller is the value of [Tool.Via] for a tool that the caller answers over the execution's own stream.
const ToolOfCaller = "caller"

// ApprovalRequired is the value of [Tool.Approval] for a tool whose calls a person must approve.
const ApprovalRequired = "required"

// A Tool is a function that the host calls for the guest: POST {"tool","params","executionId"} to URL or, if Via is
// ToolOfCaller, a call of the program that follows the execution.
type Tool struct {
	// Name is how the guest calls it; see [ToolGlobal].
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// InputSchema and OutputSchema are the JSON Schemas of parameters and answers.
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	URL          string          `json:"url,omitempty"`
	// Via is ToolOfCaller, or "".
	Via string `json:"via,omitempty"`
	// Approval is ApprovalRequired if a person must approve each call, or "".
	Approval string `json:"approval,omitempty"`
	// Durable says that the answer to a call comes later, in a resume of the paused execution.
	Durable bool `json:"durable,omitempty"`
	// Server identifies the server that listed a remote tool; "" for a tool of the request. It travels in
	// [Invocation.Servers].
	Server string `json:"-"`
}
