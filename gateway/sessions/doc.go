// Package sessions serves /api/sessions: executions whose top-level declarations persist from one to the next, as in a
// console.
//
// A session is a stored job that is paused and waits for nothing. Its encrypted snapshot is the state of the guest
// after the last step, so that between two steps no process and no memory belong to it. A step is an ordinary
// execution, with a record of its own, that starts from the snapshot. Only a step that completes replaces the
// snapshot, in the same transaction that ends the step. Package jobs ends sessions that are too old.
//
// A step claims its session for as long as an execution may take. If its process dies, the claim lapses and the session
// is as it was before. A session that is deleted meanwhile is gone for its caller, and ends after its step.
//
// Only package gateway imports it. Start with [Handlers.Execute].
package sessions
