// Package events is the function's side of an invocation: it turns the bytes a Lambda runtime hands over into an
// [execution.Invocation], has it run, and writes the answer back.
//
// [Serve] is the whole life of a function process. A payload is either an Invocation envelope (field "airlock") or a
// bare Request, as a person would send with the AWS CLI; a bare one is given an id of its own. An envelope that asks
// for a stream is answered with [execution.Event] lines, each log as soon as it is printed and exactly one result or
// error at the end; everything else is answered with one Result. What is not a result is an [execution.Error], typed
// by its code.
//
// Events of other sources reach an [Adapter], when there is one: [Detect] tells from the bytes alone which of the
// known kinds a payload is, and refuses every other by name; the adapter makes executions of it and answers in the
// source's own way (an HTTP answer with problem+json errors, the failed messages of a batch, the Result). A
// deployment may bind a request of its own to a kind; the event is then that request's input. HTTP requests that the
// provider has not authenticated are refused unless the deployment says otherwise. [Front] is the other direction: it
// puts the gateway itself behind a Function URL.
package events
