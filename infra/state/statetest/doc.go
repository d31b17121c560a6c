// Package statetest is the conformance suite of stores of jobs and schedules: they keep the same promises on one
// machine's disk, in a database and in a table. Only tests import it. Start with [Test].
package statetest
