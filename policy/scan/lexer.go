package scan

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is what the rough lexer tells apart.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenString
	tokenTemplate // one stretch of template text, delimiters included
	tokenNumber
	tokenRegExp
	tokenPunct // one byte, or "=>", "?.", "**", "++", "--"
)

type token struct {
	kind       tokenKind
	start, end int
	// newline reports a line end before the token.
	newline bool
}

// lexer cuts JavaScript or TypeScript into tokens well enough to measure nesting and to scan what no parser takes. It
// accepts any bytes, always advances, and takes linear time. Whether a slash divides or opens a regular expression is
// told from the token before it.
type lexer struct {
	src  string
	pos  int
	prev token
	// stack holds the open brackets.
	stack []bracket
	// regexMiss is where a line was found to hold no further regular expression end, so that it is not searched again.
	regexMiss int
	// closed is the bracket that the last closing token closed.
	closed bracket
}

// bracket is one open bracket: ( [ { or $ for a template's hole, and whether what it closes is an operand, after which a
// slash divides.
type bracket byte

const operandBit = 0x80

func (b bracket) open() byte    { return byte(b &^ operandBit) }
func (b bracket) operand() bool { return b&operandBit != 0 }

// newLexer returns a lexer of the source.
func newLexer(src string) *lexer { return &lexer{src: src, stack: make([]bracket, 0, 32)} }

// depth returns the number of open brackets.
func (l *lexer) depth() int { return len(l.stack) }

func (l *lexer) text(t token) string { return l.src[t.start:t.end] }

// next gives the next token and keeps the bracket stack up to date.
func (l *lexer) next() token {
	newline := l.skipSpace()
	t := token{start: l.pos, newline: newline}
	if l.pos >= len(l.src) {
		t.end = l.pos
		return t
	}
	c := l.src[l.pos]
	switch {
	case isWordByte(c) && (c < '0' || c > '9') || c == '#' && l.pos+1 < len(l.src) && isWordByte(l.src[l.pos+1]):
		t.kind = tokenWord
		l.pos++
		l.word()
	case c >= '0' && c <= '9' || c == '.' && l.pos+1 < len(l.src) && l.src[l.pos+1] >= '0' && l.src[l.pos+1] <= '9':
		t.kind = tokenNumber
		for l.pos++; l.pos < len(l.src) && (isWordByte(l.src[l.pos]) || l.src[l.pos] == '.'); l.pos++ {
		}
	case c == '"' || c == '\'':
		t.kind = tokenString
		l.quoted(c)
	case c == '`':
		t.kind = tokenTemplate
		l.template()
	case c == '/' && !l.afterOperand() && l.regExp():
		t.kind = tokenRegExp
	default:
		t.kind = tokenPunct
		l.punct(c)
		if c == '}' && l.src[t.start:l.pos] != "}" {
			t.kind = tokenTemplate
		}
	}
	t.end = l.pos
	l.prev = t
	return t
}

// isWordByte reports the bytes of names: letters, digits, _, $, the backslash of an escape, and what is not ASCII.
func isWordByte(c byte) bool {
	const digits, letters = 0x03ff_0010_0000_0000, 0x07ff_fffe_97ff_fffe // a bit for each of 0-63, and of 64-127
	switch c >> 6 {
	case 0:
		return uint64(digits)>>(c&63)&1 != 0
	case 1:
		return uint64(letters)>>(c&63)&1 != 0
	}
	return true
}

// word reads on over an identifier; \u{…} belongs to it.
func (l *lexer) word() {
	if l.src[l.pos-1] == '\\' {
		l.escape()
	}
	for l.pos < len(l.src) && isWordByte(l.src[l.pos]) {
		c := l.src[l.pos]
		if spaceAt(l.src[l.pos:]) > 0 {
			return
		}
		l.pos++
		if c == '\\' {
			l.escape()
		}
	}
}

func (l *lexer) escape() {
	if strings.HasPrefix(l.src[l.pos:], "u{") {
		for l.pos < len(l.src) && l.src[l.pos] != '}' && l.src[l.pos] != '\n' {
			l.pos++
		}
		l.pos = min(l.pos+1, len(l.src))
	}
}

// quoted reads a string, which ends at its quote or, when it is broken, before the line's end.
func (l *lexer) quoted(quote byte) {
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case quote:
			l.pos++
			return
		case '\\':
			l.pos++
		case '\n':
			return
		}
	}
	l.pos = min(l.pos, len(l.src))
}

