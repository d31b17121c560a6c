//go:build race

package gateway_test

// slower is how much more processor time this process may take under the race detector.
const slower = 10
