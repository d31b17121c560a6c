package events

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"

	"github.com/airlock-run/airlock/functions/execution"
)

// stream is an answer in the making: Event lines are added at one end and read at the other. Adding never waits for the
// reader, so that a slow one cannot hold up the guest; what is held is bounded by the caps on logs and output.
type stream struct {
	mu    sync.Mutex
	more  *sync.Cond
	lines bytes.Buffer
	ended bool
	done  func() // cancels the execution's context
	sent  func() // called by Close
}

func newStream(done, sent func()) *stream {
	st := &stream{done: done, sent: sent}
	st.more = sync.NewCond(&st.mu)
	return st
}

func (st *stream) log(l execution.Log) { st.add(execution.Event{Log: &l}, false) }

// end adds the last line.
func (st *stream) end(e execution.Event) { st.add(e, true) }

func (st *stream) add(e execution.Event, last bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended {
		return
	}
	whole := st.lines.Len()
	enc := json.NewEncoder(&st.lines)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		// Only a Result whose raw fields are not JSON gets here: a fault of ours.
		st.lines.Truncate(whole)
		st.lines.WriteString(`{"error":{"code":"internal","message":"the result could not be encoded"}}` + "\n")
		last = true
	}
	st.ended = last
	st.more.Broadcast()
}

// Read implements io.Reader. It waits for a line, and gives as much as is there.
func (st *stream) Read(p []byte) (int, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for st.lines.Len() == 0 {
		if st.ended {
			return 0, io.EOF
		}
		st.more.Wait()
	}
	return st.lines.Read(p)
}

// Ended reports whether everything has been read.
func (st *stream) Ended() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.ended && st.lines.Len() == 0
}

// Close is called when the answer was sent, or could not be: the execution is cancelled when it still runs, and Close
// returns when it has ended, so that the process never runs two.
func (st *stream) Close() error {
	st.done()
	st.mu.Lock()
	for !st.ended {
		st.more.Wait()
	}
	st.mu.Unlock()
	st.sent()
	return nil
}

// ContentType is sent with the answer.
func (st *stream) ContentType() string { return "application/x-ndjson" }

// document is an answer that is one JSON value. The Lambda runtime closes it when it was sent.
type document struct {
	*bytes.Reader
	sent func()
}

// Close implements io.Closer.
func (d document) Close() error {
	d.sent()
	return nil
}

func (s *server) newDocument(res execution.Result) (io.Reader, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(res); err != nil {
		return nil, s.functionError(&execution.Error{Code: execution.Internal, Message: "the result could not be encoded"})
	}
	return document{bytes.NewReader(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), s.answered}, nil
}

// ContentType is sent with the answer.
func (document) ContentType() string { return "application/json" }

// MarshalJSON says to the Lambda runtime that this is not a value to encode: it takes whatever encodes to {} as a
// reader.
func (document) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// MarshalJSON is as for document.
func (*stream) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

var (
	_ io.ReadCloser = (*stream)(nil)
	_ io.ReadCloser = document{}
)
