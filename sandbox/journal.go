package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Journal is everything that reached a run from outside after it started, in the order in which it did: with the same
// script and grants it makes the run repeatable (Grants.Replay). Secrets are not in it: answers have placeholders.
type Journal struct {
	Version int   `json:"version"`
	Seed    int64 `json:"seed"`
	// Seeded says that the seed was given, and the clock stood still but for timers.
	Seeded bool           `json:"seeded"`
	Events []JournalEvent `json:"events"`
	// Truncated says that the journal grew beyond its bounds: the run cannot be repeated.
	Truncated bool `json:"truncated,omitempty"`
	// Ticks and Limit are how the run ended.
	Ticks int64 `json:"ticks"`
	Limit Limit `json:"limit,omitempty"`
	// Unprepared reports that Limit was hit before the code was ready to run.
	Unprepared bool `json:"unprepared,omitempty"`
}

// JournalEvent is one thing that reached a run. Kind is one of
//
//	clock   the guest read the time: At, nanoseconds since the Unix epoch, Count times in a row
//	random  it drew Bytes
//	timer   its timer ID fired
//	answer  its request ID (of Name, with a payload of hash Ask) was answered with JSON, Bytes or Error
//	call    it called Name synchronously and got JSON or Error
type JournalEvent struct {
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

const (
	journalVersion   = 1
	maxJournalBytes  = 1 << 20
	maxJournalEvents = 20_000

	eventClock  = "clock"
	eventRandom = "random"
	eventTimer  = "timer"
	eventAnswer = "answer"
	eventCall   = "call"
)

// recorder keeps the journal of a run.
type recorder struct {
	journal Journal
	bytes   int
}

func (c *recorder) add(e JournalEvent) {
	c.bytes += 64 + len(e.JSON) + len(e.Bytes)*4/3
	if c.journal.Truncated || c.bytes > maxJournalBytes || len(c.journal.Events) >= maxJournalEvents {
		c.journal.Truncated = true
		return
	}
	c.journal.Events = append(c.journal.Events, e)
}

func (c *recorder) clock(t time.Duration) {
	if n := len(c.journal.Events); n > 0 && !c.journal.Truncated {
		if last := &c.journal.Events[n-1]; last.Kind == eventClock && last.At == int64(t) {
			last.Count++
			return
		}
	}
	c.add(JournalEvent{Kind: eventClock, At: int64(t), Count: 1})
}

// replayer hands out the events of a journal.
type replayer struct {
	journal *Journal
	next    int
	used    int // of the clock event at next
	asked   map[int32][2]string
}

// errDiverged ends a repeated run that does something else than what was recorded.
var errDiverged = errors.New("the run diverges from its journal")

func diverged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDiverged, fmt.Sprintf(format, args...))
}

func (p *replayer) take(kind string) (*JournalEvent, error) {
	if p.next >= len(p.journal.Events) {
		return nil, diverged("it wants one more %s", kind)
	}
	e := &p.journal.Events[p.next]
	if e.Kind != kind {
		return nil, diverged("it wants a %s where the journal has a %s", kind, e.Kind)
	}
	p.next++
	return e, nil
}

func (p *replayer) clock() (time.Duration, bool) {
	if p.next >= len(p.journal.Events) || p.journal.Events[p.next].Kind != eventClock {
		return 0, false
	}
	e := &p.journal.Events[p.next]
	if p.used++; p.used >= e.Count {
		p.next, p.used = p.next+1, 0
	}
	return time.Duration(e.At), true
}

// readClock returns what a guest sees of the time. Only outside asks for it.
func (r *run) readClock() time.Duration {
	if r.seeded {
		return seededEpoch + r.virtual
	}
	if r.replay != nil {
		if t, ok := r.replay.clock(); ok {
			return t
		}
		r.divergence = diverged("it reads the clock once more")
		return 0
	}
	t := time.Duration(r.outside.now().UnixNano()) / clockGrain * clockGrain
	r.recorder.clock(t)
	return t
}

// recordedEntropy wraps the system's generator so that what is drawn can be drawn again.
type recordedEntropy struct {
	r    *run
	from io.Reader
}

func (e recordedEntropy) Read(b []byte) (int, error) {
	if e.r.replay != nil {
		event, err := e.r.replay.take(eventRandom)
		if err != nil {
			return 0, err
		}
		if len(event.Bytes) != len(b) {
			return 0, diverged("it draws %d random bytes where the journal has %d", len(b), len(event.Bytes))
		}
		return copy(b, event.Bytes), nil
	}
	n, err := io.ReadFull(e.from, b)
	if err == nil {
		e.r.recorder.add(JournalEvent{Kind: eventRandom, Bytes: append([]byte(nil), b...)})
	}
	return n, err
}

