package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/policy/toolname"
	"github.com/airlock-run/airlock/sandbox/internal/tool"
)

// HostCall is a Go function that a guest may call as an async function. params is the JSON of the call's one argument
// (null when it has none). It runs on a goroutine of its own, concurrently with the guest and with other calls; ctx
// ends with the run. The returned JSON resolves the guest's promise; an error rejects it with the error's text, so the
// text must be fit for guests.
type HostCall func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// Grants is the whole list of what one run may do. The zero value grants computation under the default Limits.
type Grants struct {
	Limits Limits
	// Eval allows eval, Function and their kin.
	Eval bool
	// HostCalls are functions that the guest may call, each by its name "namespace.method" (or "namespace:method") as
	// the global namespace.method(params). Each call counts against Limits.APICalls.
	HostCalls map[string]HostCall
	// Tools are functions with schemas, or ones that are called over HTTP.
	Tools []Tool
	// Network is what fetch may reach.
	Network Network
	// Files is what the guest may do with its file system, which starts with Script.Files. What it wrote is Result.Files.
	Files FileAccess
	// Modules are the Node modules that require and import give: names without "node:", or "*" for all that the library
	// has. fs comes with Files; modules that give nothing (events, assert, timers, os, process, …) are always there.
	Modules []string
	// ModuleHint, when it is not nil, words what would give the guest a module that it was not granted.
	ModuleHint func(name string) string
	// Debug asks for more to be reported in Result.Debug.
	Debug Debug
	// Replay has the run answered from the journal of an earlier one with the same script and grants: no clock is read,
	// nothing is drawn, and nobody is called. A run that does something else ends with an error that says what.
	Replay *Journal
	// OnLog is called for each console call as it happens, on the guest's goroutine: a slow OnLog slows its own guest.
	OnLog func(Log)
	// stackBytes, when set, is less stack than guests have, for the self-test: filling all of it takes 80 MB.
	stackBytes uint32
}

// MaxWall returns how long a run with these grants may take. A repeated run may take longer than the recorded one:
// machines differ, and are busy.
func (g Grants) MaxWall() time.Duration {
	wall := g.Limits.Wall
	if wall <= 0 {
		wall = defaultWall
	}
	if g.Replay != nil {
		return replaySlack*wall + replayGrace
	}
	return wall
}

// A repeated run may take replaySlack times as long as its limits say, and replayGrace.
const (
	replaySlack = 4
	replayGrace = 10 * time.Second
)

// Debug asks for more to be reported of a run. It grants nothing, and costs the run time and ticks.
type Debug struct {
	// StackTraces reports where each console call came from.
	StackTraces bool
	// Profile reports where the ticks went, as a flame profile.
	Profile bool
	// Steps reports which statements ran, by line. Columns in errors may be off by what this puts between statements.
	Steps bool
}

// FileAccess is what a run may do with its file system: memory of its own that starts with Script.Files. Nothing of the
// host is ever in it.
type FileAccess int

// The degrees of access, each containing the one before it.
const (
	FilesNone FileAccess = iota
	FilesRead
	FilesWrite
)

// Tool is a function that the guest may call as the global namespace.method(params), an async function of one argument.
// Its name is "namespace:method", "namespace.method" or "namespace" (whose method is call); what is no letter, digit, _
// or $ becomes _. namespace.method.sync(params) is the same call, during which the guest stands still.
type Tool struct {
	Name, Description string
	// InputSchema and OutputSchema are JSON Schemas that parameters and results are held against; nil accepts anything.
	InputSchema, OutputSchema json.RawMessage
	// Timeout bounds one call; default 30 s. The run's own deadline holds anyway.
	Timeout time.Duration
	// Blocking makes namespace.method itself the synchronous call, whose value can be awaited as well.
	Blocking bool
	// Call answers; its parameters are "{}" when the guest gave none. When it is nil, URL is called: POST {"tool",
	// "params", "executionId"}, where the JSON of a 2xx answer is the value, and {"result": value} stands for the value.
	Call HostCall
	URL  string
	// Over, where Call is nil, makes it from the network that the tool may reach: what the run's own network is for the
	// URL of a tool, in what it lets through, counts and hides.
	Over func(network http.RoundTripper) func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
}

// CheckTool returns what is wrong with a tool. The error begins with the field, as requests spell it: name,
// inputSchema, outputSchema or url.
func CheckTool(t Tool) error {
	if t.URL != "" || t.Over != nil {
		t.Call = func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	}
	_, err := tool.New(t.config(depth.Default, nil))
	return err
}

// ToolGlobal returns the global and its method by which the guest calls a tool; see [toolname.Global].
func ToolGlobal(name string) (namespace, method string) { return toolname.Global(name) }
