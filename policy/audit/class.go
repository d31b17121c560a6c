package audit

import "strings"

// class is a set of bytes.
type class [256]bool

// classOf returns a class of the bytes of a text; a-z, A-Z and 0-9 stand for ranges.
func classOf(text string) *class {
	var c class
	for _, r := range []string{"a-z", "A-Z", "0-9", "2-7"} {
		if strings.Contains(text, r) {
			text = strings.Replace(text, r, "", 1)
			for b := r[0]; b <= r[2]; b++ {
				c[b] = true
			}
		}
	}
	for _, b := range []byte(text) {
		c[b] = true
	}
	return &c
}

// except returns the other bytes.
func except(text string) *class {
	c := classOf(text)
	for i := range c {
		c[i] = !c[i]
	}
	return c
}

var (
	space   = classOf("\t\n\f\r ")
	word    = classOf("a-zA-Z0-9_")
	alnum   = classOf("a-zA-Z0-9")
	dashed  = classOf("a-zA-Z0-9_-")
	base64s = classOf("a-zA-Z0-9+/")
	capital = classOf("A-Z0-9 ")
	scheme  = classOf("a-zA-Z0-9+.-")
	letter  = classOf("a-zA-Z")
)

// run returns the end of the bytes of a class that begin at a place.
func (c *class) run(s string, at int) int {
	for at < len(s) && c[s[at]] {
		at++
	}
	return at
}

// bound reports whether a word may begin, or end, at a place: the byte before it, or after it, is none of a word.
func bound(s string, at int) bool { return at == 0 || !word[s[at-1]] }

// has reports whether the text at a place is another, in upper or lower case.
func has(s string, at int, text string) bool {
	return 0 <= at && at+len(text) <= len(s) && s[at]|0x20 == text[0]|0x20 && s[at+1]|0x20 == text[1]|0x20 &&
		strings.EqualFold(s[at:at+len(text)], text)
}

// skip returns the place behind one of the bytes, if one is there.
func skip(s string, at int, bytes string) int {
	if at < len(s) && strings.IndexByte(bytes, s[at]) >= 0 {
		return at + 1
	}
	return at
}
