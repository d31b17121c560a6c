//go:build !race

package endtoend_test

// What a function process may take; 0 is the default.
const (
	maxMemory = 0
	grace     = 0
	// unhurriedMs is the timeout of what is not meant to run into it: a busy machine must not make it.
	unhurriedMs = 10_000
)
