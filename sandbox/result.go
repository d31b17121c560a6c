package sandbox

import (
	"encoding/json"

	"github.com/airlock-run/airlock/sandbox/internal/journal"
)

// Result is the outcome of a run.
type Result struct {
	// Value is the JSON of what the code evaluated to; nil if the run did not complete.
	Value json.RawMessage
	// Output is the text of the console, a line per call, at most Limits.OutputBytes long.
	Output string
	// Files are the files that the guest made or changed, by relative path; nil for none.
	Files map[string][]byte
	// Logs are the console calls, at most Limits.LogEntries, and one more entry if there were more calls.
	Logs []Log
	// Error says in one line why the run did not complete; empty if it did.
	Error string
	// ExitCode is what the code passed to process.exit or set process.exitCode to. Only process.exit makes it an error.
	ExitCode int
	// Exception is what the code threw, if that ended the run.
	Exception *Exception
	// Parked is what the run waits for, if it ended because it waits; Engine.Resume continues it.
	Parked *Parked
	// Snapshot is the session after a step that completed; see Engine.Step. It is nil for other runs.
	Snapshot []byte
	// Limit names the limit that ended the run; empty if none did.
	Limit Limit
	// Cancelled reports that the context of Run ended it.
	Cancelled bool
	Usage     Usage
	// Pure reports that nothing from outside reached the guest (the clock, random numbers, secrets, requests, timers,
	// garbage collection) and that no limit ended the run: every run of the same script and grants has this result.
	Pure bool
	Start
	// Packages are those of Grants.Packages that the code imports.
	Packages []PackageID
	// PackagesCold says why the run itself had to evaluate packages that might have an image; "" if it did not.
	PackagesCold string
	// EngineBuild names the build of the engine that ran (see Config.EngineBuild).
	EngineBuild string
	// Debug is the report that Grants.Debug asked for; nil for none.
	Debug *DebugReport
	// Journal is everything that reached the run from outside.
	Journal *Journal
	// Seed is what Math.random was seeded with: with it, and the same host, the run can be repeated.
	Seed int64
}

// Start says what a run started from.
type Start struct {
	// Warm reports that the run started after the top level of its Version. Cold says why runs of that Version cannot
	// do so: what the code does while it loads. Both are empty for scripts without a Version.
	Warm bool
	Cold string
}

// Completed reports whether the code ran to its end.
func (r *Result) Completed() bool { return r.Error == "" && r.Parked == nil }

// Log is one console call.
type Log struct {
	Level   string  // log, info, warn, error, debug
	Message string  // cut at Limits.LogChars characters, with an ellipsis
	AtMs    float64 // milliseconds since the run started
	// Line is the whole text as Output has it. It is cut only where Output ends.
	Line string
}

// Exception is a thrown value, with positions in the caller's own source. Line and Column count from 1; 0 is unknown.
type Exception struct {
	Name, Message, Stack string
	Line, Column         int
	// File is the file that Line counts in: one of the script's files, or "script.js" or "script.ts" for Script.Code.
	File string
}

// Usage is what a run consumed.
type Usage struct {
	WallMs float64
	// CPUMs is the processor time of the guest's thread (on Linux; elsewhere wall time inside the guest).
	CPUMs float64
	// Ticks counts how often the guest came out to the host; it depends on the code alone, not on the machine.
	Ticks int64
	// MemoryBytes is the peak of the guest's memory and of what the host held for it. Requests and answers under way
	// count against the limit in addition.
	MemoryBytes int64
	// OutputBytes is the length of the console's text.
	OutputBytes int64
	// APICalls counts host calls that left the sandbox.
	APICalls int
	// LogsDropped counts the console calls beyond Limits.LogEntries. Their text is in Output.
	LogsDropped int
}

// DebugReport is what Debug asked for.
type DebugReport struct {
	StackTraces []LogTrace `json:"stackTraces,omitempty"`
	// Profile is a file for speedscope.app. A unit of weight is one tick.
	Profile json.RawMessage `json:"profile,omitempty"`
	Steps   []Step          `json:"steps,omitempty"`
	// StepsTruncated reports that more statements ran than are listed.
	StepsTruncated bool `json:"stepsTruncated,omitempty"`
}

// LogTrace is where the console call of an index came from.
type LogTrace struct {
	Log   int    `json:"log"`
	Stack string `json:"stack"`
}

// Step is one statement that ran.
type Step struct {
	Line int     `json:"line"`
	AtMs float64 `json:"atMs"`
}

// Journal is everything that reached a run from outside after it started, in order. With the same script and grants
// it makes the run repeatable (Grants.Replay). It holds no secrets: answers have placeholders.
type Journal struct {
	Version int   `json:"version"`
	Seed    int64 `json:"seed"`
	// Seeded reports that the seed was given. The clock of such a run moves only with its timers.
	Seeded bool           `json:"seeded"`
	Events []JournalEvent `json:"events"`
	// Truncated reports that there were too many events: the run cannot be repeated.
	Truncated bool `json:"truncated,omitempty"`
	// Ticks and Limit are how the run ended.
	Ticks int64 `json:"ticks"`
	Limit Limit `json:"limit,omitempty"`
	// Unprepared reports that Limit was hit before the code was ready to run.
	Unprepared bool `json:"unprepared,omitempty"`
}

// journalVersion is Journal.Version.
const journalVersion = 1

// JournalEvent is one thing that reached a run. Its Kind is one of
//
//	clock   the guest read the time: At, nanoseconds since the Unix epoch, Count times in a row
//	random  it drew Bytes
//	timer   its timer ID fired
//	answer  its request ID (of Name, with a payload of hash Ask) was answered with JSON, Bytes or Error
//	call    it called Name synchronously and got JSON or Error
//	wait    its request ID (of Name, with a payload of hash Ask) became the durable wait JSON
//	decided its durable wait ID was answered with JSON or Error when this segment began; a Name of "call" called the tool
type JournalEvent = journal.Event
