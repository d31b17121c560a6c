package web

import "unicode/utf8"

// gb18030 decodes gb18030 and gbk, which the standard decodes alike. The tables are those of x/text with the changes
// of GB18030-2022. The standard decides what is ill-formed and how much of a sequence is replaced.
func gb18030(d *decoder, dst, src []byte, last bool) (out, rest []byte, bad bool) {
	for len(src) > 0 {
		r, n := gb18030Rune(d, src)
		if n == 0 && !last {
			return dst, src, bad
		}
		if n == 0 { // the end, inside a sequence
			r, n = utf8.RuneError, len(src)
		}
		bad = bad || r == utf8.RuneError
		dst, src = utf8.AppendRune(dst, r), src[n:]
	}
	return dst, nil, bad
}

// gb18030Rune decodes the start of src. It returns U+FFFD if it is ill-formed and n = 0 if more bytes are needed.
func gb18030Rune(d *decoder, src []byte) (r rune, n int) {
	within := func(i int, low, high byte) bool { return src[i] >= low && src[i] <= high }
	switch {
	case src[0] < utf8.RuneSelf:
		return rune(src[0]), 1
	case src[0] == 0x80:
		return '€', 1
	case src[0] == 0xff:
		return utf8.RuneError, 1
	case len(src) == 1:
		return 0, 0
	case !within(1, 0x30, 0x39):
		return gb18030Pair(d, src)
	case len(src) == 2:
		return 0, 0
	case !within(2, 0x81, 0xfe):
		return utf8.RuneError, 1
	case len(src) == 3:
		return 0, 0
	case !within(3, 0x30, 0x39):
		return utf8.RuneError, 1
	}
	pointer := ((int(src[0]-0x81)*10+int(src[1]-0x30))*126+int(src[2]-0x81))*10 + int(src[3]-0x30)
	switch {
	case pointer > 39419 && pointer < 189000 || pointer > 1237575:
		return utf8.RuneError, 4
	case pointer == 7457:
		return 0xe7c7, 4
	}
	return d.tableRune(src[:4]), 4
}

func gb18030Pair(d *decoder, src []byte) (r rune, n int) {
	c := rune(src[0])<<8 | rune(src[1])
	switch {
	case c&0xff < 0x40 || c&0xff == 0x7f || c&0xff == 0xff:
		r = utf8.RuneError
	case gb18030Changed[c] != 0:
		r = gb18030Changed[c]
	default:
		r = d.tableRune(src[:2])
	}
	if r == utf8.RuneError && src[1] < utf8.RuneSelf {
		return r, 1 // the second byte is taken for itself
	}
	return r, 2
}

// gb18030Changed are the pairs that the tables of x/text lack.
var gb18030Changed = map[rune]rune{
	0xa6d9: 0xfe10, 0xa6da: 0xfe12, 0xa6db: 0xfe11, 0xa6dc: 0xfe13, 0xa6dd: 0xfe14, 0xa6de: 0xfe15, 0xa6df: 0xfe16,
	0xa6ec: 0xfe17, 0xa6ed: 0xfe18, 0xa6f3: 0xfe19, 0xa8bc: 0x1e3f, 0xfe59: 0x9fb4, 0xfe61: 0x9fb5, 0xfe66: 0x9fb6,
	0xfe67: 0x9fb7, 0xfe6d: 0x9fb8, 0xfe7e: 0x9fb9, 0xfe90: 0x9fba, 0xfea0: 0x9fbb, 0xfefe: 0xe4c5,
}
