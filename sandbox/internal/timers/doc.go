// Package timers has the timers of one run: what setTimeout and setInterval have set, in the order in which it is due.
// It knows no clock: times are durations since the start of the run, which callers pass in.
package timers
