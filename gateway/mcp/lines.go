package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// The response to a line that is not a message (JSON-RPC 2.0 §5.1). It is unknown which call it answers, so it has no
// ID.
const (
	notJSON    = -32700
	notMessage = -32600
)

// maxLine is the longest line that is accepted, in bytes.
const maxLine = 8 << 20

// lines reads what a client writes, line by line, and answers the lines that are not JSON itself, because the SDK's
// transport would end with the first of them. Writing is safe for concurrent use.
type lines struct {
	in     *bufio.Reader
	rest   []byte      // of the line that is being read
	broken atomic.Bool // whether reading has failed before its end

	mu  sync.Mutex
	out io.WriteCloser
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		text := bytes.TrimSpace(line)
		switch {
		case len(text) == 0 && err != nil:
			l.broken.Store(err != io.EOF)
			return 0, err
		case len(text) == 0:
		case len(text) > maxLine:
			l.refuse(notMessage, fmt.Sprintf("a message has more than %d bytes", maxLine))
		case !json.Valid(text):
			l.refuse(notJSON, "a line is not JSON; each message is one line")
		default:
			l.rest = append(text, '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lines) failed() bool { return l.broken.Load() }

// next reads a line. Of a line that is too long, it returns no more than shows it.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// refuse answers a line that is not a message.
func (l *lines) refuse(code int, message string) {
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text, err := json.Marshal(struct {
		Version string  `json:"jsonrpc"`
		ID      *int    `json:"id"`
		Error   failure `json:"error"`
	}{"2.0", nil, failure{code, message}})
	if err == nil {
		_, _ = l.Write(append(text, '\n')) // if it cannot be written, the next answer fails, too
	}
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}
