// Package journal records everything that reaches a run from outside after it has started, and plays it back. A run
// that is played back reads no clock, draws no random numbers and makes no calls.
//
// The run asks a [Tape] for the time, for randomness and for the answers to its calls. The tape either passes the
// request on and records the answer, or answers from the events of an earlier run. Only package sandbox imports it.
// Start with [Tape].
package journal
