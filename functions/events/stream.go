package events

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A stream gathers lines for this long, or until it has this many bytes: waking the reader for each line would cost
// more than most programs compute between two lines.
const (
	gatherTime  = 5 * time.Millisecond
	gatherBytes = 8 << 10
)

// A stream is an answer in progress: Event lines are written at one end and read at the other. Writing never waits
// for the reader, so a slow reader does not hold up the guest; the limits on logs and output bound the buffer.
type stream struct {
	mu    sync.Mutex
	more  *sync.Cond
	lines bytes.Buffer
	due   bool // the reader may take what there is
	timer *time.Timer
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

// end writes the last line.
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
		// This happens only if the raw fields of a Result are not JSON, which is a bug.
		st.lines.Truncate(whole)
		st.lines.WriteString(`{"error":{"code":"internal","message":"the result could not be encoded"}}` + "\n")
		last = true
	}
	st.ended = last
	switch {
	case last, st.lines.Len() >= gatherBytes:
		st.due = true
		st.more.Broadcast()
	case whole > 0:
	case st.timer == nil:
		st.timer = time.AfterFunc(gatherTime, st.flush)
	default:
		st.timer.Reset(gatherTime)
	}
}

// flush lets the reader take what there is.
func (st *stream) flush() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.lines.Len() > 0 {
		st.due = true
		st.more.Broadcast()
	}
}

// Read implements io.Reader. It waits until lines are due and returns what is available.
func (st *stream) Read(p []byte) (int, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for !st.due {
		st.more.Wait()
	}
	n, err := st.lines.Read(p)
	st.due = st.ended || st.lines.Len() > 0
	return n, err
}

// Ended reports whether everything was read.
func (st *stream) Ended() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.ended && st.lines.Len() == 0
}

// Close implements io.Closer. The runtime calls it when the answer was sent or could not be. It cancels an execution
// that still runs and waits for its end, so that the process never runs two.
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

// ContentType returns the content type of the answer.
func (st *stream) ContentType() string { return "application/x-ndjson" }

// A document is an answer of one JSON value. The Lambda runtime closes it after it was sent.
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

// ContentType returns the content type of the answer.
func (document) ContentType() string { return "application/json" }

// MarshalJSON returns {}, which makes the Lambda runtime treat the answer as a reader.
func (document) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// MarshalJSON returns {}, as for document.
func (*stream) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

var (
	_ io.ReadCloser = (*stream)(nil)
	_ io.ReadCloser = document{}
)
