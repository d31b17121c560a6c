package mcptools

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A rawReader reads messages, each a line, and puts the content of results aside. The SDK would decode it several
// times, which takes up to 200 ms for each megabyte, and ends the connection at a number like 1e400. A line of
// more than maxAnswer bytes is an error.
type rawReader struct {
	lines *bufio.Reader
	io.Closer

	contents   *contents
	calls      *calls
	line, rest []byte // rest is what has not been read of the last message
}

func newRawReader(r io.ReadCloser, c *contents, waiting *calls) *rawReader {
	return &rawReader{lines: bufio.NewReaderSize(r, 64<<10), Closer: r, contents: c, calls: waiting}
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
		r.rest = r.pass(r.line)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if cap(r.line) > 64<<10 && len(r.rest) == 0 {
		r.line, r.rest = nil, nil
	}
	return n, nil
}

const (
	// maxDecoded bounds what the SDK decodes of a message, in bytes: that takes up to 12 ms.
	maxDecoded = 64 << 10
	// beside is how often the bytes that the SDK decodes count, if they are many: so much longer does it take than the
	// reading of contents.
	beside = 10
	// maxID bounds the ID of an answer, in bytes; those of requests are small numbers.
	maxID = 64
)

// pass returns the message that the SDK gets in place of one: with its content put aside, or with an error if it is
// more than its call may have. It returns nothing for a long message that answers no call. What is not one message
// stays as it is; the SDK ends the connection if that is long.
func (r *rawReader) pass(message []byte) []byte {
	found, err := partsOf(message)
	if err != nil {
		return message
	}
	id := message[found.id.from:found.id.end]
	answers := 0 < len(id) && len(id) <= maxID && !found.asks
	var of *counter
	if answers {
		of = r.calls.answered(id)
	}
	if err := of.count(len(message)); err != nil {
		return refusal(id, err.Error())
	}
	rest := r.contents.putAside(message, found)
	switch {
	case len(rest) <= longContent:
		return rest
	case len(rest) > maxDecoded && !answers:
		return nil
	case len(rest) > maxDecoded:
		return refusal(id, fmt.Sprintf(
			"the answer has %d bytes beside its contents, and may have %d", len(rest), maxDecoded))
	}
	if err := of.count((beside - 1) * len(rest)); err != nil {
		return refusal(id, err.Error())
	}
	return rest
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
// given. What stands for a list of contents is listed. c may be nil: it has kept nothing.
func (c *contents) take(content any) (any, error) {
	name, ok := content.(string)
	if !ok || c == nil || !strings.HasPrefix(name, c.mark) {
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

// asideMember is the member of the metadata of a result that has the name of what was put aside in its place.
const asideMember = "airlock/aside"

// whole returns the result that was put aside in the place of one with this metadata, or nil.
func (c *contents) whole(meta sdk.Meta) (json.RawMessage, error) {
	kept, err := c.take(meta[asideMember])
	raw, _ := kept.(json.RawMessage)
	return raw, err
}

// filled returns the result that was put aside in the place of one with this metadata, or the result itself. That does
// not change, because the SDK may keep it.
func filled[T any](c *contents, result *T, meta sdk.Meta) (*T, error) {
	raw, err := c.whole(meta)
	if err != nil || raw == nil {
		return result, err
	}
	out := new(T)
	return out, json.Unmarshal(raw, out)
}

// longContent is the size of a message, in bytes, from which a list of contents is put aside, too.
const longContent = 4 << 10

// putAside returns a message with a name for the structured content of its result, or the message as it is if it has
// none. The other content, which repeats it as a text, is left out. If there is none, or it is that of an error, and
// the message is long, the name is for the other content. A long list, resource or prompt is put aside whole.
func (c *contents) putAside(message []byte, found parts) []byte {
	content, list := found.structured, found.content
	structured := content.end > 0 && message[content.from] != 'n'
	var changes []change
	switch {
	case found.twice:
		return message
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
	case found.listing && !found.asksInput && list.end == 0 && len(message) >= longContent:
		name := c.keep(bytes.Clone(message[found.result.from:found.result.end]), "")
		changes = []change{{found.result, `{"_meta":{"` + asideMember + `":"` + name + `"}}`}}
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

// parts are those of a message that say what it costs.
type parts struct {
	id     span
	asks   bool // it is no answer
	result span
	// structured and content are the two kinds of content of the result of a tool.
	structured, content span
	failed              bool // the result is an error
	listing             bool // the result is a list, a resource or a prompt
	asksInput           bool // the server wants input before it answers
	twice               bool // one of the parts is there twice
}

// partsOf finds the parts of a message.
func partsOf(message []byte) (found parts, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(message), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	is := func(part *span, from, end int) {
		found.twice = found.twice || part.end > 0
		*part = span{from, end}
	}
	err = eachMember(dec, func(name string) error {
		if name == "result" && dec.PeekKind() == '{' {
			from := int(dec.InputOffset())
			err := eachMember(dec, func(name string) error {
				value, err := dec.ReadValue()
				if err != nil {
					return err
				}
				end := int(dec.InputOffset())
				switch from := end - len(value); name {
				case structuredContent:
					is(&found.structured, from, end)
				case "content":
					is(&found.content, from, end)
				case "isError":
					found.failed = found.failed || value.Kind() != 'f'
				case "contents", "messages", "resources", "resourceTemplates", "prompts", "tools":
					found.listing = true
				case "inputRequests":
					found.asksInput = true
				case "resultType":
					found.asksInput = found.asksInput || string(value) != `"complete"`
				}
				return nil
			})
			from += bytes.IndexByte(message[from:], '{')
			is(&found.result, from, int(dec.InputOffset()))
			return err
		}
		value, err := dec.ReadValue()
		end := int(dec.InputOffset())
		switch name {
		case "id":
			is(&found.id, end-len(value), end)
		case "method":
			found.asks = true
		}
		return err
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
