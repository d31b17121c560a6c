// Package terminal holds what a command reads and writes: environment, input, and outputs that escape whatever could
// steer a terminal. Any command may import it; it knows no command. Start with [Console].
package terminal
