package lexer

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func IsIdentifier(s string) bool {
	for i := range len(s) {
		if !IsWordByte(s[i]) || s[i] == '\\' || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}

// Unescape resolves the escapes of a string, template or identifier: \n, \xHH, \uHHHH, \u{H…}, octal, line
// continuation. It counts the ASCII letters, digits, _ and $ that were written as \x or \u escapes.
func Unescape(s string) (plain string, hidden int) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, 0
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'x', 'u':
			r, n := hexEscape(s[i:])
			if n == 0 {
				out = append(out, c)
				continue
			}
			i += n - 1
			if utf16.IsSurrogate(r) && i+2 < len(s) && s[i+1] == '\\' {
				if low, m := hexEscape(s[i+2:]); m > 0 && utf16.DecodeRune(r, low) != utf8.RuneError {
					r = utf16.DecodeRune(r, low)
					i += 1 + m
				}
			}
			if r < utf8.RuneSelf && IsWordByte(byte(r)) && r != '\\' {
				hidden++
			}
			out = utf8.AppendRune(out, r)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'v':
			out = append(out, '\v')
		case '\n':
		case '\r':
			if i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 1
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' && (n < 2 || c <= '3') {
				n++
			}
			v, _ := strconv.ParseUint(s[i:i+n], 8, 8) // at most three octal digits, checked above
			out = utf8.AppendRune(out, rune(v))
			i += n - 1
			if n > 1 && IsWordByte(byte(v)) && v < utf8.RuneSelf && v != '\\' {
				hidden++
			}
		default:
			out = append(out, c)
		}
	}
	return string(out), hidden
}

// hexEscape decodes what follows the backslash of \xHH, \uHHHH or \u{H…}. It returns the character and its length, or
// 0.
func hexEscape(s string) (rune, int) {
	digits, end := "", 0
	switch {
	case s == "":
		return 0, 0
	case strings.HasPrefix(s, "u{"):
		n := strings.IndexByte(s[:min(len(s), 12)], '}')
		if n < 0 {
			return 0, 0
		}
		digits, end = s[2:n], n+1
	case s[0] == 'u' && len(s) >= 5:
		digits, end = s[1:5], 5
	case s[0] == 'x' && len(s) >= 3:
		digits, end = s[1:3], 3
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), end
}
