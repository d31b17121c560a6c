package audit

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// editor reads a JSON document once, from its beginning to its end, and writes it again with some of its values
// replaced. What is not replaced stays as it is, byte for byte. It decodes only the strings that need it: callers send
// documents of a hundred thousand members, and decoding those takes the gateway half a second.
type editor struct {
	doc []byte
	at  int // what was read
	out []byte
	to  int    // what of doc is in out, replaced or not
	buf []byte // of the string that was decoded last

	// text returns a string, or the name of a member, without what must not be stored, and whether it has changed.
	text func(s []byte) (string, bool)
	// name reports whether the value of a member of this name is replaced as a whole. It may be nil.
	name func(s []byte) bool
}

var errNotJSON = errors.New("this is not JSON")

// maxDepth is how deep package encoding/json reads.
const maxDepth = 10_000

// edit returns the document with its replacements.
func (e *editor) edit() ([]byte, error) {
	if _, err := e.value(0); err != nil {
		return nil, err
	}
	e.space()
	if e.at != len(e.doc) {
		return nil, errNotJSON
	}
	if e.to == 0 {
		return e.doc, nil
	}
	return append(e.out, e.doc[e.to:]...), nil
}

// A span is a value in a document.
type span struct {
	from, to int
	// written and copied are the places of out and doc when the value began.
	written, copied int
}

// begin notes where a value begins.
func (e *editor) begin() span { return span{from: e.at, written: len(e.out), copied: e.to} }

// replace replaces a value, and all that was replaced in it.
func (e *editor) replace(s span, with string) {
	e.out = append(append(e.out[:s.written], e.doc[s.copied:s.from]...), with...)
	e.to = s.to
}

// holdsNothing reports whether a value is null, empty or redacted.
func (e *editor) holdsNothing(s span) bool {
	switch string(e.doc[s.from:s.to]) {
	case "null", `""`, `"` + Redacted + `"`:
		return true
	}
	return false
}

// space skips the space between tokens.
func (e *editor) space() {
	for e.at < len(e.doc) && strings.IndexByte(" \t\r\n", e.doc[e.at]) >= 0 {
		e.at++
	}
}

// next skips space and returns the byte behind it, or 0.
func (e *editor) next() byte {
	if e.space(); e.at < len(e.doc) {
		return e.doc[e.at]
	}
	return 0
}

// value reads a value.
func (e *editor) value(depth int) (s span, err error) {
	first := e.next()
	s = e.begin()
	switch {
	case depth > maxDepth:
		err = errNotJSON
	case first == '{':
		err = e.object(depth + 1)
	case first == '[':
		err = e.array(depth + 1)
	case first == '"':
		err = e.string()
	case first == 't':
		err = e.word("true")
	case first == 'f':
		err = e.word("false")
	case first == 'n':
		err = e.word("null")
	default:
		err = e.number()
	}
	s.to = e.at
	return s, err
}

func (e *editor) object(depth int) error {
	e.at++
	if e.next() == '}' {
		e.at++
		return nil
	}
	for {
		if e.next() != '"' {
			return errNotJSON
		}
		from := e.at
		if err := e.string(); err != nil {
			return err
		}
		whole := e.name != nil && e.name(e.decoded(from, e.at))
		if e.next() != ':' {
			return errNotJSON
		}
		e.at++
		member, err := e.value(depth)
		if err != nil {
			return err
		}
		if whole && !e.holdsNothing(member) {
			e.replace(member, `"`+Redacted+`"`)
		}
		switch e.next() {
		case ',':
			e.at++
		case '}':
			e.at++
			return nil
		default:
			return errNotJSON
		}
	}
}

// array reads an array. One of a name and a value is a header in the form of a list: ["Set-Cookie", "a=b"].
func (e *editor) array(depth int) error {
	e.at++
	if e.next() == ']' {
		e.at++
		return nil
	}
	var pair [2]span
	for n := 0; ; n++ {
		element, err := e.value(depth)
		if err != nil {
			return err
		}
		if n < 2 {
			pair[n] = element
		}
		switch e.next() {
		case ',':
			e.at++
		case ']':
			e.at++
			if n == 1 && e.name != nil && e.doc[pair[0].from] == '"' && !e.holdsNothing(pair[1]) &&
				e.name(e.decoded(pair[0].from, pair[0].to)) {
				e.replace(pair[1], `"`+Redacted+`"`)
			}
			return nil
		default:
			return errNotJSON
		}
	}
}

