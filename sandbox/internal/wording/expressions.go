package wording

import (
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// maxExpression bounds an expression in a message, in bytes.
const maxExpression = 128

// IsName reports whether a byte may belong to a name, also to a private one.
func IsName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '#' ||
		c >= utf8.RuneSelf
}

// backward returns the expression whose last token is at the position: names, their members, and the operands in front
// of them. Arguments are left out, as V8 leaves them out: "get(...).x". It returns "" for an expression that it cannot
// read.
func (t *thrown) backward() string {
	code, end := t.code, t.at
	if end >= len(code) {
		return ""
	}
	switch c := code[end]; {
	case IsName(c):
		for end < len(code) && IsName(code[end]) {
			end++
		}
		if end < len(code) && code[end] == ']' { // the key of a member
			end++
		}
		for end < len(code) && code[end] == '[' {
			n := strings.IndexByte(code[end:min(end+maxExpression, len(code))], ']')
			if n < 0 {
				break
			}
			end += n + 1
		}
	case c == '(': // of a call
		end = len(strings.TrimRight(code[:end], " \t\n"))
	case c == ']' || c == ')':
		end++
	case c == '"' || c == '\'':
		n := strings.IndexByte(code[end+1:], c)
		if n < 0 {
			return ""
		}
		end += n + 2
	default:
		return ""
	}
	var parts []string // the last first
	for at := end; ; {
		from, text := Before(code[:at])
		if text == "" {
			return ""
		}
		parts = append(parts, text)
		if at = from; text[0] == '.' {
			continue
		} else if text[0] == '[' || text == "(...)" {
			if at > 0 && (IsName(code[at-1]) || code[at-1] == ')' || code[at-1] == ']') {
				continue // a member or a call of the expression in front
			}
			if gap := strings.TrimRight(code[:at], " \t\n"); text == "(...)" && gap != "" && IsName(gap[len(gap)-1]) {
				if _, name := Before(gap); name != "" {
					at = len(gap)
					continue // a call, with space in front of its parenthesis
				}
			}
			if text == "(...)" {
				parts[len(parts)-1] = "(intermediate value)"
			}
			break
		}
		if optional, ok := strings.CutSuffix(code[:at], "?."); ok {
			parts, at = append(parts, "?."), len(optional)
			continue
		}
		gap := strings.TrimRight(code[:at], " \t\n")
		if !strings.HasSuffix(gap, ".") || strings.HasSuffix(gap, "..") {
			break
		}
		parts, at = append(parts, "."), len(strings.TrimRight(gap[:len(gap)-1], " \t\n"))
		if optional, ok := strings.CutSuffix(gap, "?."); ok {
			parts[len(parts)-1], at = "?.", len(optional)
		}
	}
	var out strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		out.WriteString(parts[i])
	}
	return short(out.String())
}

// literalKey matches a key that is a string.
var literalKey = lazyregexp.New(`^\[["']([^"'\\]+)["']\]$`)

// Before returns the last part of an expression that code ends with, and where it starts. Literal strings are in
// double quotes, arguments are left out.
func Before(code string) (from int, text string) {
	if code == "" {
		return 0, ""
	}
	last := len(code) - 1
	switch c := code[last]; {
	case IsName(c):
		from = last
		for from > 0 && IsName(code[from-1]) {
			from--
		}
		if keyword[code[from:]] {
			return 0, ""
		}
		return from, code[from:]
	case c == '"' || c == '\'' || c == '`':
		if from = strings.LastIndexByte(code[:last], c); from < 0 || from > 0 && code[from-1] == '\\' {
			return 0, ""
		}
		return from, `"` + code[from+1:last] + `"`
	case c == ')':
		if from = opening(code, '(', ')'); from < 0 {
			return 0, ""
		}
		return from, "(...)"
	case c == ']':
		if from = opening(code, '[', ']'); from < 0 {
			return 0, ""
		}
		text = strings.ReplaceAll(code[from:], ", ", ",")
		if m := literalKey.FindStringSubmatch(text); m != nil && from > 0 && IsName(code[from-1]) {
			return from, "." + m[1]
		}
		return from, text
	}
	return 0, ""
}

// keyword holds the words that end no expression.
var keyword = map[string]bool{"return": true, "typeof": true, "void": true, "in": true, "of": true, "case": true,
	"await": true, "yield": true, "new": true, "delete": true, "else": true, "do": true, "throw": true}

// opening returns where the bracket opens that code ends with, or -1. Brackets in strings are not told apart.
func opening(code string, open, shut byte) int {
	depth := 0
	for i := len(code) - 1; i >= 0; i-- {
		switch code[i] {
		case shut:
			depth++
		case open:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// forward returns the expression that starts at an offset of the code: a literal, or a name and its members.
func (t *thrown) forward(at int) string {
	code := t.code[min(at, len(t.code)):]
	for len(code) > 0 && (code[0] == ' ' || code[0] == '\n' || code[0] == '\t' || code[0] == '(') {
		code = code[1:]
	}
	n := 0
	for n < len(code) && (IsName(code[n]) || code[n] == '.' || code[n] == '?' && strings.HasPrefix(code[n:], "?.")) {
		n++
	}
	if n > 0 && n < len(code) && (code[n] == '=' || strings.HasPrefix(code[n:], " =>")) {
		return ""
	}
	if n > 0 && n < len(code) && code[n] == '(' {
		return short(code[:n] + "(...)")
	}
	if n == 0 && (strings.HasPrefix(code, "{}") || strings.HasPrefix(code, "[]")) {
		return code[:2]
	}
	return short(code[:n])
}

// short returns text, or "" if it is too long to help.
func short(text string) string {
	if len(text) > maxExpression || strings.ContainsAny(text, "\n`") || strings.Contains(text, "$airlock") {
		return ""
	}
	return text
}

// literal returns the text of the string literal at an offset of the code, if it has no escapes but of single marks.
func (t *thrown) literal(at int) string {
	code := t.code[min(at, len(t.code)):]
	if code == "" || code[0] != '"' && code[0] != '\'' && code[0] != '`' {
		return ""
	}
	text, _ := unquote(code)
	return text
}

// unquote returns the text of the string literal at the beginning of code, and where it ends; "" and 0 if it has
// escapes other than those of single marks and of line breaks.
func unquote(code string) (text string, end int) {
	var out strings.Builder
	for i := 1; i < len(code); i++ {
		switch c := code[i]; {
		case c == code[0]:
			return out.String(), i + 1
		case c == '$' && code[0] == '`' || c == '\n' && code[0] != '`':
			return "", 0
		case c == '\\':
			if i++; i < len(code) && code[i] == 'n' {
				out.WriteByte('\n')
				continue
			}
			if i == len(code) || strings.IndexByte("\\'\"`/", code[i]) < 0 {
				return "", 0
			}
			out.WriteByte(code[i])
		default:
			out.WriteByte(c)
		}
	}
	return "", 0
}

// argument returns the offset of the first argument of the call at the position.
func (t *thrown) argument() (at int, ok bool) {
	for at = t.at; at < len(t.code) && IsName(t.code[at]); at++ {
	}
	if at == t.at || at >= len(t.code) || t.code[at] != '(' {
		return 0, false
	}
	return at + 1, true
}
