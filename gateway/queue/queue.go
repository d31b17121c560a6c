package queue

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway/monotonic"
)

// Class is a priority.
type Class int

// The classes, lowest first.
const (
	Low Class = iota
	Normal
	High
	classes
)

// weights returns the share of free places that a class gets while others wait, too.
func weights(c Class) int { return [classes]int{1, 3, 6}[c] }

// Config sizes a Queue.
type Config struct {
	Places int // executions at once; at least 1
	// Spare is the number of additional places for tenants that hold none: however long others hold all places, the
	// first execution of such a tenant does not wait. All but one of them are also for tenants that need no more than
	// Places while others are active, and for subjects that hold none while others of their tenant hold all.
	Spare int
	Depth int // waiters at once; at least 0
	Now   func() time.Time
	// Concurrent returns how many places a tenant may hold at once. 0, or a nil func, means no bound.
	Concurrent func(tenant string) int
}

// Full is the error of an arrival that was turned away, or of a waiter that had to give way. Callers of a Queue also
// use it for a waiter whose time was over.
type Full struct {
	// RetryAfter is between 1 and 60 seconds. A Queue estimates it from how long executions take.
	RetryAfter time.Duration
	// Waited is how long a waiter waited until its time was over. It is 0 for one that had to give way, and for an arrival
	// that was turned away.
	Waited time.Duration
}

// Error implements error.
func (f *Full) Error() string {
	if f.Waited > 0 {
		return fmt.Sprintf("no place became free in %v", f.Waited.Round(100*time.Millisecond))
	}
	return "the queue is full"
}

// Queue hands out places. It is safe for concurrent use.
type Queue struct {
	cfg Config

	mu      sync.Mutex
	waiting int
	lines   [classes]class
	credit  [classes]int
	holders holders
	service time.Duration // moving average of how long a place is held
}

// New checks the configuration and returns a Queue.
func New(cfg Config) (*Queue, error) {
	if cfg.Places < 1 || cfg.Spare < 0 || cfg.Depth < 0 || cfg.Now == nil {
		return nil, errors.New(
			"queue: at least one place, a depth and a number of spare places of at least 0, and a clock are needed",
		)
	}
	cfg.Now = monotonic.Clock(cfg.Now)
	if cfg.Concurrent == nil {
		cfg.Concurrent = func(string) int { return 0 }
	}
	q := &Queue{cfg: cfg, holders: newHolders(cfg)}
	for i := range q.lines {
		q.lines[i] = class{byTenant: make(map[string]*line), turns: list.New()}
	}
	return q, nil
}

// A Place is the right to run one execution.
type Place struct {
	// Waited is how long the caller waited for it.
	Waited  time.Duration
	tenant  string
	subject string
	q       *Queue
	granted time.Time
	once    sync.Once
}

// Acquire waits for a place for a tenant. The error is a *Full, or the context's if it ended first. Every Place must
// be released.
func (q *Queue) Acquire(ctx context.Context, c Class, tenant string) (*Place, error) {
	return q.AcquireFor(ctx, c, tenant, "")
}

// AcquireFor waits like Acquire, for one subject of a tenant. The subjects of a tenant take turns, as tenants do.
func (q *Queue) AcquireFor(ctx context.Context, c Class, tenant, subject string) (*Place, error) {
	arrived := q.cfg.Now()
	w, err := q.enter(c, tenant, subject)
	if err != nil {
		return nil, err
	}
	if w != nil {
		select {
		case <-w.done:
		case <-ctx.Done():
			if q.leave(w) {
				return nil, ctx.Err()
			}
		}
		if w.err != nil {
			return nil, w.err
		}
	}
	now := q.cfg.Now()
	return &Place{q: q, tenant: tenant, subject: subject, granted: now, Waited: now.Sub(arrived)}, nil
}

// Release passes the place to the next in line. Calls after the first do nothing.
func (p *Place) Release() {
	p.once.Do(func() {
		now := p.q.cfg.Now()
		held := now.Sub(p.granted)
		p.q.mu.Lock()
		defer p.q.mu.Unlock()
		p.q.service += (held - p.q.service) / 8
		p.q.holders.release(p.tenant, p.subject, now)
		p.q.grant()
	})
}

// Load returns the number of executions that run and that wait.
func (q *Queue) Load() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.cfg.Places + q.cfg.Spare - q.holders.free, q.waiting
}

// enter takes a free place at once and returns nil, or joins the line.
func (q *Queue) enter(c Class, tenant, subject string) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.holders.arrived(tenant, subject, q.cfg.Now())
	if q.grant(); q.holders.may(tenant, subject) {
		q.holders.take(tenant, subject)
		return nil, nil
	}
	if q.waiting >= q.cfg.Depth {
		victim := q.victim(c, tenant, subject)
		if victim == nil {
			q.holders.left(tenant, subject)
			return nil, q.full()
		}
		q.remove(victim)
		victim.err = q.full()
		close(victim.done)
	}
	w := &waiter{class: c, tenant: tenant, subject: subject, done: make(chan struct{})}
	q.lines[c].push(w)
	q.waiting++
	return w, nil
}

// leave removes a waiter whose caller has gone. It reports false if the waiter was served meanwhile.
func (q *Queue) leave(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.element == nil {
		return false
	}
	q.remove(w)
	return true
}

func (q *Queue) remove(w *waiter) {
	q.lines[w.class].remove(w)
	q.waiting--
	q.holders.left(w.tenant, w.subject)
}

func (q *Queue) full() *Full {
	after := q.service * time.Duration(q.waiting+1) / time.Duration(q.cfg.Places)
	return &Full{RetryAfter: min(max(after.Round(time.Second), time.Second), time.Minute)}
}

// grant hands free places to waiters whose tenants may have one more. The lock is held.
func (q *Queue) grant() {
	for q.holders.free > 0 && q.waiting > 0 {
		best, total := Class(-1), 0
		var turn [classes]*waiter
		for c := Low; c < classes; c++ {
			if turn[c] = q.lines[c].turn(&q.holders); turn[c] == nil {
				q.credit[c] = 0
				continue
			}
			q.credit[c] += weights(c)
			total += weights(c)
			if best < 0 || q.credit[c] >= q.credit[best] {
				best = c
			}
		}
		if best < 0 {
			return
		}
		q.credit[best] -= total
		w := turn[best]
		q.lines[best].serve(w)
		q.waiting--
		q.holders.take(w.tenant, w.subject)
		close(w.done)
	}
}

// victim returns the waiter that gives way to an arrival when the line is full; nil means the arrival itself.
func (q *Queue) victim(c Class, tenant, subject string) *waiter {
	for lower := Low; lower < c; lower++ {
		if longest := q.lines[lower].longest(); longest != nil {
			w, _ := longest.youngest()
			return w
		}
	}
	longest := q.lines[c].longest()
	if longest == nil {
		return nil
	}
	mine := 0
	if l := q.lines[c].byTenant[tenant]; l != nil {
		mine = l.n
	}
	w, most := longest.youngest()
	if longest.tenant == tenant { // the same among its subjects
		if most <= longest.of(subject)+1 {
			return nil
		}
		return w
	}
	if longest.n <= mine+1 {
		return nil
	}
	return w
}
