// Package results keeps finished answers in memory for as long as there is room: the last thousand or so, and never
// more than a number of bytes. What is asked for stays longest.
package results
