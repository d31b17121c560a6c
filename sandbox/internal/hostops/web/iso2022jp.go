package web

import "unicode/utf8"

// The modes of the ISO-2022-JP decoder; the high bit is set after an escape sequence.
const (
	isoASCII = iota
	isoRoman
	isoKatakana
	isoJIS0208
	isoEscaped = 0x80
)

// iso2022JP decodes ISO-2022-JP as the WHATWG Encoding Standard says. The decoder of x/text accepts more.
func iso2022JP(d *decoder, dst, src []byte, last bool) (out, rest []byte, bad bool) {
	fail := func(n int) {
		dst, src, bad = append(dst, "\ufffd"...), src[n:], true
		d.mode &^= isoEscaped
	}
	for len(src) > 0 {
		c, mode := src[0], d.mode&^isoEscaped
		switch {
		case c == 0x1b:
			if len(src) < 3 && !last && (len(src) < 2 || src[1] == '$' || src[1] == '(') {
				return dst, src, bad
			}
			next, ok := isoEscape(src)
			if !ok {
				fail(1)
				continue
			}
			if d.mode&isoEscaped != 0 {
				dst, bad = append(dst, "\ufffd"...), true // two escape sequences in a row
			}
			d.mode, src = next|isoEscaped, src[3:]
		case mode == isoJIS0208 && c >= 0x21 && c <= 0x7e:
			if len(src) < 2 && !last {
				return dst, src, bad
			}
			r, n := isoPair(d, src)
			if r == utf8.RuneError {
				fail(n)
				continue
			}
			dst, src, d.mode = utf8.AppendRune(dst, r), src[n:], mode
		case mode == isoKatakana && c >= 0x21 && c <= 0x5f:
			dst, src, d.mode = utf8.AppendRune(dst, rune(c)+0xff61-0x21), src[1:], mode
		case mode <= isoRoman && c < utf8.RuneSelf && c != 0x0e && c != 0x0f:
			r := rune(c)
			if mode == isoRoman && c == '\\' {
				r = '¥'
			} else if mode == isoRoman && c == '~' {
				r = '‾'
			}
			dst, src, d.mode = utf8.AppendRune(dst, r), src[1:], mode
		default:
			fail(1)
		}
	}
	return dst, nil, bad
}

func isoEscape(src []byte) (mode byte, ok bool) {
	if len(src) < 3 {
		return 0, false
	}
	switch string(src[1:3]) {
	case "(B":
		return isoASCII, true
	case "(J":
		return isoRoman, true
	case "(I":
		return isoKatakana, true
	case "$@", "$B":
		return isoJIS0208, true
	}
	return 0, false
}

// isoPair decodes two bytes of JIS X 0208 by way of EUC-JP. It returns how many bytes it used.
func isoPair(d *decoder, src []byte) (rune, int) {
	if len(src) < 2 {
		return utf8.RuneError, 1
	}
	if src[1] < 0x21 || src[1] > 0x7e {
		if src[1] == 0x1b {
			return utf8.RuneError, 1
		}
		return utf8.RuneError, 2
	}
	return d.tableRune([]byte{src[0] | 0x80, src[1] | 0x80}), 2
}
