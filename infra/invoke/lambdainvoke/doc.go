// Package lambdainvoke runs executions on AWS Lambda, by Invoke and InvokeWithResponseStream.
//
// An execution is not repeatable, so nothing is sent twice: the SDK's retries are off, and a connection that is lost
// on the way back is reported as an execution with an unknown end.
//
// Only package wiring and tests import it. Start with [Client.Invoke].
package lambdainvoke
