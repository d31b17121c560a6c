//go:build !race

package endtoend_test

// What a function process may take; 0 is the default.
const (
	maxMemory = 0
	grace     = 0
)
