package sandbox

import "encoding/json"

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
