//go:build !race && linux

package child

// addresses is 1 in programs without the race detector.
const addresses = 1
