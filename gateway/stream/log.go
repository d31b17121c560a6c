package stream

import (
	"context"
	"errors"
	"sync"
	"time"
)

// An Event is one event. ID counts from 1 within its Log; Data is one line.
type Event struct {
	ID   int
	Name string
	Data []byte

	before int // the bytes of all events before it
}

// ErrEnd is the error of Next after the last event of a Log that was closed.
var ErrEnd = errors.New("the stream has ended")

// A Log has the events of one execution. It is safe for concurrent use.
type Log struct {
	window int

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced whenever anything changes
	events    []Event
	first     int // the ID of events[0]
	bytes     int
	published int // the bytes of all events, also of those that are no longer kept
	closed    bool
	followers map[*Follower]struct{}
	abandoned func()
	patience  time.Duration
	left      int // the ID that the last follower to leave would have read next, while it may come back; otherwise 0
	leavings  int // how many times the last follower has left
}

// NewLog returns a Log that keeps about window bytes of events. abandoned, which may be nil, is called without a lock
// when the last follower has left before the Log is closed and none has come within patience. Until then the events
// that the follower has not read are kept, and Publish waits as for a slow follower.
func NewLog(window int, patience time.Duration, abandoned func()) *Log {
	return &Log{
		window: window, changed: make(chan struct{}), first: 1, followers: map[*Follower]struct{}{}, abandoned: abandoned,
		patience: patience,
	}
}

// Publish appends an event. It waits while a follower is a whole window behind, and gives up when ctx ends.
func (l *Log) Publish(ctx context.Context, name string, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.behind() >= l.window {
		if err := l.wait(ctx); err != nil {
			return err
		}
	}
	l.events = append(l.events, Event{l.first + len(l.events), name, data, l.published})
	l.bytes += len(data)
	l.published += len(data)
	// What every follower has read may go. The newest event always stays.
	for l.bytes > l.window && len(l.events) > 1 && l.events[0].ID < l.slowest() {
		l.bytes -= len(l.events[0].Data)
		l.events = l.events[1:]
		l.first++
	}
	l.notify()
	return nil
}

// Close ends the log: no event follows.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.notify()
}

// Bytes returns the size of the kept events.
func (l *Log) Bytes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

// Follow returns a Follower that reads the events after the one with the given ID (0 for all). Events that are no
// longer kept are skipped. The Follower must be closed.
func (l *Log) Follow(after int) *Follower {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &Follower{log: l, next: max(after+1, l.first)}
	l.followers[f] = struct{}{}
	l.left = 0
	l.notify()
	return f
}

// behind returns how many bytes the slowest follower has not read. The lock is held.
func (l *Log) behind() int {
	unread := l.events[min(max(l.slowest()-l.first, 0), len(l.events)):]
	if len(unread) == 0 {
		return 0
	}
	return l.published - unread[0].before
}

// slowest returns the ID that the slowest follower reads next, also if it has left and may come back. Without
// followers it returns the ID of the next event.
func (l *Log) slowest() int {
	next := l.first + len(l.events)
	if l.left > 0 {
		next = min(next, l.left)
	}
	for f := range l.followers {
		next = min(next, f.next)
	}
	return next
}

// wait releases the lock until something changes.
func (l *Log) wait(ctx context.Context) error {
	changed := l.changed
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Log) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// A Follower reads a Log. It belongs to one goroutine.
type Follower struct {
	log  *Log
	next int
}

// Next waits for the next event and returns it. The error is ErrEnd, or the context's.
func (f *Follower) Next(ctx context.Context) (Event, error) {
	l := f.log
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if i := f.next - l.first; i < len(l.events) {
			e := l.events[max(i, 0)]
			f.next = e.ID + 1
			l.notify()
			return e, nil
		}
		if l.closed {
			return Event{}, ErrEnd
		}
		if err := l.wait(ctx); err != nil {
			return Event{}, err
		}
	}
}

// more reports whether Next returns an event without waiting.
func (f *Follower) more() bool {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	return f.next-f.log.first < len(f.log.events)
}

// Close ends the follower. Calls after the first do nothing.
func (f *Follower) Close() {
	l := f.log
	l.mu.Lock()
	_, following := l.followers[f]
	delete(l.followers, f)
	last := following && len(l.followers) == 0 && !l.closed && l.abandoned != nil
	if last {
		l.left = f.next
		l.leavings++
		leaving := l.leavings
		time.AfterFunc(l.patience, func() { l.giveUp(leaving) })
	}
	l.notify()
	l.mu.Unlock()
}

// giveUp calls abandoned if nobody has followed since a leaving.
func (l *Log) giveUp(leaving int) {
	l.mu.Lock()
	alone := len(l.followers) == 0 && l.leavings == leaving && !l.closed
	if alone {
		l.left = 0
		l.notify()
	}
	l.mu.Unlock()
	if alone {
		l.abandoned()
	}
}
