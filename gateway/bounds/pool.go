package bounds

import (
	"errors"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway/monotonic"
)

// Owner is the holder of a place.
type Owner struct {
	Tenant, Subject string
	// Operator marks who runs the deployment: the last place is for them.
	Operator bool
}

// ErrFull is the error of an owner for whom there is no place.
var ErrFull = errors.New("no place is free")

// Pool hands out places of one resource. It is safe for concurrent use.
type Pool struct {
	most int

	mu      sync.Mutex
	used    int
	tenants map[string]int
	owners  map[Owner]int
}

// NewPool returns a pool with at least one place.
func NewPool(most int) *Pool {
	return &Pool{most: max(most, 1), tenants: map[string]int{}, owners: map[Owner]int{}}
}

// Enter takes a place until leave is called. Calls of leave after the first do nothing. The error is ErrFull.
func (p *Pool) Enter(o Owner) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most-p.used <= p.kept(o) {
		return nil, ErrFull
	}
	p.used++
	p.tenants[o.Tenant]++
	p.owners[o]++
	return sync.OnceFunc(func() { p.leave(o) }), nil
}

func (p *Pool) leave(o Owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	if p.tenants[o.Tenant]--; p.tenants[o.Tenant] == 0 {
		delete(p.tenants, o.Tenant)
	}
	if p.owners[o]--; p.owners[o] == 0 {
		delete(p.owners, o)
	}
}

// kept returns how many free places are not for an owner: a tenth for an owner that has more than a few, half of that
// for an owner of a tenant that has some, and the operator's place for a new tenant. An owner that came in during a
// flood needs a few places at once: an agent's calls besides the stream that it holds open. A pool of few places keeps
// at most half of them.
func (p *Pool) kept(o Owner) int {
	tenth := min(max(p.most/10, 3), p.most/2)
	few := max(tenth/10, 1)
	switch {
	case p.owners[o] >= few:
		return tenth
	case o.Operator:
		return 0
	case p.tenants[o.Tenant] > 0:
		return (tenth + 1) / 2
	}
	return min(1, tenth/2)
}

// Used returns how many places are taken, and how many there are.
func (p *Pool) Used() (used, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used, p.most
}

// Leases is a pool of places that are held by name and become free when they have not been used for a while. It is
// safe for concurrent use.
type Leases struct {
	*Pool
	idle time.Duration
	now  func() time.Time

	mu  sync.Mutex
	all map[string]*lease
}

type lease struct {
	leave func()
	last  time.Time
}

// NewLeases returns leases that end after idle.
func NewLeases(most int, idle time.Duration, now func() time.Time) *Leases {
	return &Leases{Pool: NewPool(most), idle: idle, now: monotonic.Clock(now), all: map[string]*lease{}}
}

// Enter takes a place like Pool.Enter. If the pool is full, it first ends the leases that were not used for too long.
func (l *Leases) Enter(o Owner) (leave func(), err error) {
	leave, err = l.Pool.Enter(o)
	if err == nil {
		return leave, nil
	}
	l.sweep()
	return l.Pool.Enter(o)
}

// Hold names a place that was entered.
func (l *Leases) Hold(name string, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.all[name]; old != nil {
		old.leave()
	}
	l.all[name] = &lease{leave, l.now()}
}

// Holds reports whether a name has a place.
func (l *Leases) Holds(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[name] != nil
}

// Touch notes that a name is used.
func (l *Leases) Touch(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.all[name]; held != nil {
		held.last = l.now()
	}
}

// End frees the place of a name.
func (l *Leases) End(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.all[name]; held != nil {
		held.leave()
		delete(l.all, name)
	}
}

// sweep ends the leases that were not used for too long.
func (l *Leases) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for name, held := range l.all {
		if now.Sub(held.last) >= l.idle {
			held.leave()
			delete(l.all, name)
		}
	}
}
