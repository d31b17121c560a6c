package localinvoke

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errBusy refuses a call because too many wait already.
var errBusy = errors.New("too many calls are waiting for a function process")

// roster holds the processes that wait for work and the calls that wait for a process. Calls are served in the order
// they came; the process used last goes first, so that its memory is warm.
type roster struct {
	mu      sync.Mutex
	idle    []*process
	waiting []*waiter
	limit   int
	// down, when set, is why nobody will come: claims fail at once with it.
	down error
}

type waiter struct {
	ready chan *process // closed without a value when the roster goes down
	err   error         // why, set before ready is closed
}

// claim takes an idle process, or waits for one.
func (r *roster) claim(ctx context.Context) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	if n := len(r.idle); n > 0 {
		p := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return p, nil
	}
	if r.down != nil {
		defer r.mu.Unlock()
		return nil, r.down
	}
	if len(r.waiting) >= r.limit {
		r.mu.Unlock()
		return nil, errBusy
	}
	w := &waiter{ready: make(chan *process, 1)}
	r.waiting = append(r.waiting, w)
	r.mu.Unlock()

	select {
	case p, ok := <-w.ready:
		if !ok {
			return nil, w.err
		}
		return p, nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	i := slices.Index(r.waiting, w)
	if i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	r.mu.Unlock()
	if i < 0 {
		if p, ok := <-w.ready; ok {
			r.put(p)
		}
	}
	return nil, ctx.Err()
}

// put offers a process that is ready for work.
func (r *roster) put(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > 0 {
		w := r.waiting[0]
		r.waiting = slices.Delete(r.waiting, 0, 1)
		w.ready <- p
		return
	}
	r.idle = append(r.idle, p)
}

// take removes p, and reports whether it was idle: if so it belongs to the caller now.
func (r *roster) take(p *process) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.idle, p)
	if i < 0 {
		return false
	}
	r.idle = slices.Delete(r.idle, i, i+1)
	return true
}

// setDown makes all who wait, and all who come, fail with err until it is nil again. Idle processes stay claimable.
func (r *roster) setDown(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = err
	if err == nil {
		return
	}
	for _, w := range r.waiting {
		w.err = err
		close(w.ready)
	}
	r.waiting = nil
}

func (r *roster) waitingNow() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}
