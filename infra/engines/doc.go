// Package engines keeps processes of other JavaScript engines ready: V8 in Node.js, and JavaScriptCore in its shell.
// Each process runs one guest and is killed.
//
// # Templates
//
// Starting an engine takes tens of milliseconds, so a [Pool] starts it once. The engine evaluates the guest's standard
// library and waits for a job. Then the pool stops it with ptrace: this process is the template and never runs a guest.
// Each process for a guest is a fork of the template and starts where the template waits, with a copy-on-write view of
// its memory. That takes less than a millisecond.
//
// Each page of that view costs a fault when the fork first uses it. So one fork of each template does a sample job and
// is killed. The pages that it used are mapped in each further fork ahead of its job, with one system call.
//
// Forks share the template's address layout and hash seeds. The pool replaces the template from time to time.
//
// # Walls
//
// An engine of this size has exploitable bugs, and a realm inside it is no security boundary. The pool therefore builds
// the walls from outside, before a fork reads its first byte:
//
//   - seccomp leaves computing, and reading and writing the one open descriptor (lockdown.EnginePrograms). There is no
//     call that takes a path, an address or another process, and none that starts a program or a thread. Without a JIT
//     compiler no memory becomes executable.
//   - Landlock denies all files and ports, in case the filter lets a call through.
//   - The process has one descriptor, a socket to its user, and an empty environment.
//   - RLIMIT_DATA bounds its memory. It dies with the pool, and its user kills it.
//
// Linux on amd64 only; the pool needs ptrace for its own children.
//
// Packages process, wiring, cli and tests import it. Start with [Open].
package engines
