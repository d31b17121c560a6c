// Package timers holds the timers of one run, which setTimeout and setInterval set, in the order in which they are due.
// It reads no clock: times are durations since the start of the run, which callers pass in. Only package sandbox
// imports it. Start with [Queue].
package timers
