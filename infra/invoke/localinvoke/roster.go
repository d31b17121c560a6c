package localinvoke

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errBusy refuses a call because too many calls wait.
var errBusy = errors.New("too many calls are waiting for a function process")

// A roster holds the processes that wait for work and the calls that wait for a process. Calls are served in order;
// the most recently used process goes first, because its memory is warm.
//
// If tenants are kept apart, a process serves only the tenant of its first call. A call takes a process of its own
// tenant or an unbound one. If there is neither, the process that was idle longest is evicted, and the call waits for
// its replacement.
type roster struct {
	mu      sync.Mutex
	idle    []*process // the one used last is the last
	waiting []*waiter
	limit   int
	// apart keeps tenants apart; evict ends an idle process that has left the roster; reserve is the number of unbound
	// processes to keep idle.
	apart   bool
	evict   func(*process)
	reserve int
	coming  int // evicted processes whose successors are not ready yet
	// down, if set, is why no process will come: claims fail with it at once.
	down error
}

type waiter struct {
	tenant string
	ready  chan *process // closed without a value when the roster goes down
	err    error         // why, set before ready is closed
}

// claim takes an idle process for a tenant, or waits for one.
func (r *roster) claim(ctx context.Context, tenant string) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	if p := r.pick(tenant); p != nil {
		r.bind(p, tenant)
		evicted := r.refill()
		r.mu.Unlock()
		r.end(evicted)
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
	w := &waiter{tenant: tenant, ready: make(chan *process, 1)}
	r.waiting = append(r.waiting, w)
	evicted := r.makeRoom()
	r.mu.Unlock()
	r.end(evicted)

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

// put offers a process that is ready for work. The first waiting call gets it; a process that may not serve that call
// is evicted for one that may.
func (r *roster) put(p *process) {
	r.mu.Lock()
	if !p.bound && r.coming > 0 {
		r.coming--
	}
	var evicted *process
	switch {
	case len(r.waiting) == 0:
		r.idle = append(r.idle, p)
		evicted = r.refill()
	case !r.suits(p, r.waiting[0].tenant):
		evicted = p
		r.coming++
	default:
		w := r.waiting[0]
		r.waiting = slices.Delete(r.waiting, 0, 1)
		r.bind(p, w.tenant)
		w.ready <- p
	}
	r.mu.Unlock()
	r.end(evicted)
}

// pick takes the idle process that serves a tenant's call best; nil if none may serve it.
func (r *roster) pick(tenant string) *process {
	best := -1
	for i := len(r.idle) - 1; i >= 0 && best < 0; i-- {
		if p := r.idle[i]; !r.apart || p.bound && p.tenant == tenant {
			best = i
		}
	}
	for i := len(r.idle) - 1; i >= 0 && best < 0; i-- {
		if !r.idle[i].bound {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	p := r.idle[best]
	r.idle = slices.Delete(r.idle, best, best+1)
	return p
}

func (r *roster) suits(p *process, tenant string) bool {
	return !r.apart || !p.bound || p.tenant == tenant
}

func (r *roster) bind(p *process, tenant string) {
	if r.apart {
		p.bound, p.tenant = true, tenant
	}
}

// refill takes the process that was idle longest out of the roster if too few unbound ones are idle, and returns it;
// its replacement is unbound.
func (r *roster) refill() *process {
	if !r.apart {
		return nil
	}
	free, oldest := r.coming, -1
	for i, p := range r.idle {
		switch {
		case !p.bound:
			free++
		case oldest < 0:
			oldest = i
		}
	}
	if free >= r.reserve || oldest < 0 {
		return nil
	}
	return r.remove(oldest)
}

// makeRoom takes an idle process out of the roster for a call that no process may serve.
func (r *roster) makeRoom() *process {
	if len(r.idle) == 0 || r.coming >= len(r.waiting) {
		return nil
	}
	return r.remove(0)
}

func (r *roster) remove(i int) *process {
	p := r.idle[i]
	r.idle = slices.Delete(r.idle, i, i+1)
	r.coming++
	return p
}

// end evicts a process, which may be nil.
func (r *roster) end(p *process) {
	if p != nil {
		r.evict(p)
	}
}

// take removes p and reports whether it was idle; if so, the caller owns it.
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

// setDown makes all waiting and new claims fail with err until it is nil again. Idle processes stay claimable.
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