// string reads a string.
func (e *editor) string() error {
	s := e.begin()
	for e.at++; ; e.at++ {
		if e.at == len(e.doc) || e.doc[e.at] < ' ' {
			return errNotJSON
		}
		switch e.doc[e.at] {
		case '"':
			e.at++
			s.to = e.at
			if text, changed := e.text(e.decoded(s.from, s.to)); changed {
				e.replace(s, string(encode(text)))
			}
			return nil
		case '\\':
			if e.at++; e.at == len(e.doc) || strings.IndexByte(`"\/bfnrtu`, e.doc[e.at]) < 0 {
				return errNotJSON
			}
			if e.doc[e.at] == 'u' {
				if e.at+4 >= len(e.doc) || unit(e.doc[e.at+1:e.at+5]) < 0 {
					return errNotJSON
				}
				e.at += 4
			}
		}
	}
}

// decoded returns the text of a string, which is good until the next call.
func (e *editor) decoded(from, to int) []byte {
	s := e.doc[from+1 : to-1]
	escape := bytes.IndexByte(s, '\\')
	if escape < 0 {
		return s
	}
	out := e.buf[:0]
	for ; escape >= 0; escape = bytes.IndexByte(s, '\\') {
		out = append(out, s[:escape]...)
		c := s[escape+1]
		s = s[escape+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := unit(s[:4])
			s = s[4:]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
					low = unit(s[2:6])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					s = s[6:]
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		}
		out = append(out, c)
	}
	e.buf = append(out, s...)
	return e.buf
}

// unit returns the number that four hexadecimal digits are, or -1.
func unit(digits []byte) rune {
	var r rune
	for _, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

func (e *editor) word(w string) error {
	if !bytes.HasPrefix(e.doc[e.at:], []byte(w)) {
		return errNotJSON
	}
	e.at += len(w)
	return nil
}

// number reads a number.
func (e *editor) number() error {
	digits := func() bool {
		from := e.at
		for e.at < len(e.doc) && '0' <= e.doc[e.at] && e.doc[e.at] <= '9' {
			e.at++
		}
		return e.at > from
	}
	one := func(of string) bool {
		if e.at < len(e.doc) && strings.IndexByte(of, e.doc[e.at]) >= 0 {
			e.at++
			return true
		}
		return false
	}
	one("-")
	if !one("0") && !digits() || one(".") && !digits() {
		return errNotJSON
	}
	if one("eE") {
		if one("+-"); !digits() {
			return errNotJSON
		}
	}
	return nil
}

// blankJSON empties the values at paths in a document: strings become Redacted, anything else the zero of its type. It
// returns the document itself if it has no such value.
func blankJSON(doc []byte, paths [][]string) ([]byte, error) {
	e := editor{doc: doc, text: func([]byte) (string, bool) { return "", false }}
	b := blanking{editor: &e}
	if err := b.value(0, paths); err != nil {
		return nil, err
	}
	if e.to == 0 {
		return doc, nil
	}
	return append(e.out, doc[e.to:]...), nil
}

// blanking empties values.
type blanking struct {
	*editor
	index []byte
}

// value reads a value, and empties what paths lead to from there.
func (b *blanking) value(depth int, paths [][]string) error {
	if slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 }) {
		s, err := b.editor.value(depth)
		if err == nil {
			b.replace(s, zeroOf(b.doc[s.from]))
		}
		return err
	}
	open := b.next()
	if len(paths) == 0 || open != '{' && open != '[' || depth > maxDepth {
		_, err := b.editor.value(depth)
		return err
	}
	b.at++
	if c := b.next(); c == open+2 { // both brackets close two behind where they open
		b.at++
		return nil
	}
	for n := 0; ; n++ {
		name := []byte(nil)
		if open == '[' {
			b.index = strconv.AppendInt(b.index[:0], int64(n), 10)
			name = b.index
		} else {
			if b.next() != '"' {
				return errNotJSON
			}
			from := b.at
			if err := b.string(); err != nil {
				return err
			}
			if name = b.decoded(from, b.at); b.next() != ':' {
				return errNotJSON
			}
			b.at++
		}
		var below [][]string
		for _, p := range paths {
			if p[0] == "*" || p[0] == string(name) {
				below = append(below, p[1:])
			}
		}
		if err := b.value(depth+1, below); err != nil {
			return err
		}
		switch b.next() {
		case ',':
			b.at++
		case open + 2:
			b.at++
			return nil
		default:
			return errNotJSON
		}
	}
}

// zeroOf returns the zero of the type of a value that begins with a byte.
func zeroOf(first byte) string {
	switch first {
	case '{':
		return "{}"
	case '[':
		return "[]"
	case '"':
		return `"` + Redacted + `"`
	case 't', 'f':
		return "false"
	case 'n':
		return "null"
	}
	return "0"
}
