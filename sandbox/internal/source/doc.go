// Package source turns the code of a request into the text that the engine compiles, and leads positions in that text
// back to the caller's own lines.
//
// [Of] is the way in. It strips what surrounds the code, looks for module syntax, and then takes one of three ways:
//
//	a script            shape.go wraps it in an async function that returns the value of its last expression
//	a plain module      direct.go makes a script of a single file that imports only what exists before it runs: modules
//	                    of Node, and packages that are evaluated ahead
//	any other module    bundle.go has esbuild make one script of the code and the files that it imports
//
// The declarations of a step of a session outlive it (session.go).
//
// TypeScript loses its types on the way (typescript.go). [Source.Trace] translates stack frames, and [Source.Locate]
// finds where a syntax error is.
//
// Everything in this package runs on hostile text, and calls parsers that recurse: nesting.go refuses what is nested
// too deeply for them. The work cannot be interrupted, so callers run it on a goroutine that they can give up on.
//
// Only package sandbox imports this package.
package source
