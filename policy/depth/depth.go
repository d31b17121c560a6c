// Package depth limits the nesting of JSON values that cross a boundary: requests, results, and the arguments and
// answers of tools. Most JSON parsers recurse and fail on values far shallower than JSON permits.
//
// Start with [Over]. Every package may import it; it imports nothing of the module.
package depth

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// Default is the number of objects and arrays that may nest unless a tier says otherwise.
	Default = 512
	// Ceiling is the largest number that a tier can set.
	Ceiling = 1_000
)

// shown and shownKey bound a path in a message: the number of its steps, and the bytes of a key.
const (
	shown    = 6
	shownKey = 32
)

// Over returns the path to the first value in the JSON text that nests deeper than limit, such as "result.a[3].b…", or
// "" if there is none. root names text itself. Over takes linear time.
func Over(text []byte, root string, limit int) string {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= limit || !deeper(text, limit) {
		return ""
	}
	w := walk{text: text, limit: limit}
	w.over()
	var path strings.Builder
	path.WriteString(root)
	for _, s := range w.steps[:min(limit, shown)] {
		s.write(&path)
	}
	return strings.TrimPrefix(path.String(), ".") + "…"
}

// kinds holds the kind of each byte that matters for the depth. All others are 0.
var kinds = [256]int8{'"': quote, '{': opens, '[': opens, '}': closes, ']': closes}

const (
	quote  = 1
	opens  = 2
	closes = 3
)

// deeper reports whether a value nests too deep. Unlike walk.over it finds no path.
func deeper(text []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch kinds[text[i]] {
		case quote:
			i = stringEnd(text, i) - 1
		case opens:
			if depth++; depth > limit {
				return true
			}
		case closes:
			depth = max(depth-1, 0)
		}
	}
	return false
}

// Message returns the error message for a value that Over found.
func Message(what, path string, limit int) string {
	return fmt.Sprintf("%s is nested more than %d levels deep: %s", what, limit, path)
}

// step is the place of a value within its parent.
type step struct {
	object bool
	key    []byte // of the member, as JSON has it, without quotes
	index  int
}

type walk struct {
	text  []byte
	limit int
	depth int
	steps [shown]step // of the outermost values that are open
}

// over reports whether a bracket opens too deep.
func (w *walk) over() bool {
	for i := 0; i < len(w.text); i++ {
		switch c := w.text[i]; c {
		case '"':
			end := stringEnd(w.text, i)
			if s := w.inside(); s != nil && s.object {
				w.note(s, w.text[i+1:max(end-1, i+1)], end)
			}
			i = end - 1
		case '{', '[':
			if w.depth++; w.depth > w.limit {
				return true
			}
			if s := w.inside(); s != nil {
				*s = step{object: c == '{'}
			}
		case '}', ']':
			w.depth = max(w.depth-1, 0)
		case ',':
			if s := w.inside(); s != nil {
				s.index++
			}
		}
	}
	return false
}

// inside returns the step of the innermost open value, or nil if paths do not show it.
func (w *walk) inside() *step {
	if w.depth == 0 || w.depth > shown {
		return nil
	}
	return &w.steps[w.depth-1]
}

// note records a string as a member's key if a colon follows it.
func (w *walk) note(s *step, text []byte, end int) {
	for end < len(w.text) && (w.text[end] == ' ' || w.text[end] == '\n' || w.text[end] == '\t' || w.text[end] == '\r') {
		end++
	}
	if end < len(w.text) && w.text[end] == ':' {
		s.key = text
	}
}

// stringEnd returns the offset behind the string that starts at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func (s step) write(out *strings.Builder) {
	switch {
	case !s.object:
		out.WriteString("[" + strconv.Itoa(s.index) + "]")
	case plain(s.key):
		out.WriteByte('.')
		out.Write(s.key)
	default:
		key := s.key
		if len(key) > shownKey {
			n := shownKey
			for n > 0 && !utf8.RuneStart(key[n]) {
				n--
			}
			key = append(bytes.Clone(key[:n]), "…"...)
		}
		out.WriteString(`["` + string(key) + `"]`)
	}
}

// plain reports whether a key can follow a dot.
func plain(key []byte) bool {
	for i, c := range key {
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return len(key) > 0 && len(key) <= shownKey
}
