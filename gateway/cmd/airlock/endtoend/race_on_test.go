//go:build race

package endtoend_test

import "time"

// What a function process may take under the race detector, which makes everything larger and later.
const (
	maxMemory = 4 << 30
	grace     = 10 * time.Second
	// unhurriedMs is the timeout of what is not meant to run into it: a busy machine must not make it.
	unhurriedMs = 15_000
)
