// Package sqsqueue wakes gateways through an SQS queue. A message names a stored job and holds nothing else: the job's
// item in the table says what is to be done, and a claim of it who does it. A message that is lost, repeated or late
// therefore does no harm, and a job needs no transaction over two services. The tenant is the message group, by which
// SQS serves tenants fairly on a standard queue.
//
// A message is invisible to others for thirty seconds, and longer while it is being handled. It is deleted when its
// handling succeeds. Otherwise SQS delivers it again, and moves it to the dead-letter queue when the queue's redrive
// policy says so.
//
// Only package wiring and tests import this package. Start with [Queue.Serve].
package sqsqueue
