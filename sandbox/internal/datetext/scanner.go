package datetext

import "unicode/utf8"

// kind is the kind of a token.
type kind uint8

const (
	other kind = iota // what is skipped, text in parentheses included
	end
	number
	symbol // one of : - + . )
	space  // one white space or line break
	word
)

// token is a part of the text: a number with its value, a symbol, or a word with the value of what it means. A word or
// a number has a length, of which the leading zeros of a number are part.
type token struct {
	kind    kind
	symbol  byte
	meaning meaning
	length  int32
	value   int32
}

// maxDigits is how many digits of a number count, after its leading zeros. Others are skipped.
const maxDigits = 9

// meaning is what a keyword says.
type meaning uint8

const (
	unknown meaning = iota
	month
	half // of a day
	zone
	separator // of a date and a time
)

// keyword is what a word means. Its value is the number of a month, hours to add, or the hours of a time zone.
type keyword struct {
	meaning meaning
	value   int32
}

// keywords are told by their first three letters. Only months may have more.
var keywords = map[[3]byte]keyword{
	{'j', 'a', 'n'}: {month, 1}, {'f', 'e', 'b'}: {month, 2}, {'m', 'a', 'r'}: {month, 3}, {'a', 'p', 'r'}: {month, 4},
	{'m', 'a', 'y'}: {month, 5}, {'j', 'u', 'n'}: {month, 6}, {'j', 'u', 'l'}: {month, 7}, {'a', 'u', 'g'}: {month, 8},
	{'s', 'e', 'p'}: {month, 9}, {'o', 'c', 't'}: {month, 10}, {'n', 'o', 'v'}: {month, 11}, {'d', 'e', 'c'}: {month, 12},
	{'a', 'm'}: {half, 0}, {'p', 'm'}: {half, 12},
	{'u', 't'}: {zone, 0}, {'u', 't', 'c'}: {zone, 0}, {'z'}: {zone, 0}, {'g', 'm', 't'}: {zone, 0},
	{'c', 'd', 't'}: {zone, -5}, {'c', 's', 't'}: {zone, -6}, {'e', 'd', 't'}: {zone, -4}, {'e', 's', 't'}: {zone, -5},
	{'m', 'd', 't'}: {zone, -6}, {'m', 's', 't'}: {zone, -7}, {'p', 'd', 't'}: {zone, -7}, {'p', 's', 't'}: {zone, -8},
	{'t'}: {separator, 0},
}

// scanner splits text into tokens. current is the one that comes next, and char the character behind it, which has so
// many bytes. At the end char is 0 and has none.
type scanner struct {
	text    string
	at      int
	char    rune
	bytes   int
	current token
}

func newScanner(text string) *scanner {
	s := &scanner{text: text}
	s.advance()
	s.current = s.scan()
	return s
}

// advance goes on to the next character.
func (s *scanner) advance() {
	if s.at += s.bytes; s.at < len(s.text) && s.text[s.at] < utf8.RuneSelf {
		s.char, s.bytes = rune(s.text[s.at]), 1
	} else {
		s.decode()
	}
}

// decode sets the character to one beyond ASCII, or to none.
func (s *scanner) decode() {
	if s.char, s.bytes = 0, 0; s.at < len(s.text) {
		s.char, s.bytes = utf8.DecodeRuneInString(s.text[s.at:])
	}
}

// next returns the token that comes next and goes on to the one behind it.
func (s *scanner) next() token {
	t := s.current
	s.current = s.scan()
	return t
}

// skip skips a symbol and reports whether it was next.
func (s *scanner) skip(c byte) bool {
	if !s.current.is(c) {
		return false
	}
	s.next()
	return true
}

func (t token) is(c byte) bool { return t.kind == symbol && t.symbol == c }
func (t token) isSign() bool   { return t.is('-') || t.is('+') }
func (t token) isZ() bool      { return t.kind == word && t.length == 1 && t.meaning == zone }

// digits reports whether a token is a number of so many digits.
func (t token) digits(n int32) bool { return t.kind == number && t.length == n }

// sign returns the factor that a sign stands for.
func (t token) sign() int {
	if t.symbol == '-' {
		return -1
	}
	return 1
}

func (s *scanner) scan() token {
	switch c := s.char; {
	case s.bytes == 0:
		return token{kind: end}
	case isDigit(c):
		return s.number()
	case c == ':' || c == '-' || c == '+' || c == '.' || c == ')':
		s.advance()
		return token{kind: symbol, symbol: byte(c)}
	case isSpace(c):
		s.advance()
		return token{kind: space}
	case c >= 'A':
		return s.word()
	case c == '(':
		s.parentheses()
	default:
		s.advance()
	}
	return token{}
}

func (s *scanner) number() token {
	from, value := s.at, int32(0)
	for s.char == '0' {
		s.advance()
	}
	for digits := 0; isDigit(s.char); digits++ {
		if digits < maxDigits {
			value = value*10 + s.char - '0'
		}
		s.advance()
	}
	return token{kind: number, value: value, length: int32(s.at - from)}
}

func (s *scanner) word() token {
	var first [3]byte
	n := 0
	for ; s.char >= 'A' && !isSpace(s.char); n++ {
		if n < len(first) {
			first[n] = lower(s.char)
		}
		s.advance()
	}
	t := token{kind: word, length: int32(n)}
	if k := keywords[first]; n <= len(first) || k.meaning == month {
		t.meaning, t.value = k.meaning, k.value
	}
	return t
}

// parentheses skips text in parentheses, up to the end of the text if they are not closed.
func (s *scanner) parentheses() {
	for depth := 0; ; {
		switch s.char {
		case '(':
			depth++
		case ')':
			depth--
		}
		if s.advance(); depth == 0 || s.char == 0 {
			return
		}
	}
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

// lower returns a letter of ASCII in lower case, and a space for anything else.
func lower(c rune) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return byte(c) + 'a' - 'A'
	case c >= 'a' && c <= 'z':
		return byte(c)
	}
	return ' '
}

// isSpace reports whether a character is white space or a line break of JavaScript.
func isSpace(c rune) bool {
	if c < utf8.RuneSelf {
		return c == ' ' || c >= '\t' && c <= '\r'
	}
	switch c {
	case 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return c >= 0x2000 && c <= 0x200a
}
