// Package journal records everything that reaches a run from outside after it has started, and plays it back. A run
// that is played back reads no clock, draws nothing and calls nobody.
//
// A [Tape] stands between the run and the world. The run asks it for the time, for randomness and for the answers to
// its calls, and the tape either passes the question on and records the answer, or answers from the events of an
// earlier run. Package sandbox is the only importer.
package journal
