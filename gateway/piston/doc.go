// Package piston serves the API of Piston (https://github.com/engineer-man/piston) for JavaScript and TypeScript:
// GET /api/v2/runtimes and POST /api/v2/execute.
//
// A request of Piston is an ordinary execution with a record: its first text file is the program, args are
// process.argv, and stdin is the input. A request that names no policy runs in the default tier. The limits of the
// tier are the configured limits of Piston. Types are removed when the program is loaded: the compile stage of
// TypeScript only says whether that succeeded.
//
// Only package gateway imports it. Start with [Handlers.Execute].
package piston
