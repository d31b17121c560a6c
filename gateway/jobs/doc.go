// Package jobs runs executions that nobody waits for. A job that was submitted is in the [Store], on the disk, before
// anybody is told so; from there it is claimed, run, and finished with its result, each step one transaction. A
// process that dies leaves orphans. The next process, or another one with the same store, runs those again that left
// no audit record under their id, and ends the others: what was recorded has happened and does not happen twice.
// [Queue.Start] does that in the background; where a process stands still between requests, [Queue.RunDue] does it
// whenever it is called.
//
// Who asked to be called back is called when the result is kept, and again, later and later, until it has been
// received.
package jobs
