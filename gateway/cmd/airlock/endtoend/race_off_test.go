//go:build !race

package endtoend_test

// maxMemory is that of a function process; 0 is the default.
const maxMemory = 0
