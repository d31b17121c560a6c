package localinvoke

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// errBusy refuses a call because too many calls wait.
var errBusy = errors.New("too many calls are waiting for a function process")

// A roster holds the processes that wait for work and the calls that wait for a process. Calls are served in order;
// the most recently used process goes first, because its memory is warm.
//
// If tenants are kept apart, a process serves only the tenant of its first call. A call takes a process of its own
// tenant or an unbound one. If there is neither, a further process starts or, if there are as many as may be, the one
// that was idle longest is evicted, and the call waits for the new one. No more calls than places have a process.
//
// A caller owes the processes of its finished calls until they are idle again or, if they ended, replaced. If tenants
// are kept apart, a caller that owes one does not get the last idle process that may serve its tenant: a caller whose
// calls end processes faster than new ones start delays no other caller.
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
	size    sizes
	// grow starts a further process. It passes the placeholder that it replaces to replaced.
	grow   func(*process)
	coming int // processes that ended or are ending, and whose successors, which are unbound, are not ready yet
	lent   int // processes that calls have, until they are idle again or replaced
	owed   map[caller]int
	// down, if set, is why no process will come: claims fail with it at once.
	down error
}

// sizes are the numbers of processes of a roster that keeps tenants apart.
type sizes struct {
	places int // calls that may have a process at the same time
	now    int // processes, ready or not
	most   int // what now may grow to
}

// A change is what follows from a change of a roster once it is unlocked: the end of a process, or the start of one.
type change struct {
	evicted *process
	grown   *process // a placeholder
}

// A caller is a subject of a tenant.
type caller struct{ tenant, subject string }

// A loan is the last call of a process. It belongs to the roster.
type loan struct {
	call *call // nil once the process is idle again or replaced
	over bool  // the call is over
}

type waiter struct {
	call  *call
	ready chan *process // closed without a value when the roster goes down
	err   error         // why, set before ready is closed
}

// claim takes an idle process for a call, or waits for one.
func (r *roster) claim(ctx context.Context, c *call) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	if p := r.pick(c); p != nil {
		r.lend(p, c)
		next := r.refill()
		r.mu.Unlock()
		r.apply(next)
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
	w := &waiter{call: c, ready: make(chan *process, 1)}
	r.waiting = append(r.waiting, w)
	var next change
	if r.owed[c.by] == 0 {
		next = r.makeRoom()
	}
	r.mu.Unlock()
	r.apply(next)

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

// put offers a process that is ready for work. The first waiting call that may have it gets it.
func (r *roster) put(p *process) {
	r.mu.Lock()
	r.settle(p)
	r.idle = append(r.idle, p)
	next := r.settled()
	r.mu.Unlock()
	r.apply(next)
}

// ended notes that a call of a process is over. The process may be idle again already.
func (r *roster) ended(p *process, c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.apart || p.loan.call != c {
		return
	}
	if r.owed == nil {
		r.owed = map[caller]int{}
	}
	p.loan.over = true
	r.owed[c.by]++
}

// leave notes that a process, which is not idle, ends. It reports whether the process has a successor.
func (r *roster) leave(p *process) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !p.unneeded {
		r.leaves(p)
	}
	return !p.unneeded
}

func (r *roster) leaves(p *process) {
	if !p.left {
		p.left = true
		r.coming++
	}
}

// replaced notes that the successor of a process that left is ready or cannot start.
func (r *roster) replaced(p *process) {
	r.mu.Lock()
	r.settle(p)
	if p.left {
		p.left = false
		r.coming--
	}
	next := r.settled()
	r.mu.Unlock()
	r.apply(next)
}

// settled serves waiting calls after a loan was settled, and brings a process if one is needed.
func (r *roster) settled() change {
	if r.serve() != nil {
		return r.makeRoom()
	}
	return r.refill()
}

// settle ends the loan of a process.
func (r *roster) settle(p *process) {
	if p.loan.over {
		by := p.loan.call.by
		if r.owed[by]--; r.owed[by] == 0 {
			delete(r.owed, by)
		}
	}
	if p.loan.call != nil {
		r.lent--
	}
	p.loan = loan{}
}

// serve lends idle processes to waiting calls, in order, up to the first for which there is none, which it returns.
// It skips calls of callers that must first wait for replacements of the processes that they ended.
func (r *roster) serve() *waiter {
	var first *waiter
	r.waiting = slices.DeleteFunc(r.waiting, func(w *waiter) bool {
		if first != nil {
			return false
		}
		p := r.pick(w.call)
		if p == nil {
			if r.owed[w.call.by] == 0 {
				first = w
			}
			return false
		}
		r.lend(p, w.call)
		w.ready <- p
		return true
	})
	return first
}

// pick takes the idle process that serves a call best; nil if none may serve it.
func (r *roster) pick(c *call) *process {
	tenant := c.by.tenant
	if r.full() || r.owed[c.by] > 0 && r.suitable(tenant) < 2 {
		return nil
	}
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

// suitable returns the number of idle processes that may serve a tenant.
func (r *roster) suitable(tenant string) int {
	n := 0
	for _, p := range r.idle {
		if r.suits(p, tenant) {
			n++
		}
	}
	return n
}

// lend hands a process to a call.
func (r *roster) lend(p *process, c *call) {
	p.loan = loan{call: c}
	r.lent++
	if r.apart {
		p.bound, p.tenant = true, c.by.tenant
	}
}

// full reports whether as many calls as may be have a process.
func (r *roster) full() bool { return r.apart && r.lent >= r.size.places }

// refill brings a process if too few unbound ones are idle.
func (r *roster) refill() change {
	if !r.apart {
		return change{}
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
	if free >= r.reserve {
		return change{}
	}
	return r.unbound(oldest)
}

// makeRoom brings a process for a call that no idle one may serve.
func (r *roster) makeRoom() change {
	if r.full() || r.coming >= len(r.waiting) {
		return change{}
	}
	return r.unbound(0)
}

// unbound brings an unbound process: a further one or, if there are as many as may be, the successor of idle process i,
// which leaves the roster; none if there is no such process.
func (r *roster) unbound(i int) change {
	if r.size.now < r.size.most {
		r.size.now++
		p := &process{}
		r.leaves(p)
		return change{grown: p}
	}
	if i < 0 || i >= len(r.idle) {
		return change{}
	}
	p := r.idle[i]
	r.idle = slices.Delete(r.idle, i, i+1)
	r.leaves(p)
	return change{evicted: p}
}

func (r *roster) apply(c change) {
	if c.evicted != nil {
		r.evict(c.evicted)
	}
	if c.grown != nil {
		r.grow(c.grown)
	}
}

// shrink takes the bound process that was idle longest out of the roster if there are more processes than places and it
// has been idle since before then. It is not replaced.
func (r *roster) shrink(then time.Time) *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size.now <= r.size.places {
		return nil
	}
	i := slices.IndexFunc(r.idle, func(p *process) bool { return p.bound })
	if i < 0 || !r.idle[i].idleSince.Before(then) {
		return nil
	}
	p := r.idle[i]
	r.idle = slices.Delete(r.idle, i, i+1)
	r.size.now--
	p.unneeded = true
	return p
}

// stay makes the roster keep the number of processes that it has, without one that cannot start.
func (r *roster) stay() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size.now--
	r.size.most = r.size.now
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
