package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Event is one thing that reached a run. Kind is one of
//
//	clock   the guest read the time: At, nanoseconds since the Unix epoch, Count times in a row
//	random  it drew Bytes
//	timer   its timer ID fired
//	answer  its request ID (of Name, with a payload of hash Ask) was answered with JSON, Bytes or Error
//	call    it called Name synchronously and got JSON or Error
//	wait    its request ID (of Name, with a payload of hash Ask) became the durable wait JSON
//	decided its durable wait ID was answered with JSON or Error when this segment began; a Name of "call" called the tool
//
// Error is the name and the message of an exception, or "limit" and the name of the limit that ended the run.
type Event struct {
	Kind  string          `json:"kind"`
	At    int64           `json:"at,omitempty"`
	Count int             `json:"count,omitempty"`
	ID    int32           `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Ask   string          `json:"ask,omitempty"`
	JSON  json.RawMessage `json:"json,omitempty"`
	Bytes []byte          `json:"bytes,omitempty"`
	Error *[2]string      `json:"error,omitempty"`
}

// The kinds of events.
const (
	Clock  = "clock"
	Random = "random"
	Timer  = "timer"
	Answer = "answer"
	Call   = "call"
	Wait   = "wait"
	// Decided events come first in the journal of a later segment.
	Decided = "decided"
)

// The bounds of a journal.
const (
	maxBytes  = 1 << 20
	maxEvents = 20_000
)

// ErrDiverged ends a repeated run that does something other than its journal says.
var ErrDiverged = errors.New("the run diverges from its journal")

// Diverged returns an ErrDiverged that says what the run did.
func Diverged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDiverged, fmt.Sprintf(format, args...))
}

// request is what a request asked for: a name and the hash of its payload.
type request struct{ name, ask string }

// Tape records a run, or plays one back. Its zero value records. It belongs to the guest's goroutine.
type Tape struct {
	events    []Event
	bytes     int // recorded
	truncated bool
	open      map[int32]request // requests that have no answer yet

	playing bool
	next    int // the event to be played next
	used    int // how often the clock event at next was read
	failed  error
}

// Play returns a Tape that plays events back.
func Play(events []Event) Tape { return Tape{events: events, playing: true} }

// Playing reports whether the tape plays back.
func (t *Tape) Playing() bool { return t.playing }

// Recorded returns the events recorded so far. truncated reports that there were too many: the run cannot be repeated.
func (t *Tape) Recorded() (events []Event, truncated bool) { return t.events, t.truncated }

// Clock returns what the guest reads of the clock. Reading past the end of a playback makes Err return why.
func (t *Tape) Clock(read func() time.Duration) time.Duration {
	if !t.playing {
		now := read()
		t.recordClock(int64(now))
		return now
	}
	if t.next >= len(t.events) || t.events[t.next].Kind != Clock {
		t.failed = Diverged("it reads the clock once more")
		return 0
	}
	e := &t.events[t.next]
	if t.used++; t.used >= e.Count {
		t.next, t.used = t.next+1, 0
	}
	return time.Duration(e.At)
}

func (t *Tape) recordClock(at int64) {
	if n := len(t.events); n > 0 && !t.truncated {
		if last := &t.events[n-1]; last.Kind == Clock && last.At == at {
			last.Count++
			return
		}
	}
	t.record(Event{Kind: Clock, At: at, Count: 1})
}

// Random returns a reader of random bytes: those of from, or those that were drawn before.
func (t *Tape) Random(from io.Reader) io.Reader { return randomTape{t, from} }

type randomTape struct {
	tape *Tape
	from io.Reader
}

func (r randomTape) Read(b []byte) (int, error) {
	if r.tape.playing {
		e, err := r.tape.take(Random)
		if err != nil {
			return 0, err
		}
		if len(e.Bytes) != len(b) {
			return 0, Diverged("it draws %d random bytes where the journal has %d", len(b), len(e.Bytes))
		}
		return copy(b, e.Bytes), nil
	}
	n, err := io.ReadFull(r.from, b)
	if err == nil {
		r.tape.record(Event{Kind: Random, Bytes: append([]byte(nil), b...)})
	}
	return n, err
}

// Fired notes that a timer fired.
func (t *Tape) Fired(id int32) {
	if !t.playing {
		t.record(Event{Kind: Timer, ID: id})
	}
}

// Asked notes a request of the guest, by its name and the hash of its payload.
func (t *Tape) Asked(id int32, name, ask string) {
	if t.open == nil {
		t.open = make(map[int32]request)
	}
	t.open[id] = request{name, ask}
}

// Answered notes the answer to a request. trouble is nil if it succeeded.
func (t *Tape) Answered(id int32, answer json.RawMessage, bytes []byte, trouble *[2]string) {
	if t.playing {
		return
	}
	q := t.open[id]
	delete(t.open, id)
	e := Event{Kind: Answer, ID: id, Name: q.name, Ask: q.ask, JSON: answer, Bytes: bytes}
	if trouble != nil {
		e.JSON, e.Bytes, e.Error = nil, nil, trouble
	}
	t.record(e)
}

// Waits notes that a request has become a durable wait.
func (t *Tape) Waits(id int32, wait json.RawMessage) {
	if t.playing {
		return
	}
	q := t.open[id]
	delete(t.open, id)
	t.record(Event{Kind: Wait, ID: id, Name: q.name, Ask: q.ask, JSON: wait})
}

// DecidedCall is the Name of a Decided event that called the tool. Its JSON is the parameters.
const DecidedCall = "call"

// Decided notes the answer to a durable wait.
func (t *Tape) Decided(seq int, call bool, answer json.RawMessage, trouble *[2]string) {
	e := Event{Kind: Decided, ID: int32(seq), JSON: answer, Error: trouble}
	if call {
		e.Name = DecidedCall
	}
	t.record(e)
}

// PlayDecided returns the answers that the segment began with.
func (t *Tape) PlayDecided() []Event {
	from := t.next
	for t.next < len(t.events) && t.events[t.next].Kind == Decided {
		t.next++
	}
	return t.events[from:t.next]
}

// Over reports whether every event was played.
func (t *Tape) Over() bool { return t.next >= len(t.events) }

// Called notes a synchronous call and its answer.
func (t *Tape) Called(name, ask string, answer json.RawMessage, trouble *[2]string) {
	e := Event{Kind: Call, Name: name, Ask: ask, JSON: answer}
	if trouble != nil {
		e.JSON, e.Error = nil, trouble
	}
	t.record(e)
}

// PlayCall returns the event of a synchronous call that is played back.
func (t *Tape) PlayCall(name, ask string) (*Event, error) {
	e, err := t.take(Call)
	if err != nil {
		return nil, err
	}
	if e.Name != name || e.Ask != ask {
		return nil, Diverged("it calls %s otherwise than %s was called", name, e.Name)
	}
	return e, nil
}

// PlayNext returns the event that a waiting guest waits for: a timer or an answer. It returns nil after the last event.
func (t *Tape) PlayNext() (*Event, error) {
	if t.next >= len(t.events) {
		return nil, nil
	}
	e := &t.events[t.next]
	switch e.Kind {
	case Timer:
	case Answer, Wait:
		if q, ok := t.open[e.ID]; !ok || q != (request{e.Name, e.Ask}) {
			return nil, Diverged("request %d (%s) asks for something else", e.ID, e.Name)
		}
		delete(t.open, e.ID)
	default:
		return nil, Diverged("it waits where the journal has a %s", e.Kind)
	}
	t.next++
	return e, nil
}

// Err returns how a playback has diverged in a call that returns no error.
func (t *Tape) Err() error { return t.failed }

// End returns how a run that ended in order has diverged: it may have left events.
func (t *Tape) End() error {
	switch {
	case t.failed != nil:
		return t.failed
	case t.playing && t.next < len(t.events):
		return Diverged("it ended before the journal did")
	}
	return nil
}

func (t *Tape) take(kind string) (*Event, error) {
	if t.next >= len(t.events) {
		return nil, Diverged("it wants one more %s", kind)
	}
	e := &t.events[t.next]
	if e.Kind != kind {
		return nil, Diverged("it wants a %s where the journal has a %s", kind, e.Kind)
	}
	t.next++
	return e, nil
}

func (t *Tape) record(e Event) {
	t.bytes += 64 + len(e.JSON) + len(e.Bytes)*4/3
	if t.truncated || t.bytes > maxBytes || len(t.events) >= maxEvents {
		t.truncated = true
		return
	}
	t.events = append(t.events, e)
}
