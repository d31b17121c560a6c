// Package interpreter serves a subset of the API of E2B's code interpreter for JavaScript and TypeScript, below
// /api/e2b. That interpreter is at https://github.com/e2b-dev/code-interpreter.
//
// A context is a session, and so is a sandbox, whose session runs the code that names no context. Code of both
// languages runs as TypeScript, as in E2B, so that it can share declarations. Files, commands and ports of a sandbox
// do not exist.
//
// Only package gateway imports it. Start with [Handlers.Execute].
package interpreter
