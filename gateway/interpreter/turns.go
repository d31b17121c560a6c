package interpreter

import (
	"context"
	"sync"
	"time"
)

const (
	// longestTurn is how long a call waits for the calls before it.
	longestTurn = 30 * time.Second
	// maxInTurn is how many calls may wait in one context, with the one that runs.
	maxInTurn = 16
)

// turns let the calls in one context run one after the other, as the service does: two steps of a session cannot run
// at once. The zero value is ready.
type turns struct {
	mu    sync.Mutex
	taken map[string]*turn
}

// A turn is that of one context.
type turn struct {
	free  chan struct{} // has an element while a call runs
	calls int           // that run or wait
}

// enter waits until the calls before this one have left, and returns what leaves. If too many wait, or the wait is too
// long, it does not wait on: the session then refuses a second step.
func (t *turns) enter(ctx context.Context, name string) (leave func()) {
	t.mu.Lock()
	mine := t.taken[name]
	if mine == nil {
		mine = &turn{free: make(chan struct{}, 1)}
		if t.taken == nil {
			t.taken = map[string]*turn{}
		}
		t.taken[name] = mine
	}
	if mine.calls >= maxInTurn {
		t.mu.Unlock()
		return func() {}
	}
	mine.calls++
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, longestTurn)
	defer cancel()
	select {
	case mine.free <- struct{}{}:
		return func() {
			<-mine.free
			t.end(name, mine)
		}
	case <-ctx.Done():
		return func() { t.end(name, mine) }
	}
}

// end ends a call.
func (t *turns) end(name string, of *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of.calls--; of.calls == 0 {
		delete(t.taken, name)
	}
}
