// Package jobs runs executions in the background.
//
// A submitted job is in the [Store], on disk, before its caller gets a response. From there it is claimed, run, and
// finished with its result; each step is one transaction. A process that dies leaves orphans. The next process, or
// another one with the same store, ends the orphans that left an audit record under their ID, because a recorded
// execution must not happen twice. It runs the others again when their functions must have ended ([Functions]), once it
// has recorded the lost attempt. [Queue.Start] does that in the background. In a process that is suspended between
// requests, [Queue.RunDue] does it when it is called.
//
// A receiver that was named with a job is called back when the result is stored, and again with growing pauses until
// it has accepted the call.
//
// The handlers of asynchronous executions and of GET /api/result are in handlers.go. Package gateway imports this
// package, and package callbacks for the receipt of a call. Start with [Queue].
package jobs
