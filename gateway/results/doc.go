// Package results keeps finished results and responses in memory as long as there is room, bounded by count and by
// bytes. The least recently used ones go first.
//
// Any package of the gateway above it may import it. Start with [Store].
package results