// template reads template text up to its end or its next hole, which it opens.
func (l *lexer) template() {
	for l.pos++; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case '`':
			l.pos++
			return
		case '\\':
			l.pos++
		case '$':
			if l.pos+1 < len(l.src) && l.src[l.pos+1] == '{' {
				l.pos += 2
				l.stack = append(l.stack, '$'|operandBit)
				return
			}
		}
	}
	l.pos = min(l.pos, len(l.src))
}

// regExp reads a regular expression; without an end on the line it is none.
func (l *lexer) regExp() bool {
	if l.pos < l.regexMiss {
		return false
	}
	class := false
	for i := l.pos + 1; ; i++ {
		if i >= len(l.src) || l.src[i] == '\n' {
			l.regexMiss = i
			return false
		}
		switch l.src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				for i++; i < len(l.src) && isWordByte(l.src[i]); i++ {
				}
				l.pos = i
				return true
			}
		}
	}
}

func (l *lexer) punct(c byte) {
	switch c {
	case '(', '[', '{':
		b := bracket(c)
		if l.closesOperand(c) {
			b |= operandBit
		}
		l.stack = append(l.stack, b)
	case ')', ']', '}':
		l.closed = operandBit
		if n := len(l.stack); n > 0 {
			l.closed = l.stack[n-1]
			l.stack = l.stack[:n-1]
			if c == '}' && l.closed.open() == '$' {
				l.template()
				return
			}
		}
	}
	l.pos++
	if l.pos >= len(l.src) {
		return
	}
	switch next := l.src[l.pos]; c {
	case '=':
		if next == '>' {
			l.pos++
		}
	case '?':
		if next == '.' {
			l.pos++
		}
	case '*', '+', '-':
		if next == c {
			l.pos++
		}
	}
}

// closesOperand foretells, when a bracket opens, whether its end is the end of an operand.
func (l *lexer) closesOperand(c byte) bool {
	if l.prev.kind == tokenEnd {
		return c != '{'
	}
	prev := l.text(l.prev)
	switch {
	case c == '(' && l.prev.kind == tokenWord:
		return prev != "if" && prev != "while" && prev != "for" && prev != "with"
	case c == '{':
		switch prev {
		case ")", ";", "{", "}", "=>", ">", "else", "do", "try", "finally":
			return false
		}
		return l.prev.kind == tokenPunct || isKeyword(prev)
	}
	return true
}

// afterOperand reports whether the token before the current position ends an operand.
func (l *lexer) afterOperand() bool { return l.operand(l.prev) }

// operand reports whether a token ends an operand. It is one of the last two.
func (l *lexer) operand(t token) bool {
	switch t.kind {
	case tokenEnd:
		return false
	case tokenWord:
		return !isKeyword(l.text(t))
	case tokenPunct:
		switch l.src[t.end-1] {
		case ')', ']', '}':
			return l.closed.operand()
		}
		p := l.text(t)
		return p == "++" || p == "--"
	default:
		return t.kind != tokenTemplate || l.src[t.end-1] == '`'
	}
}

// isKeyword reports the words after which an expression begins.
func isKeyword(w string) bool {
	switch w {
	case "return", "typeof", "case", "do", "else", "in", "instanceof", "new", "void", "delete", "throw", "yield", "await",
		"of", "if", "while", "for", "default", "extends":
		return true
	}
	return false
}

// skipSpace passes white space and comments and reports whether a line ended among them.
func (l *lexer) skipSpace() (newline bool) {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c > '/' && c < utf8.RuneSelf:
			return newline
		case c == '\n' || c == '\r':
			newline = true
			l.pos++
		case c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == 0:
			l.pos++
		case c == '/' && strings.HasPrefix(l.src[l.pos:], "//"), c == '#' && l.pos == 0 && strings.HasPrefix(l.src, "#!"):
			if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.src)
			}
		case c == '/' && strings.HasPrefix(l.src[l.pos:], "/*"):
			n := strings.Index(l.src[l.pos+2:], "*/")
			if n < 0 {
				l.pos = len(l.src)
				return newline
			}
			newline = newline || strings.Contains(l.src[l.pos:l.pos+2+n], "\n")
			l.pos += n + 4
		case c >= 0x80:
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if r == '\u2028' || r == '\u2029' {
				newline = true
			} else if r != '\u00a0' && r != '\ufeff' && (r < '\u2000' || r > '\u200a') && r != '\u3000' {
				return newline
			}
			l.pos += n
		default:
			return newline
		}
	}
	return newline
}

// spaceAt returns the length of the line separator or space outside ASCII that s begins with, or 0.
func spaceAt(s string) int {
	if s[0] < utf8.RuneSelf {
		return 0
	}
	switch r, n := utf8.DecodeRuneInString(s); r {
	case '\u2028', '\u2029', '\u00a0', '\ufeff':
		return n
	}
	return 0
}
