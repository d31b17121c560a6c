package sandbox

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/airlock-run/airlock/policy/depth"
)

// Script is what a guest runs and the data it is given.
type Script struct {
	// ID names the execution to the servers of its tools.
	ID string
	// TraceParent is the execution's place in a trace (W3C Trace Context). The requests that it makes carry it, unless its
	// code says otherwise.
	TraceParent string
	// Code is JavaScript or TypeScript in UTF-8 without NUL: an expression, statements with a trailing expression or a
	// return, a function (which is called), statements that assign the global output, or a module whose default export is
	// the value or the function. Imports are taken from Files and from the library. Markdown fences are stripped.
	Code string
	// TypeScript says that Code is TypeScript; types are removed, not checked.
	TypeScript bool
	// Files are further sources and data by relative path, such as lib/util.js: what Code imports is looked for here and
	// nowhere else, and the guest's file system starts with them where Grants.Files says so.
	Files map[string][]byte
	// Entry is the path in Files that is run in place of Code.
	Entry string
	// Context holds JSON values that become globals of these names.
	Context map[string]json.RawMessage
	// Input is the JSON value of the global input; nil means null.
	Input json.RawMessage
	// Version, when it is not empty, says that this code will be run again: whoever gives the same Version gives the same
	// Code, Files, Entry and TypeScript, for the same owner and under the same policy. Its top level is evaluated once, where
	// it needs nothing but itself, and later runs start from there.
	Version string
	// Owner is whose code this is. What is remembered of code is used for its owner's runs alone: the time that a run takes
	// tells nobody what others run.
	Owner string
	// Seed fixes Math.random and starts the clock at a fixed instant, for replay. Nil draws from crypto/rand.
	Seed *int64
}

// shallow refuses input and context that nest too deeply.
func (r *run) shallow(s Script) error {
	if path := depth.Over(s.Input, "input", r.limits.Depth); path != "" {
		return r.deep("input", path)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Context)) {
		if path := depth.Over(s.Context[name], name, r.limits.Depth); path != "" {
			return r.deep("context", "context."+path)
		}
	}
	return nil
}

// Result is what a run came to.
type Result struct {
	// Value is the JSON of what the code evaluated to; nil when the run did not complete.
	Value json.RawMessage
	// Output is the console's text, a line per call, at most Limits.OutputBytes long.
	Output string
	// Files are what the guest made or changed in its file system, by relative path; nil for none.
	Files map[string][]byte
	// Logs are the console's calls, at most Limits.LogEntries.
	Logs []Log
	// Error says in one line why the run did not complete; empty when it did.
	Error string
	// Exception is what the code threw, if that is what ended the run.
	Exception *Exception
	// Limit names the cap that ended the run; empty when none did.
	Limit Limit
	// Cancelled reports that the context given to Run ended it.
	Cancelled bool
	Usage     Usage
	// Pure reports that nothing from outside reached the guest (the clock, random numbers, secrets, requests, timers, what is
	// garbage) and that no limit ended the run: every run of the same script and grants comes to this result.
	Pure bool
	// Warm reports that the run started where the top level of its Version ends. Cold says why another run of that Version
	// would not: what the code does while it loads. Both are empty for scripts without a Version.
	Warm bool
	Cold string
	// Debug is what Grants.Debug asked for; nil when it asked for nothing.
	Debug *DebugReport
	// Journal is what reached the run from outside.
	Journal *Journal
	// Seed is what Math.random was seeded with: with it, and the same host, the run can be repeated.
	Seed int64
}

// Completed reports whether the code ran to its end.
func (r *Result) Completed() bool { return r.Error == "" }

// Log is one console call.
type Log struct {
	Level   string  // log, info, warn, error, debug
	Message string  // cut at Limits.LogChars characters, with an ellipsis
	AtMs    float64 // milliseconds since the run started
	// Line is the whole text, which Output has too; it is cut only where Output ends.
	Line string
}

// Exception is a thrown value, with positions in the caller's own source. Line and Column count from 1; 0 is unknown.
type Exception struct {
	Name, Message, Stack string
	Line, Column         int
	// File is the one of the script's files that Line counts in, or "script.js" or "script.ts" for Script.Code.
	File string
}

// Usage is what a run consumed.
type Usage struct {
	WallMs float64
	// CPUMs is processor time of the guest's thread (on Linux; elsewhere, wall time inside the guest).
	CPUMs float64
	// Ticks counts how often the guest came out to the host; it depends on the code alone, not on the machine.
	Ticks int64
	// MemoryBytes is the peak of the guest's memory and of what the host held for it while it ran. Requests and answers under way
	// count against the limit in addition.
	MemoryBytes int64
	// OutputBytes is the length of the console's text.
	OutputBytes int64
	// APICalls counts host calls that left the sandbox.
	APICalls int
}
