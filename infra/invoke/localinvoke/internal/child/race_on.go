//go:build race && linux

package child

// addresses is how many times more addresses than without the race detector a process may have. A program with the race
// detector that is refused addresses ends in ways that do not tell why.
const addresses = 64
