//go:build !race

package endtoend_test

// The limits of a function process; 0 is the default.
const (
	maxMemory = 0
	grace     = 0
)
