//go:build race

package endtoend_test

// maxMemory is that of a function process: the race detector takes several times what the process does.
const maxMemory = 4 << 30
