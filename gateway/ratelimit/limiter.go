package ratelimit

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway/monotonic"
)

const slices = 64

// Config sizes a Limiter.
type Config struct {
	Window  time.Duration // at least 1 ms
	Max     int           // requests per caller in any Window; at least 1
	Callers int           // how many are remembered; 0 means 65,536
	Now     func() time.Time
}

// Verdict is the response to one request.
type Verdict struct {
	Allowed   bool
	Limit     int
	Remaining int
	Window    time.Duration
	// Reset is when the oldest counted request leaves the window. At that time, at least one more is allowed.
	Reset time.Duration
}

// Limiter is a sliding-window limiter in memory. It is safe for concurrent use.
//
// It measures elapsed time and not the time of day: a clock that is set forward or back by a day locks nobody out for
// a day. When the memory is full, callers below their limit are forgotten first, least recently seen first. A caller at
// its limit is forgotten only when as many others as the Limiter remembers are at theirs.
type Limiter struct {
	cfg   Config
	slice time.Duration

	mu      sync.Mutex
	clock   func() time.Duration
	callers map[string]*list.Element
	recent  *list.List // of *caller below their limit, most recent first
	full    *list.List // of *caller at their limit when last seen, most recent first
}

type caller struct {
	key    string
	in     *list.List
	last   int64 // the slice counted last
	total  int
	counts [slices + 1]uint32
}

// New checks the configuration and returns a Limiter.
func New(cfg Config) (*Limiter, error) {
	switch {
	case cfg.Window < time.Millisecond:
		return nil, errors.New("rate limit: the window must be at least 1 ms")
	case cfg.Max < 1:
		return nil, errors.New("rate limit: at least 1 request must be allowed")
	case cfg.Callers < 0:
		return nil, errors.New("rate limit: the number of callers must not be negative")
	case cfg.Now == nil:
		return nil, errors.New("rate limit: a clock is needed")
	}
	if cfg.Callers == 0 {
		cfg.Callers = 1 << 16
	}
	return &Limiter{
		cfg: cfg, slice: (cfg.Window + slices - 1) / slices, clock: monotonic.Elapsed(cfg.Now),
		callers: make(map[string]*list.Element), recent: list.New(), full: list.New(),
	}, nil
}

// Take counts one request of the caller if it is allowed. A refused request does not count. Take never fails and does
// not use the context; they are there for limiters that ask another machine.
func (l *Limiter) Take(ctx context.Context, key string) (Verdict, error) {
	return l.TakeUpTo(ctx, key, l.cfg.Max)
}

// TakeUpTo counts like Take, with a limit in place of Config.Max, for callers whose limits differ.
func (l *Limiter) TakeUpTo(_ context.Context, key string, most int) (Verdict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	c := l.find(key, now)
	at := c.advance(int64(now / l.slice))
	allowed := c.total < most
	if allowed {
		c.total++
		c.counts[at%(slices+1)]++
	}
	l.keep(c, most)
	return l.verdict(c, most, allowed, now), nil
}

// verdict returns the response to a request of the caller.
func (l *Limiter) verdict(c *caller, most int, allowed bool, now time.Duration) Verdict {
	return Verdict{
		Allowed: allowed, Limit: most, Remaining: max(most-c.total, 0), Window: l.cfg.Window,
		Reset: time.Duration(c.oldest()+slices+1)*l.slice - now,
	}
}

// find returns the caller, and makes room for one that is not known.
func (l *Limiter) find(key string, now time.Duration) *caller {
	if e, ok := l.callers[key]; ok {
		return e.Value.(*caller) // the lists hold nothing else
	}
	if len(l.callers) >= l.cfg.Callers {
		l.forget(now)
	}
	c := &caller{key: key, in: l.recent}
	l.callers[key] = c.in.PushFront(c)
	return c
}

// forget drops one caller: one at its limit whose window is over, otherwise one below its limit, otherwise one at its
// limit.
func (l *Limiter) forget(now time.Duration) {
	last := l.full.Back()
	if last == nil || int64(now/l.slice)-last.Value.(*caller).last <= slices {
		if below := l.recent.Back(); below != nil {
			last = below
		}
	}
	c := last.Value.(*caller) // as in find
	c.in.Remove(last)
	delete(l.callers, c.key)
}

// keep moves the caller to the front of the list that it belongs to.
func (l *Limiter) keep(c *caller, most int) {
	to, e := l.recent, l.callers[c.key]
	if c.total >= most {
		to = l.full
	}
	if c.in == to {
		to.MoveToFront(e)
		return
	}
	c.in.Remove(e)
	c.in = to
	l.callers[c.key] = to.PushFront(c)
}

// advance forgets the slices that have left the window, and returns the current one.
func (c *caller) advance(now int64) int64 {
	if now <= c.last {
		return c.last
	}
	if now-c.last > slices {
		c.counts, c.total = [slices + 1]uint32{}, 0
	} else {
		for s := c.last + 1; s <= now; s++ {
			c.total -= int(c.counts[s%(slices+1)])
			c.counts[s%(slices+1)] = 0
		}
	}
	c.last = now
	return now
}

// oldest returns the earliest slice that still counts, or the current one.
func (c *caller) oldest() int64 {
	for s := c.last - slices; s < c.last; s++ {
		if s >= 0 && c.counts[s%(slices+1)] > 0 {
			return s
		}
	}
	return c.last
}
