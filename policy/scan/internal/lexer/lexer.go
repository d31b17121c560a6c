package lexer

import (
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

const (
	End Kind = iota
	Word
	String
	Template // one stretch of template text, delimiters included
	tokenNumber
	tokenRegExp
	Punct // one byte, or "=>", "?.", "**", "++", "--"
)

type Token struct {
	Kind       Kind
	Start, End int
	// Newline reports a line end before the token.
	Newline bool
}

// A Lexer cuts source into tokens. The token before a slash decides whether the slash divides or opens a regular
// expression.
type Lexer struct {
	Src  string
	pos  int
	prev Token
	// stack holds the open brackets.
	stack []bracket
	// regexMiss is the end of a line that holds no further end of a regular expression. It is not searched again.
	regexMiss int
	// Closed is the bracket that the last closing token closed.
	Closed bracket
}

// bracket is one open bracket: ( [ { or $ for the hole of a template. A bit says whether what it closes is an operand,
// after which a slash divides.
type bracket byte

const operandBit = 0x80

func (b bracket) Open() byte    { return byte(b &^ operandBit) }
func (b bracket) Operand() bool { return b&operandBit != 0 }

// New returns a lexer of the source.
func New(src string) *Lexer { return &Lexer{Src: src, stack: make([]bracket, 0, 32)} }

// Depth returns the number of open brackets.
func (l *Lexer) Depth() int { return len(l.stack) }

func (l *Lexer) Text(t Token) string { return l.Src[t.Start:t.End] }

// Next returns the next token and keeps the bracket stack up to date.
func (l *Lexer) Next() Token {
	newline := l.skipSpace()
	t := Token{Start: l.pos, Newline: newline}
	if l.pos >= len(l.Src) {
		t.End = l.pos
		return t
	}
	c := l.Src[l.pos]
	switch {
	case IsWordByte(c) && (c < '0' || c > '9') || c == '#' && l.pos+1 < len(l.Src) && IsWordByte(l.Src[l.pos+1]):
		t.Kind = Word
		l.pos++
		l.word()
	case c >= '0' && c <= '9' || c == '.' && l.pos+1 < len(l.Src) && l.Src[l.pos+1] >= '0' && l.Src[l.pos+1] <= '9':
		t.Kind = tokenNumber
		for l.pos++; l.pos < len(l.Src) && (IsWordByte(l.Src[l.pos]) || l.Src[l.pos] == '.'); l.pos++ {
		}
	case c == '"' || c == '\'':
		t.Kind = String
		l.quoted(c)
	case c == '`':
		t.Kind = Template
		l.template()
	case c == '/' && !l.afterOperand() && l.regExp():
		t.Kind = tokenRegExp
	default:
		t.Kind = Punct
		l.punct(c)
		if c == '}' && l.Src[t.Start:l.pos] != "}" {
			t.Kind = Template
		}
	}
	t.End = l.pos
	l.prev = t
	return t
}

// IsWordByte reports whether a byte belongs to names: letters, digits, _, $, the backslash of an escape, and non-ASCII.
func IsWordByte(c byte) bool {
	const digits, letters = 0x03ff_0010_0000_0000, 0x07ff_fffe_97ff_fffe // a bit for each of 0-63, and of 64-127
	switch c >> 6 {
	case 0:
		return uint64(digits)>>(c&63)&1 != 0
	case 1:
		return uint64(letters)>>(c&63)&1 != 0
	}
	return true
}

// word skips the rest of an identifier, including \u{…}.
func (l *Lexer) word() {
	if l.Src[l.pos-1] == '\\' {
		l.escape()
	}
	for l.pos < len(l.Src) && IsWordByte(l.Src[l.pos]) {
		c := l.Src[l.pos]
		if SpaceAt(l.Src[l.pos:]) > 0 {
			return
		}
		l.pos++
		if c == '\\' {
			l.escape()
		}
	}
}

func (l *Lexer) escape() {
	if strings.HasPrefix(l.Src[l.pos:], "u{") {
		for l.pos < len(l.Src) && l.Src[l.pos] != '}' && l.Src[l.pos] != '\n' {
			l.pos++
		}
		l.pos = min(l.pos+1, len(l.Src))
	}
}

// quoted skips a string. It ends at its quote or, if it is broken, before the end of the line.
func (l *Lexer) quoted(quote byte) {
	for l.pos++; l.pos < len(l.Src); l.pos++ {
		switch l.Src[l.pos] {
		case quote:
			l.pos++
			return
		case '\\':
			l.pos++
		case '\n':
			return
		}
	}
	l.pos = min(l.pos, len(l.Src))
}

// template skips template text to its end or its next hole, which it opens.
func (l *Lexer) template() {
	for l.pos++; l.pos < len(l.Src); l.pos++ {
		switch l.Src[l.pos] {
		case '`':
			l.pos++
			return
		case '\\':
			l.pos++
		case '$':
			if l.pos+1 < len(l.Src) && l.Src[l.pos+1] == '{' {
				l.pos += 2
				l.stack = append(l.stack, '$'|operandBit)
				return
			}
		}
	}
	l.pos = min(l.pos, len(l.Src))
}

// regExp skips a regular expression and reports whether it ends on its line.
func (l *Lexer) regExp() bool {
	if l.pos < l.regexMiss {
		return false
	}
	class := false
	for i := l.pos + 1; ; i++ {
		if i >= len(l.Src) || l.Src[i] == '\n' {
			l.regexMiss = i
			return false
		}
		switch l.Src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				for i++; i < len(l.Src) && IsWordByte(l.Src[i]); i++ {
				}
				l.pos = i
				return true
			}
		}
	}
}

