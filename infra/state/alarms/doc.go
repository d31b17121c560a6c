// Package alarms invokes a Lambda function at the times at which stored work is due, by one-time schedules of Amazon
// EventBridge Scheduler. A stack without a process that runs all the time needs no clock of its own then, and an idle
// one is not invoked.
//
// All work that is due in the same minute shares one schedule. Its name is that minute, so another process, or another
// attempt, that sets it finds it there. An alarm says only that there may be work. The function that it invokes reads
// the state to find what is due, and one that finds nothing does no harm. Alarms are therefore set before the work is
// stored, need no transaction with the state, and are never deleted: EventBridge Scheduler deletes each when it has
// fired.
//
// Only package wiring and tests import this package. Start with [Alarms.Set].
package alarms
