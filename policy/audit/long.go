package audit

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
)

// longMember is the size in bytes from which the request and the journal of a record are passed through as they are
// written. Each scan of 16 MiB of JSON takes 30 ms or more.
const longMember = 16 << 10

// A cutLine is the line of a record without its long members. They alias the line.
type cutLine struct {
	short            []byte
	request, journal json.RawMessage
}

// cut returns a line without a long request and a long journal. A line that it does not understand it returns as it
// is. It checks no more of what it cuts than where that ends.
func cut(line []byte) cutLine {
	whole := cutLine{short: line}
	if len(line) < longMember || bytes.IndexByte(line, 0) >= 0 { // a crash leaves zeros
		return whole
	}
	var c cutLine
	at, from := skipSpace(line, 0), 0
	if at == len(line) || line[at] != '{' {
		return whole
	}
	for at++; ; at++ {
		if at = skipSpace(line, at); at >= len(line) || line[at] != '"' {
			return whole
		}
		end := stringEnd(line, at)
		colon := skipSpace(line, end)
		if colon >= len(line) || line[colon] != ':' {
			return whole
		}
		value := skipSpace(line, colon+1)
		valueEnd := valueEnd(line, value)
		if valueEnd < 0 {
			return whole
		}
		if valueEnd-value >= longMember {
			var into *json.RawMessage
			switch string(line[at:end]) {
			case `"request"`:
				into = &c.request
			case `"journal"`:
				into = &c.journal
			}
			if into != nil {
				if *into != nil {
					return whole
				}
				*into = line[value:valueEnd:valueEnd]
				c.short = append(append(c.short, line[from:value]...), "null"...)
				from = valueEnd
			}
		}
		if at = skipSpace(line, valueEnd); at >= len(line) || line[at] != ',' && line[at] != '}' {
			return whole
		}
		if line[at] == '}' {
			break
		}
	}
	if from == 0 {
		return whole
	}
	c.short = append(c.short, line[from:]...)
	return c
}

func skipSpace(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r') {
		at++
	}
	return at
}

// stringEnd returns where the string that begins at a quote ends: behind its other quote, or at the end of b. It jumps
// from quote to quote, and behind an escaped one, where there are more, goes on byte by byte for a while.
func stringEnd(b []byte, at int) int {
	for at++; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return len(b)
		}
		escapes := 0
		for escapes < n && b[at+n-1-escapes] == '\\' {
			escapes++
		}
		if at += n + 1; escapes%2 == 0 {
			return at
		}
		for most := min(at+256, len(b)-1); at < most; at++ {
			switch b[at] {
			case '\\':
				at++
			case '"':
				return at + 1
			}
		}
	}
}

// shapes has the bytes on which the end of a value depends.
var shapes = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

// valueEnd returns where the value that begins at a place ends, or -1.
func valueEnd(b []byte, at int) int {
	if at >= len(b) {
		return -1
	}
	switch b[at] {
	case '"':
		return stringEnd(b, at)
	case '{', '[':
	default:
		for at < len(b) && b[at] != ',' && b[at] != '}' && b[at] != ']' && b[at] > ' ' {
			at++
		}
		return at
	}
	depth := 0
	for at < len(b) {
		c := b[at]
		if !shapes[c] {
			at++
			continue
		}
		switch c {
		case '"':
			at = stringEnd(b, at)
			continue
		case '{', '[':
			depth++
		default:
			depth--
		}
		if at++; depth == 0 {
			return at
		}
	}
	return -1
}

// Open returns the record of a stored line that [Unseal] accepts.
func Open(line, key []byte) (Record, error) {
	c := cut(line)
	if _, err := unseal(line, c.short, key); err != nil {
		return Record{}, err
	}
	return c.decode()
}

// decode returns the record of a line.
func (c cutLine) decode() (Record, error) {
	r, err := decode(c.short)
	if err != nil {
		return r, err
	}
	if c.request != nil {
		r.Request = c.request
	}
	if c.journal != nil {
		r.Journal = c.journal
	}
	return r, nil
}

// AppendRead appends the JSON of a record that was read from a store. It does what [Encode] does, but passes a long
// request and a long journal through as they are.
func AppendRead(out []byte, r Record) ([]byte, error) {
	var parts, marks [][]byte
	for _, member := range []*json.RawMessage{&r.Request, &r.Journal} { // in the order of their JSON
		if len(*member) >= longMember {
			mark := []byte(`"` + rand.Text() + `"`) // nothing else in the record is that
			parts, marks = append(parts, *member), append(marks, mark)
			*member = mark
		}
	}
	doc, err := Encode(r)
	if err != nil {
		return out, err
	}
	size := len(doc)
	for _, part := range parts {
		size += len(part)
	}
	out = slices.Grow(out, size)
	for i, mark := range marks {
		before, after, ok := bytes.Cut(doc, mark)
		if !ok {
			return out, errors.New("the JSON of a record does not have a member of it")
		}
		out, doc = append(append(out, before...), parts[i]...), after
	}
	return append(out, doc...), nil
}
