package toolname

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes bounds a tool's name.
const MaxBytes = 256

// Global returns the global and its method by which the guest calls a tool. "namespace:method" and "namespace.method"
// become namespace.method. "namespace" alone becomes namespace.call, and namespace is the same function. Anything but
// ASCII letters, digits, _ and $ becomes _.
func Global(name string) (namespace, method string) {
	separator := "."
	if strings.Contains(name, ":") {
		separator = ":"
	}
	namespace, method, _ = strings.Cut(name, separator)
	if method = sanitized(strings.ReplaceAll(method, separator, "_")); method == "" {
		method = "call"
	}
	return sanitized(namespace), method
}

// sanitized replaces the characters that a JavaScript name cannot have. It works on UTF-16 units, as JavaScript does.
func sanitized(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '$':
			out.WriteRune(r)
		case r > 0xffff:
			out.WriteString("__")
		default:
			out.WriteByte('_')
		}
	}
	return out.String()
}

// Check returns the reason why a tool's name is refused, if any: its namespace is a keyword or a name of the language
// or the sandbox, the language calls its method by itself (await calls then, JSON.stringify calls toJSON), or a reader
// could confuse it with another.
func Check(name string) error {
	namespace, method := Global(name)
	switch {
	case namespace == "" || len(name) > MaxBytes:
		return fmt.Errorf(`must be "namespace:method" or "namespace.method" of at most %d bytes`, MaxBytes)
	case namespace[0] >= '0' && namespace[0] <= '9':
		return errors.New("starts with a digit; a JavaScript name cannot")
	case Plain(name) != name:
		return errors.New("has invisible characters")
	case Reserved(namespace) || builtin(namespace):
		return fmt.Errorf("its namespace %s is reserved by the language or the sandbox", namespace)
	case called(method):
		return fmt.Errorf("its method %s is reserved: the language calls it implicitly", method)
	}
	return nil
}

// called reports whether the language calls, or looks for, a member of this name by itself.
func called(method string) bool {
	return method == "then" || method == "toJSON" || inherited(method)
}

// inherited reports whether every object has a member of this name.
func inherited(name string) bool {
	switch name {
	case "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "constructor",
		"hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf":
		return true
	}
	return false
}

// Plain returns text with hidden characters made visible: control characters other than tab and newline, characters
// that are invisible or change the direction of others, and bytes that are not UTF-8 are written as \u{202e}.
func Plain(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	out := make([]byte, 0, len(text)+len(text)/4)
	for i, r := range text {
		switch {
		case !hidden(r):
			out = utf8.AppendRune(out, r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			out = append(out, '\\', 'x', hexDigits[text[i]>>4], hexDigits[text[i]&15])
		case r == utf8.RuneError:
			out = utf8.AppendRune(out, r)
		default:
			out = append(strconv.AppendUint(append(out, `\u{`...), uint64(r), 16), '}')
		}
	}
	return string(out)
}

// PlainJSON returns a JSON text of the same meaning in which hidden characters are escaped.
func PlainJSON(text []byte) []byte {
	if !strings.ContainsFunc(string(text), hidden) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/4)
	for _, r := range string(text) {
		switch {
		case !hidden(r) || r < ' ': // white space between tokens; within a string there can be none
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			out = appendUnit(appendUnit(out, 0xd800+(r-0x10000)>>10), 0xdc00+(r-0x10000)&0x3ff)
		default:
			out = appendUnit(out, r)
		}
	}
	return out
}

const hexDigits = "0123456789abcdef"

// appendUnit appends a UTF-16 unit as JSON escapes it.
func appendUnit(out []byte, unit rune) []byte {
	return append(out, '\\', 'u', hexDigits[unit>>12&15], hexDigits[unit>>8&15], hexDigits[unit>>4&15], hexDigits[unit&15])
}

// hidden reports whether a character is invisible or moves others. The joiners are not: some scripts and emoji need
// them.
func hidden(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f:
		return false
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
		return false
	case r == utf8.RuneError || r == '\u2028' || r == '\u2029':
		return true
	case r >= 0xe0100 && r <= 0xe01ef: // variation selectors, which can carry a text of their own
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
