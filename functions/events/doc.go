// Package events is the function's side of an invocation. It turns the bytes of a Lambda runtime into an
// [execution.Invocation], runs it, and writes the answer.
//
// [Serve] is the life of a function process. A payload is an Invocation envelope (field "airlock") or a bare Request,
// which gets a new ID. If the envelope asks for a stream, the answer is [execution.Event] lines: each log as soon as
// it is printed, then one result or error. Any other answer is one Result. A failure is an [execution.Error], typed
// by its code.
//
// Events of other sources go to an [Adapter], if there is one. [Detect] recognises the kind of a payload from its
// bytes alone and refuses unknown kinds by name. The adapter runs executions and answers in the source's form: an
// HTTP answer with problem documents, the failed messages of a batch, or the Result. A deployment may bind a request
// of its own to a kind; the event is then that request's input. HTTP requests that the provider has not authenticated
// are refused by default. [Front] is the other direction: it puts the gateway behind a Function URL.
//
// Package process, package wiring and tests import it. Start with [Serve] and [Adapter.Answer].
package events
