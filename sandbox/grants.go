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

// ToolFunc is a Go function that a guest may call as an async function. params is the JSON of the call's one
// argument, {} if there is none. The function runs on a goroutine of its own, concurrently with the guest and with
// other calls; ctx ends with the run. The returned JSON resolves the guest's promise. An error rejects it with the
// error's text, so the text must be fit for guests.
type ToolFunc func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// Grants is the whole list of what one run may do. The zero value grants computation under the default Limits.
type Grants struct {
	Limits Limits
	// Eval allows eval, Function and the like.
	Eval bool
	// Tools are functions that the guest may call, in Go or over HTTP. Each call counts against Limits.APICalls.
	Tools []Tool
	// Network lists the hosts that fetch may reach.
	Network Network
	// Files is what the guest may do with its file system, which starts with Script.Files. Result.Files has what it
	// wrote.
	Files FileAccess
	// Modules are the Node modules that code may import: names without "node:", or "*" for all that the library has.
	// Files grants fs. Modules that grant nothing (events, assert, timers, os, process, …) are always available.
	Modules []string
	// ModuleHint, if set, returns what would grant a module, for the message of its refusal.
	ModuleHint func(name string) string
	// Packages are the packages that code may import besides those among Script.Files, which win. They are code of the
	// guest, with the same grants.
	Packages []Package
	// Withheld are the names of packages that exist and that code may not import, for the message of the refusal.
	Withheld []string
	// Waits lets the run park. The zero value does not.
	Waits Waits
	// Debug asks for reports in Result.Debug.
	Debug Debug
	// Replay answers the run from the journal of an earlier one with the same script and grants. The run reads no
	// clock, draws no random numbers and makes no calls. A run that differs from the journal ends with an error that
	// names the difference.
	Replay *Journal
	// OnLog is called for each console call as it happens, on the guest's goroutine. A slow OnLog slows its own guest.
	OnLog func(Log)
	// OnLine is called like OnLog, with the level and the whole text of each console call, also of those that the logs
	// cut or leave out. The text is cut only where the output ends.
	OnLine func(level, text string)
	// parkNow, if set, makes a run that waits for a timer or a wait park when it returns true.
	parkNow func() bool
	// parkAmid, if set, makes a run without requests park between two microtasks when it returns true.
	parkAmid func() bool
	// stackBytes, if set, is a smaller stack for the self-test: filling all of it takes 80 MB.
	stackBytes uint32
}

// MaxWall returns how long a run with these grants may take. A repeated run may take longer than the recorded one,
// because machines differ.
func (g Grants) MaxWall() time.Duration {
	wall := g.Limits.Wall
	if wall <= 0 {
		wall = defaultWall
	}
	wall = max(wall-max(g.Limits.Spent, 0), 1)
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

// Debug asks for reports about a run. It grants nothing, and costs the run time and ticks.
type Debug struct {
	// StackTraces reports where each console call came from.
	StackTraces bool
	// Profile reports where the ticks went, as a flame profile.
	Profile bool
	// Steps reports which statements ran, by line. It inserts code between statements, so columns in errors may be off.
	Steps bool
}

// FileAccess is what a run may do with its file system: memory of its own that starts with Script.Files. No file of
// the host is in it.
type FileAccess int

// The degrees of access, each containing the one before it.
const (
	FilesNone FileAccess = iota
	FilesRead
	FilesWrite
)

// Tool is a function that the guest may call as the global namespace.method(params), an async function of one
// argument. Its name is "namespace:method", "namespace.method" or "namespace", which is called as namespace(params) or
// namespace.call(params). Characters other than letters, digits, _ and $ become _. namespace.method.sync(params) is
// the same call, during which the guest stands still.
type Tool struct {
	Name, Description string
	// InputSchema and OutputSchema are JSON Schemas for parameters and results; nil accepts anything.
	InputSchema, OutputSchema json.RawMessage
	// Timeout bounds one call; default 30 s. The deadline of the run holds as well.
	Timeout time.Duration
	// Blocking makes namespace.method itself the synchronous call. Its value can be awaited as well.
	Blocking bool
	// AnyMethod makes every method of the namespace that no other tool has a call of this tool.
	AnyMethod bool
	// Approval makes each call wait until it is approved (Answer.Call). Durable makes it wait for an Answer and calls
	// nobody. Either needs Grants.Waits, and the guest must await the call.
	Approval, Durable bool
	// Call answers. Its parameters are "{}" if the guest gives none. If Call is nil, URL is called: POST {"tool",
	// "params", "executionId"}. The JSON of a 2xx answer is the value, and {"result": value} stands for the value.
	Call ToolFunc
	URL  string
	// CallVia, used if Call is nil, makes Call from the network that the tool may reach. That network applies the rules,
	// limits and secrets of the run as it does to a tool's URL.
	CallVia func(network http.RoundTripper) func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
}

// CheckTool returns what is wrong with a tool. The error begins with the field, as requests spell it: name,
// inputSchema, outputSchema or url.
func CheckTool(t Tool) error {
	if t.URL != "" || t.CallVia != nil {
		t.Call = func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	}
	_, err := tool.New(t.config(depth.Default, nil))
	return err
}

// ToolGlobal returns the global and its method by which the guest calls a tool; see [toolname.Global].
func ToolGlobal(name string) (namespace, method string) { return toolname.Global(name) }

// Script is what a guest runs and the data it is given.
type Script struct {
	// ID identifies the execution to the servers of its tools.
	ID string
	// TraceParent is the execution's place in a trace (W3C Trace Context). Requests carry it unless the code sets
	// another.
	TraceParent string
	// Engine names the engine that runs the script: "" is QuickJS. For another, Config.Processes starts a process.
	Engine string
	// Code is JavaScript or TypeScript in UTF-8 without NUL: an expression, statements with a trailing expression or a
	// return, a function (which is called), statements that assign the global output, or a module whose default export
	// is the value or the function. Imports come from Files and from the library. Markdown fences are stripped.
	Code string
	// TypeScript reports that Code is TypeScript. Types are removed, not checked.
	TypeScript bool
	// Files are further sources and data by relative path, such as lib/util.js. Code imports from here and nowhere
	// else. If Grants.Files allows, the guest's file system starts with them.
	Files map[string][]byte
	// Entry is the path of the file to run in place of Code.
	Entry string
	// Context holds the JSON values of further globals, by name.
	Context map[string]json.RawMessage
	// Input is the JSON value of the global input; nil means null.
	Input json.RawMessage
	// Args are the arguments of the program: process.argv from its third element on.
	Args []string
	// Version, if set, announces that this code will run again. The same Version means the same Code, Files, Entry and
	// TypeScript, for the same owner and under the same policy. The top level is evaluated once if it needs nothing but
	// itself, and later runs start from there.
	Version string
	// Owner is the owner of the code. What is cached of code serves only its owner's runs, so that the time of a run
	// tells nobody what others run.
	Owner string
	// Seed fixes Math.random and starts the clock at a fixed instant. Nil draws a seed from crypto/rand.
	Seed *int64
}
