package mcptools

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// A rawReader reads messages, each a line, and puts the content of results aside. The SDK would decode it several
// times, which takes up to 160 ms for each megabyte, and ends the connection at a number like 1e400. A line of
// more than maxAnswer bytes is an error.
type rawReader struct {
	lines *bufio.Reader
	io.Closer

	contents   *contents
	line, rest []byte // rest is what has not been read of the last message
}

func newRawReader(r io.ReadCloser, c *contents) *rawReader {
	return &rawReader{lines: bufio.NewReaderSize(r, 64<<10), Closer: r, contents: c}
}

var errLongLine = errors.New("it writes a longer line than a server is allowed to")

// Read implements io.Reader.
func (r *rawReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		r.line = r.line[:0]
		for {
			part, err := r.lines.ReadSlice('\n')
			if n := len(r.line) + len(part); n > maxAnswer {
				return 0, errLongLine
			} else if n > cap(r.line) {
				r.line = append(make([]byte, 0, min(4*n, maxAnswer)), r.line...)
			}
			r.line = append(r.line, part...)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && len(r.line) == 0 {
				return 0, err
			}
			break // a later read returns an error that ended the line
		}
		r.rest = r.contents.putAside(r.line)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if cap(r.line) > 64<<10 && len(r.rest) == 0 {
		r.line, r.rest = nil, nil
	}
	return n, nil
}

// mostAside bounds the contents that wait for their calls, in bytes: that of an answer to a call that has ended waits
// forever. The oldest goes first.
const mostAside = 8 * maxAnswer

// eachAside is what is charged for a content beyond its bytes. A name, its places in two tables and a small content
// take about 300 bytes; the rest bounds how many there are.
const eachAside = 4 << 10

// contents holds structured content between the message that has it and the call that it answers. It is safe for
// concurrent use.
type contents struct {
	mark string // a random text, so that no server names content that is not its own

	mu    sync.Mutex
	aside map[string]json.RawMessage
	order []string // the names, the oldest first, among those that have been taken
	bytes int
}

func newContents() *contents {
	return &contents{mark: rand.Text(), aside: map[string]json.RawMessage{}}
}

// keep returns a name for the content, with an end.
func (c *contents) keep(content json.RawMessage, end string) string {
	name := c.mark + rand.Text() + end
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.bytes+len(content)+eachAside > mostAside {
		c.drop(c.order[0])
		c.order = c.order[1:]
	}
	c.aside[name], c.order, c.bytes = content, append(c.order, name), c.bytes+len(content)+eachAside
	return name
}

// drop forgets a content, if it has not been taken.
func (c *contents) drop(name string) {
	if content, ok := c.aside[name]; ok {
		c.bytes -= len(content) + eachAside
		delete(c.aside, name)
	}
}

// A listed content is the list of the contents of a result, as the message has it.
type listed json.RawMessage

// ofList ends the name of a listed content.
const ofList = "."

