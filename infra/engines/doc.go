// Package engines keeps processes of other JavaScript engines ready: V8 as Node.js has it, and JavaScriptCore as its
// shell has it. Each process runs one guest and is killed.
//
// # Templates
//
// Starting an engine takes tens of milliseconds, so a [Pool] starts it once. The engine evaluates the guest's standard
// library and waits for a job. Then the pool takes hold of it with ptrace and never lets go: this process is the
// template and never sees a guest. Each process for a guest is a fork of it, and starts where the template waits, with
// a copy-on-write view of its memory. That takes less than a millisecond.
//
// Forks share the template's address layout and hash seeds. The pool replaces the template from time to time.
//
// # Walls
//
// An engine of this size has exploitable bugs, and a realm inside it is no wall. The pool therefore builds the walls
// from outside, before a fork reads its first byte:
//
//   - seccomp leaves computing, and reading and writing the one open descriptor (lockdown.EnginePrograms). There is no
//     call that takes a path, an address or another process, and none that starts a program or a thread. Without a JIT
//     compiler no memory becomes executable.
//   - Landlock denies all files and ports, should a call be forgotten.
//   - The process has one descriptor, a socket to its user, and an empty environment.
//   - RLIMIT_DATA bounds its memory. It dies with the pool, and its user kills it.
//
// Linux on amd64 only; the pool needs ptrace for its own children.
//
// Packages process, wiring, cli and tests import it. Start with [Open].
package engines
