// Package quote shortens what messages quote from callers. Only packages below policy import it.
package quote

import (
	"strconv"
	"strings"
)

// Clip returns s, cut to at most n bytes with an ellipsis behind the cut.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Clipped returns s as a Go string literal, cut to 60 bytes.
func Clipped(s string) string { return strconv.Quote(Clip(s, 60)) }
