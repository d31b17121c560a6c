package flow

import (
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
)

// cursor finds the places of names and literals in the source.
type cursor struct {
	budget   *cost.Budget
	text     string // what was parsed
	buf      []byte // the same, as the parser holds it: names are slices of it
	offset   int    // behind the last name or literal passed, in source order
	searched int    // the furthest offset that locate has looked at in this walk
	at       int    // best position of the expression just walked
}

// stringText returns the content of a string literal.
func (c *cursor) stringText(data []byte) string {
	if len(data) < 2 {
		return ""
	}
	plain, _ := lexer.Unescape(c.source(data[1 : len(data)-1]))
	return plain
}

// propertyText returns the name that a literal property key stands for.
func (c *cursor) propertyText(l js.LiteralExpr) string {
	s := c.source(l.Data)
	if l.TokenType == js.StringToken && len(s) >= 2 {
		s = s[1 : len(s)-1]
	}
	plain, _ := lexer.Unescape(s)
	return plain
}

// passName moves the cursor behind the next mention of a variable.
func (c *cursor) passName(v *js.Var) { c.at = c.locate(v.Data) }

// offsetOf returns the offset of a slice of the parsed text. The parser keeps no positions, but names and literals are
// slices of its buffer, so the distance between two addresses is the offset. Nothing is read through them.
func (c *cursor) offsetOf(b []byte) (int, bool) {
	if len(b) == 0 || len(c.buf) == 0 {
		return 0, false
	}
	off := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(c.buf)))
	if off >= uintptr(len(c.buf)) {
		return 0, false
	}
	return int(off), true
}

// source returns the text of a slice of what was parsed, without a copy.
func (c *cursor) source(b []byte) string {
	if off, ok := c.offsetOf(b); ok && off+len(b) <= len(c.text) && c.text[off:off+len(b)] == string(b) {
		return c.text[off : off+len(b)]
	}
	return string(b)
}

// pass moves the cursor behind a name or literal and returns its offset.
func (c *cursor) pass(b []byte) int {
	if off, ok := c.offsetOf(b); ok {
		c.offset = off + len(b)
		return off
	}
	return c.locate(b)
}

// locate returns the offset of the next mention of a name and moves the cursor behind it. The tree gives every mention
// of a variable the bytes of the first one, but the walk follows the source, so only punctuation, keywords and comments
// are between the cursor and the mention. Text that locate searches a second time is charged to the budget.
func (c *cursor) locate(name []byte) int {
	if len(name) > 1 && name[0] == '#' {
		name = name[1:]
	}
	from := c.offset
	at, cursor, seen := mentionOf(name, c.text, from)
	c.offset = cursor
	if again := min(seen, c.searched) - from; again > 0 {
		c.budget.Take(again / cost.TextBytes)
	}
	c.searched = max(c.searched, seen)
	return at
}

// mentionOf searches s for name, starting at from. It returns the offset of the mention, the offset to continue from,
// and the end of what it searched. If something else is in the way it returns the offset of that.
func mentionOf(name []byte, s string, from int) (at, next, seen int) {
	for i := from; i < len(s); {
		switch c := s[i]; {
		case lexer.IsWordByte(c):
			j := wordEnd(s, i)
			if j-i >= len(name) && s[i:i+len(name)] == string(name) && (j-i == len(name) || s[i+len(name)] >= utf8.RuneSelf) {
				return i, i + len(name), j
			}
			if !passable(s[i:j]) {
				return i, i, j
			}
			i = j
		case c == '"' || c == '\'':
			return i, i, i
		case c != '/' || i+1 == len(s):
			i++
		case s[i+1] == '/':
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				return i, len(s), len(s)
			}
			i += n
		case s[i+1] == '*':
			n := strings.Index(s[i+2:], "*/")
			if n < 0 {
				return i, len(s), len(s)
			}
			i += n + 4
		default:
			i++
		}
	}
	return len(s), len(s), len(s)
}

// wordEnd returns the end of the word, or of the white space outside ASCII, that begins at an offset.
func wordEnd(s string, i int) int {
	if n := lexer.SpaceAt(s[i:]); n > 0 {
		return i + n
	}
	for i++; i < len(s) && lexer.IsWordByte(s[i]) && lexer.SpaceAt(s[i:]) == 0; i++ {
	}
	return i
}

// passable reports whether a word has no node of its own and so may be between the cursor and a name.
func passable(word string) bool {
	switch word {
	case "\u2028", "\u2029", "\u00a0", "\ufeff":
		return true
	case "var", "let", "const", "function", "class", "extends", "new", "return", "typeof", "void", "delete", "await",
		"yield",
		"throw", "in", "of", "instanceof", "if", "else", "for", "while", "do", "switch", "case", "default", "try", "catch",
		"finally", "with", "async", "static", "get", "set", "export", "import", "as", "from", "break", "continue", "debugger",
		"meta", "target", "super", "this", "null", "true", "false":
		return true
	}
	return false
}