func hashOfText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// recordAnswer keeps what a request was answered with. A *limitError ends the run by itself when it is repeated.
func (r *run) recordAnswer(c completion) {
	if r.replay != nil {
		return
	}
	ask := r.asked[c.id]
	delete(r.asked, c.id)
	e := JournalEvent{Kind: eventAnswer, ID: c.id, Name: ask[0], Ask: ask[1], JSON: c.answer.JSON, Bytes: c.answer.Bytes}
	if c.err != nil {
		e.JSON, e.Bytes, e.Error = nil, nil, wordsOf(c.err)
	}
	r.recorder.add(e)
}

func wordsOf(err error) *[2]string {
	var limit *limitError
	if errors.As(err, &limit) {
		return &[2]string{"limit", string(limit.limit)}
	}
	e := &opError{"Error", err.Error()}
	asOpError(err, &e)
	return &[2]string{e.name, e.message}
}

// errorOf is the way back from wordsOf.
func (r *run) errorOf(words *[2]string) error {
	if words == nil {
		return nil
	}
	if words[0] == "limit" {
		return r.limits.exceeded(Limit(words[1]))
	}
	return &opError{words[0], words[1]}
}

// replayed makes the next thing happen that happened when the run was recorded.
func (r *run) replayed(in *quickjs.Instance, image *quickjs.Image) error {
	p := r.replay
	if p.next >= len(p.journal.Events) {
		if p.journal.Limit == LimitWall {
			return r.limits.exceeded(LimitWall)
		}
		return diverged("it waits for what never came")
	}
	switch e := &p.journal.Events[p.next]; e.Kind {
	case eventTimer:
		p.next++
		due, ok := r.timers.take(e.ID, r.clock())
		if !ok {
			return diverged("timer %d is not set", e.ID)
		}
		r.virtual = max(r.virtual, due)
		return r.fire(in, image, e.ID)
	case eventAnswer:
		p.next++
		if asked, ok := p.asked[e.ID]; !ok || asked != [2]string{e.Name, e.Ask} {
			return diverged("request %d (%s) asks for something else", e.ID, e.Name)
		}
		delete(p.asked, e.ID)
		return r.settle(in, image, completion{id: e.ID, answer: answer{JSON: e.JSON, Bytes: e.Bytes}, err: r.errorOf(e.Error)})
	default:
		return diverged("it waits where the journal has a %s", e.Kind)
	}
}

// journaled is the journal of a run that has ended.
func (r *run) journaled(in *quickjs.Instance) *Journal {
	if r.replay != nil {
		return nil
	}
	j := r.recorder.journal
	j.Version, j.Seed, j.Seeded, j.Limit = journalVersion, r.result.Seed, r.seeded, r.result.Limit
	j.Unprepared = r.unprepared
	j.Ticks = r.loadTicks
	if in != nil {
		j.Ticks += in.Ticks()
	}
	return &j
}

// askAgain is request for a repeated run: the answer is in the journal.
func (r *run) askAgain(id int32, name, hash string) error {
	r.outstanding++
	r.replay.asked[id] = [2]string{name, hash}
	if _, counted := r.async[name]; counted {
		if r.apiCalls++; r.apiCalls > r.limits.APICalls {
			return r.limits.exceeded(LimitAPICalls)
		}
	}
	return nil
}

// callTool is a synchronous call, or what it answered when the run was recorded.
func (r *run) callTool(ctx context.Context, t *tool, params string) (json.RawMessage, error) {
	ask := hashOfText(params)
	if r.replay != nil {
		e, err := r.replay.take(eventCall)
		if err != nil {
			return nil, err
		}
		if e.Name != t.Name || e.Ask != ask {
			return nil, diverged("it calls %s otherwise than %s was called", t.Name, e.Name)
		}
		return e.JSON, r.errorOf(e.Error)
	}
	out, err := beside(ctx, func() (json.RawMessage, error) { return t.call(ctx, params) })
	e := JournalEvent{Kind: eventCall, Name: t.Name, Ask: ask, JSON: out}
	if err != nil {
		e.JSON, e.Error = nil, wordsOf(err)
	}
	r.recorder.add(e)
	return out, err
}

// A repeated run may take replaySlack times as long as its limits say, and replayGrace (Grants.MaxWall).
const (
	replaySlack = 4
	replayGrace = 10 * time.Second
)

// replayPoll stops a repeated run where it was stopped before, or when it takes far longer than it may.
func (r *run) replayPoll(in *quickjs.Instance) error {
	j := r.replay.journal
	switch {
	case r.divergence != nil:
		return r.divergence
	case (j.Limit == LimitWall || j.Limit == LimitCPU) && r.loadTicks+in.Ticks() >= j.Ticks:
		return r.limits.exceeded(j.Limit)
	case r.elapsed() >= r.grants.MaxWall():
		return r.limits.exceeded(LimitWall)
	}
	return r.ctx.Err()
}

// checkReplay finds what a repeated run that ended in order did otherwise.
func (r *run) checkReplay(err error) error {
	switch {
	case err != nil || r.replay == nil:
		return err
	case r.divergence != nil:
		return r.divergence
	case r.replay.next < len(r.replay.journal.Events):
		return diverged("it ended before the journal did")
	}
	return nil
}
