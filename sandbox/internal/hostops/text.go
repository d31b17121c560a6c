package hostops

import (
	"encoding/base64"
	"unicode/utf8"
	"unsafe"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// StringOf returns b as a string without copying it. b must not change any more.
func StringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// BytesOf returns the bytes of s without copying them. They must not be changed.
func BytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// CutChars cuts s after n characters and marks the cut with an ellipsis.
func CutChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + "..."
		}
		n--
	}
	return s
}

// CutBytes cuts s to at most n bytes without splitting a character.
func CutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// HexDigit returns the value of a hexadecimal digit, or -1.
func HexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// NewBase64 makes the string that b is in base64.
func (c *Call) NewBase64(e *base64.Encoding, b []byte) (quickjs.Value, error) {
	out := Buffer{C: c}
	if err := out.Room(e.EncodedLen(len(b))); err != nil {
		return 0, err
	}
	const whole = PieceBytes / 3 * 3 // pieces that are not the last need no padding
	for len(b) > 0 {
		n := min(len(b), whole)
		if err := c.Work(n); err != nil {
			return 0, err
		}
		out.B = e.AppendEncode(out.B, b[:n])
		b = b[n:]
	}
	return c.NewString(StringOf(out.B))
}

// Sextets puts bytes together from the values of base64 characters.
type Sextets struct {
	bits  uint32
	Chars int // how many were pushed
}

// Push adds the next six bits. It returns the byte that they complete, if they do.
func (d *Sextets) Push(v byte) (b byte, ok bool) {
	d.bits = d.bits<<6 | uint32(v)
	d.Chars++
	switch d.Chars % 4 {
	case 2:
		return byte(d.bits >> 4), true
	case 3:
		return byte(d.bits >> 2), true
	case 0:
		return byte(d.bits), true
	}
	return 0, false
}

// Base64Values maps each character of base64 to its value and all others to 64.
var Base64Values = func() (values [256]byte) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range values {
		values[i] = 64
	}
	for i := range len(alphabet) {
		values[alphabet[i]] = byte(i)
	}
	return values
}()
