// Package crew keeps goroutines for later calls. Growing the stack of a new goroutine takes longer than most of what a
// short execution has done on one.
//
// Packages sandbox and quickjs import it. Start with [Crew.Run].
package crew