// take returns the structured content of a result: what a name of keep stands for, which is forgotten, or what it is
// given. What stands for a list of contents is listed.
func (c *contents) take(content any) (any, error) {
	name, ok := content.(string)
	if !ok || !strings.HasPrefix(name, c.mark) {
		return content, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.aside[name]
	if !ok {
		return nil, &refusedError{"too many long answers came at once: call it again"}
	}
	c.drop(name)
	if len(c.order) > 2*len(c.aside)+16 {
		c.order = slices.DeleteFunc(c.order, func(name string) bool { return c.aside[name] == nil })
	}
	if strings.HasSuffix(name, ofList) {
		return listed(kept), nil
	}
	return kept, nil
}

// An answer is that to one call of a server that is a command; it is nil for other servers.
type answer struct {
	contents *contents
	// carried is called with the bytes of the content, before it is read. The text of an error is for guests.
	carried func(bytes int) error
}

// take does what contents.take does.
func (a *answer) take(content any) (any, error) {
	if a == nil {
		return content, nil
	}
	return a.contents.take(content)
}

// carry counts bytes, or refuses the answer.
func (a *answer) carry(bytes int) error {
	if a == nil {
		return nil
	}
	if err := a.carried(bytes); err != nil {
		return &refusedError{err.Error()}
	}
	return nil
}

// sizeOf returns the size of a content that was put aside, and otherwise that of a small message.
func sizeOf(content any) int {
	switch c := content.(type) {
	case json.RawMessage:
		return len(c)
	case listed:
		return len(c)
	}
	return longContent
}

// longContent is the size of a message, in bytes, from which a list of contents is put aside, too.
const longContent = 4 << 10

// putAside returns a message with a name for the structured content of its result, or the message as it is if it has
// none. The other content, which repeats it as a text, is left out. If there is none, or it is that of an error, and
// the message is long, the name is for the other content.
func (c *contents) putAside(message []byte) []byte {
	structured := bytes.Contains(message, []byte(structuredContent))
	if !structured && (len(message) < longContent || !bytes.Contains(message, []byte(`"content"`))) {
		return message
	}
	found, err := partsOf(message)
	if err != nil {
		return message
	}
	content, list := found.structured, found.content
	structured = content.end > 0 && message[content.from] != 'n'
	var changes []change
	switch {
	case list.end > 0 && len(message) >= longContent && (!structured || found.failed):
		name := `"` + c.keep(bytes.Clone(message[list.from:list.end]), ofList) + `"`
		changes = []change{{content, name}, {list, "[]"}}
		if content.end == 0 {
			changes = []change{{list, `[],"` + structuredContent + `":` + name}}
		}
	case structured:
		changes = []change{{content, `"` + c.keep(bytes.Clone(message[content.from:content.end]), "") + `"`}}
		if list.end > 0 && !found.failed {
			changes = append(changes, change{list, "[]"})
		}
	default:
		return message
	}
	slices.SortFunc(changes, func(a, b change) int { return b.from - a.from }) // the last part first
	for _, change := range changes {
		message = slices.Concat(message[:change.from], []byte(change.text), message[change.end:])
	}
	return message
}

const structuredContent = "structuredContent"

// A span is a part of a message; its end is 0 if there is none.
type span struct{ from, end int }

// A change is a part of a message, and what takes its place.
type change struct {
	span
	text string
}

// parts are the two kinds of content of a result, and whether that is an error.
type parts struct {
	structured, content span
	failed              bool
}

// partsOf finds the parts of the result of a message. It returns an error for one of them twice.
func partsOf(message []byte) (found parts, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(message), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	err = eachMember(dec, func(name string) error {
		if name != "result" {
			return dec.SkipValue()
		}
		return eachMember(dec, func(name string) error {
			value, err := dec.ReadValue()
			if err != nil {
				return err
			}
			end := int(dec.InputOffset())
			part := map[string]*span{structuredContent: &found.structured, "content": &found.content}[name]
			switch {
			case part != nil && part.end > 0:
				return jsontext.ErrDuplicateName
			case part != nil:
				*part = span{end - len(value), end}
			case name == "isError":
				found.failed = found.failed || value.Kind() != 'f'
			}
			return nil
		})
	})
	return found, err
}

var errNoObject = errors.New("it is no object")

// eachMember reads the object that comes next. It calls fn with each name; fn reads the value.
func eachMember(dec *jsontext.Decoder, fn func(name string) error) error {
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return errors.Join(errNoObject, err)
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := fn(name.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// texts returns the texts among contents, with a line end between two, and how many there are. mixed reports that there
// are other contents.
func (l listed) texts() (text string, n int, mixed bool, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(l), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '[' {
		return "", 0, false, errors.Join(errNoContent, err)
	}
	out, kind := make([]byte, 0, len(l)), []byte(nil)
	for dec.PeekKind() != ']' {
		before := len(out)
		if n > 0 {
			out = append(out, '\n')
		}
		begin := len(out)
		kind = kind[:0]
		err := eachMember(dec, func(name string) error {
			value, err := dec.ReadValue()
			switch {
			case err != nil:
				return err
			case name == "type" && value.Kind() == '"':
				kind, _ = jsontext.AppendUnquote(kind[:0], value) // what is no UTF-8 is replaced
			case name == "text" && value.Kind() == '"':
				out, _ = jsontext.AppendUnquote(out[:begin], value)
			}
			return nil
		})
		if err != nil {
			return "", 0, false, err
		}
		if string(kind) != "text" {
			out, mixed = out[:before], true
			continue
		}
		n++
	}
	return string(out), n, mixed, nil
}

var errNoContent = errors.New("it is no list of contents")