func (l *Lexer) punct(c byte) {
	switch c {
	case '(', '[', '{':
		b := bracket(c)
		if l.closesOperand(c) {
			b |= operandBit
		}
		l.stack = append(l.stack, b)
	case ')', ']', '}':
		l.Closed = operandBit
		if n := len(l.stack); n > 0 {
			l.Closed = l.stack[n-1]
			l.stack = l.stack[:n-1]
			if c == '}' && l.Closed.Open() == '$' {
				l.template()
				return
			}
		}
	}
	l.pos++
	if l.pos >= len(l.Src) {
		return
	}
	switch next := l.Src[l.pos]; c {
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

// closesOperand reports whether the bracket that opens here will close an operand.
func (l *Lexer) closesOperand(c byte) bool {
	if l.prev.Kind == End {
		return c != '{'
	}
	prev := l.Text(l.prev)
	switch {
	case c == '(' && l.prev.Kind == Word:
		return prev != "if" && prev != "while" && prev != "for" && prev != "with"
	case c == '{':
		switch prev {
		case ")", ";", "{", "}", "=>", ">", "else", "do", "try", "finally":
			return false
		}
		return l.prev.Kind == Punct || IsKeyword(prev)
	}
	return true
}

// afterOperand reports whether the token before the current position ends an operand.
func (l *Lexer) afterOperand() bool { return l.Operand(l.prev) }

// Operand reports whether a token ends an operand. It must be one of the last two tokens.
func (l *Lexer) Operand(t Token) bool {
	switch t.Kind {
	case End:
		return false
	case Word:
		return !IsKeyword(l.Text(t))
	case Punct:
		switch l.Src[t.End-1] {
		case ')', ']', '}':
			return l.Closed.Operand()
		}
		p := l.Text(t)
		return p == "++" || p == "--"
	default:
		return t.Kind != Template || l.Src[t.End-1] == '`'
	}
}

// IsKeyword reports whether an expression begins after a word.
func IsKeyword(w string) bool {
	switch w {
	case "return", "typeof", "case", "do", "else", "in", "instanceof", "new", "void", "delete", "throw", "yield", "await",
		"of", "if", "while", "for", "default", "extends":
		return true
	}
	return false
}

// skipSpace skips white space and comments and reports whether a line ended in them.
func (l *Lexer) skipSpace() (newline bool) {
	for l.pos < len(l.Src) {
		switch c := l.Src[l.pos]; {
		case c > '/' && c < utf8.RuneSelf:
			return newline
		case c == '\n' || c == '\r':
			newline = true
			l.pos++
		case c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == 0:
			l.pos++
		case c == '/' && strings.HasPrefix(l.Src[l.pos:], "//"), c == '#' && l.pos == 0 && strings.HasPrefix(l.Src, "#!"):
			if n := strings.IndexByte(l.Src[l.pos:], '\n'); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.Src)
			}
		case c == '/' && strings.HasPrefix(l.Src[l.pos:], "/*"):
			n := strings.Index(l.Src[l.pos+2:], "*/")
			if n < 0 {
				l.pos = len(l.Src)
				return newline
			}
			newline = newline || strings.Contains(l.Src[l.pos:l.pos+2+n], "\n")
			l.pos += n + 4
		case c >= 0x80:
			r, n := utf8.DecodeRuneInString(l.Src[l.pos:])
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

// SpaceAt returns the length of the line separator or non-ASCII space that s begins with, or 0.
func SpaceAt(s string) int {
	if s[0] < utf8.RuneSelf {
		return 0
	}
	switch r, n := utf8.DecodeRuneInString(s); r {
	case '\u2028', '\u2029', '\u00a0', '\ufeff':
		return n
	}
	return 0
}
