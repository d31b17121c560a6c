// Package otherengine talks to guests that run in processes of other JavaScript engines: V8 in Node.js, and
// JavaScriptCore.
//
// # The process
//
// A process reads one line from its standard input: the program ([Kind.Program]), which is core.js, the engine's own
// part (node.js or jsc.js) and the guest's standard library. It prints {"ready":1} and waits for a job. Before the job
// it may get steps "warm", which change nothing and which it answers with {"ready":1} again. What follows the job is
// about the one guest of the process. A job that only shows what memory jobs use ends with the step "ready", which the
// process answers with {"ready":1} too; it runs no guest.
//
// # The protocol
//
// Both sides send lines of ASCII JSON over one socket. The host sends a step, and the engine performs it: it runs the
// step and all microtasks that follow. Meanwhile it calls the host.
//
//	host    {"do":"start","text":…,…}      also fire, settle, reject, finish and ready
//	engine  [op, argument, …]              a host call, with the operations of stdlib/primordials.js
//	host    {"s":…} {"j":…} {"b":…}        the answer to operation sync: a value, JSON or bytes
//	engine  {"idle":1,"memory":…}          the step is done
//
// Code that has its value at the end of its first step is finished at once: the step ends with "finished":1, and the
// host does not send finish.
//
// The host skips lines that are no messages: engines print warnings. An engine that fails while it writes or reads a
// line, as at the end of its stack, ends.
//
// # Trust
//
// A realm inside an engine is no security boundary: the host treats every byte as hostile, as it does guest memory.
// This package and the run decide what a guest may do; the program that starts its process decides what the process may
// do.
//
// Package sandbox imports it for runs; functions/process, gateway/wiring and gateway/cli for [Kinds].
// Start with [Guest.Step].
package otherengine
