package sandbox

import (
	"context"
	"encoding/json"
)

// HostCall is a Go function that a guest may call as an async function. params is the JSON of the call's one argument
// (null when it has none). It runs on a goroutine of its own, concurrently with the guest and with other calls; ctx ends
// with the run. The returned JSON resolves the guest's promise; an error rejects it with the error's text, so the text
// must be fit for guests.
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
