package sandbox

import "encoding/json"

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
	// Code, Files, Entry and TypeScript, for the same owner and under the same policy. Its top level is evaluated once,
	// where it needs nothing but itself, and later runs start from there.
	Version string
	// Owner is whose code this is. What is remembered of code is used for its owner's runs alone: the time that a run
	// takes tells nobody what others run.
	Owner string
	// Seed fixes Math.random and starts the clock at a fixed instant, for replay. Nil draws from crypto/rand.
	Seed *int64
}
