package mcp

import (
	"bytes"
	"crypto/rand"
	"sync"
	"unicode/utf8"
)

// A longAnswer keeps the answer of a call from the SDK, which encodes each part of a response several times. Marks
// stand for the answer until the response is sent. It is safe for concurrent use.
type longAnswer struct {
	mu              sync.Mutex
	answer          []byte
	text, structure []byte // the marks as the SDK encodes them
}

// hold keeps an answer, which is JSON on one line, and returns what stands for it: as a text, and as a structure. It
// returns ok false if the answer is short enough for the SDK, or if nothing can put a long one back.
func (l *longAnswer) hold(answer []byte) (text, structure string, ok bool) {
	if l == nil || len(answer) <= maxMessage {
		return "", "", false
	}
	text, structure = rand.Text(), rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer, l.text, l.structure = answer, []byte(`"`+text+`"`), []byte(`"`+structure+`"`)
	return text, structure, true
}

// put returns a copy of what the SDK has written, with the answer in place of its marks.
func (l *longAnswer) put(written []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, structure := -1, -1
	if l.answer != nil {
		text, structure = bytes.Index(written, l.text), bytes.Index(written, l.structure)
	}
	if text < 0 || structure < text {
		return bytes.Clone(written)
	}
	out := make([]byte, 0, len(written)+2*len(l.answer)+len(l.answer)/4)
	out = append(out, written[:text]...)
	out = appendQuoted(out, l.answer)
	out = append(out, written[text+len(l.text):structure]...)
	out = append(out, l.answer...)
	out = append(out, written[structure+len(l.structure):]...)
	l.answer = nil
	return out
}

// appendQuoted appends JSON on one line as a JSON string. Such a text has no characters to escape but two.
func appendQuoted(to, text []byte) []byte {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	to = append(to, '"')
	from := 0
	for i, c := range text {
		if c == '"' || c == '\\' {
			to = append(append(to, text[from:i]...), '\\')
			from = i
		}
	}
	return append(append(to, text[from:]...), '"')
}
