package mcp

import (
	"bytes"
	"crypto/rand"
	"sync"
)

// A longAnswer keeps the answer of a call from the SDK, which encodes each part of a response several times. A
// placeholder stands for the answer until the response is sent. It is safe for concurrent use.
type longAnswer struct {
	mu     sync.Mutex
	answer []byte
	mark   []byte // as the SDK encodes it
}

// hold keeps an answer, which is JSON on one line, and returns its placeholder. It returns ok false if the answer is
// short enough for the SDK, or if nothing can put a long one back.
func (l *longAnswer) hold(answer []byte) (mark string, ok bool) {
	if l == nil || len(answer) <= maxMessage {
		return "", false
	}
	mark = rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer, l.mark = answer, []byte(`"`+mark+`"`)
	return mark, true
}

// put returns a copy of the SDK's output with the answer in place of the placeholder.
func (l *longAnswer) put(written []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := -1
	if l.answer != nil {
		at = bytes.Index(written, l.mark)
	}
	if at < 0 {
		return bytes.Clone(written)
	}
	out := make([]byte, 0, len(written)+len(l.answer))
	out = append(append(append(out, written[:at]...), l.answer...), written[at+len(l.mark):]...)
	l.answer = nil
	return out
}
