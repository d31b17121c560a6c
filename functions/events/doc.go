// Package events is the function's side of an invocation: it turns the bytes a Lambda runtime hands over into an
// [execution.Invocation], has it run, and writes the answer back.
//
// [Serve] is the whole life of a function process. A payload is either an Invocation envelope (field "airlock") or a
// bare Request, as a person would send with the AWS CLI; a bare one is given an id of its own. An envelope that asks for
// a stream is answered with [execution.Event] lines, each log as soon as it is printed and exactly one result or error at
// the end; everything else is answered with one Result. What is not a result is an [execution.Error], typed by its code.
package events
