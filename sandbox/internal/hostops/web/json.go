package web

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// maxFaulty bounds the JSON text in which the fault is looked for, in UTF-16 units.
const maxFaulty = 64 << 10

// jsonFault returns the message of the error that V8 throws for a JSON text, or null for text that is too long or has
// no fault.
func jsonFault(c *hostops.Call, args []quickjs.Value) (quickjs.Value, error) {
	text, ok, err := c.Str(args[0], maxFaulty)
	if err != nil {
		return 0, err
	}
	if !ok {
		return quickjs.Null, nil
	}
	if err := c.Work(2 * len(text)); err != nil {
		return 0, err
	}
	if message := (&jsonText{text: text}).fault(); message != "" {
		return c.NewString(message)
	}
	return quickjs.Null, nil
}

// jsonText reads a JSON text up to its first fault.
type jsonText struct {
	text string
	at   int
	open []byte // the brackets around
}

// fault returns the message of the first fault, or nothing.
func (j *jsonText) fault() string {
	for {
		j.space()
		message, opened := j.value()
		if message != "" {
			return message
		}
		for !opened {
			if len(j.open) == 0 {
				if j.space(); j.at < len(j.text) {
					return j.placed("Unexpected non-whitespace character after JSON")
				}
				return ""
			}
			message, closed := j.after()
			if message != "" {
				return message
			}
			if !closed {
				break
			}
		}
	}
}

// value reads a value. opened reports that it is the start of an object or array whose first value is next.
func (j *jsonText) value() (message string, opened bool) {
	switch c := j.peek(); {
	case c == '{':
		j.at++
		if j.space(); j.peek() == '}' {
			j.at++
			return "", false
		}
		j.open = append(j.open, '{')
		return j.key("Expected property name or '}'", "Expected ':' after property name"), true
	case c == '[':
		j.at++
		if j.space(); j.peek() == ']' {
			j.at++
			return "", false
		}
		j.open = append(j.open, '[')
		return "", true
	case c == '"':
		return j.quoted(), false
	case c == '-' || c >= '0' && c <= '9':
		return j.number(), false
	}
	for _, word := range []string{"true", "false", "null"} {
		if j.peek() != word[0] {
			continue
		}
		for i := range len(word) {
			if j.peek() != word[i] {
				return j.unexpected(), false
			}
			j.at++
		}
		return "", false
	}
	return j.unexpected(), false
}

// after reads what follows a value in an object or array.
func (j *jsonText) after() (message string, closed bool) {
	j.space()
	in := j.open[len(j.open)-1]
	switch c := j.peek(); {
	case c == ',':
		j.at++
		if in == '{' {
			j.space()
			return j.key("Expected double-quoted property name", ""), false
		}
		return "", false
	case c == in+2: // the bracket that closes
		j.at++
		j.open = j.open[:len(j.open)-1]
		return "", true
	case in == '{':
		return j.placed("Expected ',' or '}' after property value"), false
	}
	return j.placed("Expected ',' or ']' after array element"), false
}

// key reads a name and the colon behind it. noName and noColon say what is missing; V8 has words for the first colon of
// an object alone.
func (j *jsonText) key(noName, noColon string) string {
	if j.peek() != '"' {
		return j.placed(noName)
	}
	if message := j.quoted(); message != "" {
		return message
	}
	if j.space(); j.peek() != ':' {
		if noColon == "" {
			return j.unexpected()
		}
		return j.placed(noColon)
	}
	j.at++
	return ""
}

func (j *jsonText) quoted() string {
	for j.at++; j.at < len(j.text); j.at++ {
		switch c := j.text[j.at]; {
		case c == '"':
			j.at++
			return ""
		case c < ' ':
			return j.placed("Bad control character in string literal")
		case c == '\\':
			j.at++
			switch e := j.peek(); {
			case e == 'u':
				for range 4 {
					if j.at++; hostops.HexDigit(j.peek()) < 0 {
						return j.placed("Bad Unicode escape")
					}
				}
			case e == 0 && j.at >= len(j.text):
				return j.unexpected()
			case !strings.ContainsRune(`"\/bfnrt`, rune(e)):
				return j.placed("Bad escaped character")
			}
		}
	}
	return j.placed("Unterminated string")
}

func (j *jsonText) number() string {
	if j.peek() == '-' {
		if j.at++; !digit(j.peek()) {
			return j.placed("No number after minus sign")
		}
	}
	if j.peek() == '0' {
		if j.at++; digit(j.peek()) {
			return j.placed("Unexpected number")
		}
	}
	j.digits()
	if j.peek() == '.' {
		if j.at++; !digit(j.peek()) {
			return j.placed("Unterminated fractional number")
		}
		j.digits()
	}
	if c := j.peek(); c == 'e' || c == 'E' {
		if j.at++; j.peek() == '+' || j.peek() == '-' {
			j.at++
		}
		if !digit(j.peek()) {
			return j.placed("Exponent part is missing a number")
		}
		j.digits()
	}
	return ""
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (j *jsonText) digits() {
	for digit(j.peek()) {
		j.at++
	}
}

func (j *jsonText) space() {
	for c := j.peek(); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = j.peek() {
		j.at++
	}
}

// peek returns the next byte, or 0 at the end.
func (j *jsonText) peek() byte {
	if j.at < len(j.text) {
		return j.text[j.at]
	}
	return 0
}

// placed returns a message with the position.
func (j *jsonText) placed(message string) string {
	if !strings.HasSuffix(message, "JSON") {
		message += " in JSON"
	}
	return fmt.Sprintf("%s at position %d", message, units(j.text[:j.at]))
}

// units returns the length of s in UTF-16 units.
func units(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// unexpected returns the message of a character that no value starts with, with what stands around it.
func (j *jsonText) unexpected() string {
	const context = 10
	if j.at >= len(j.text) {
		return "Unexpected end of JSON input"
	}
	switch j.text {
	case "undefined", "NaN", "Infinity", "[object Object]":
		return `"` + j.text + `" is not valid JSON`
	}
	switch c := j.peek(); {
	case digit(c) || c == '-':
		return j.placed("Unexpected number")
	case c == '"':
		return j.placed("Unexpected string")
	}
	r, _ := utf8.DecodeRuneInString(j.text[j.at:])
	all := utf16.Encode([]rune(j.text))
	at, front, back := units(j.text[:j.at]), "", ""
	shown := all
	if len(all) > 2*context {
		if at >= context {
			front = "..."
		}
		if at < len(all)-context {
			back = "..."
		}
		shown = all[max(at-context, 0):min(at+context, len(all))]
	}
	return fmt.Sprintf("Unexpected token '%c', %s\"%s\"%s is not valid JSON", r, front, string(utf16.Decode(shown)), back)
}
