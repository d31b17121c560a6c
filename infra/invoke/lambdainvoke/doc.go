// Package lambdainvoke runs executions on AWS Lambda: an invoker over the service's Invoke and
// InvokeWithResponseStream.
//
// An execution is not repeatable, so nothing is ever sent twice: the SDK's retries are off, and a connection lost on
// the way back is reported as the end of an execution of which nobody knows more.
package lambdainvoke
