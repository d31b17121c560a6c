//go:build race

package endtoend_test

import "time"

// The limits of a function process under the race detector, which makes everything larger and slower.
const (
	maxMemory = 4 << 30
	grace     = 10 * time.Second
)
