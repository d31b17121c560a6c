package ratelimit

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

const slices = 64

// Config sizes a Limiter.
type Config struct {
	Window  time.Duration // at least 1 ms
	Max     int           // requests per caller in any Window; at least 1
	Callers int           // how many are remembered; 0 means 65,536
	Now     func() time.Time
}

// Verdict is the answer to one request.
type Verdict struct {
	Allowed   bool
	Limit     int
	Remaining int
	Window    time.Duration
	// Reset is when the oldest request counted leaves the window: at that time at least one more is allowed.
	Reset time.Duration
}

// Limiter is a sliding-window limiter in memory. It is safe for concurrent use.
type Limiter struct {
	cfg   Config
	slice time.Duration

	mu      sync.Mutex
	callers map[string]*list.Element
	recent  *list.List // of *caller, most recent first
}

type caller struct {
	key    string
	last   int64 // the slice counted last
	total  int
	counts [slices + 1]uint32
}

// New checks the configuration.
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
		cfg: cfg, slice: (cfg.Window + slices - 1) / slices,
		callers: make(map[string]*list.Element), recent: list.New(),
	}, nil
}

// Take counts one request of the caller if it is allowed. A refused request does not count. It never fails; the
// context and the error are there for limiters that ask another machine.
func (l *Limiter) Take(ctx context.Context, key string) (Verdict, error) {
	return l.TakeUpTo(ctx, key, l.cfg.Max)
}

// TakeUpTo is Take with a limit of its own in place of Config.Max, for callers whose limits differ.
func (l *Limiter) TakeUpTo(_ context.Context, key string, most int) (Verdict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.cfg.Now().UnixNano()
	c := l.find(key)
	at := c.advance(now / int64(l.slice))
	v := Verdict{Limit: most, Window: l.cfg.Window}
	if c.total < most {
		v.Allowed = true
		c.total++
		c.counts[at%(slices+1)]++
	}
	v.Remaining = max(most-c.total, 0)
	v.Reset = time.Duration((c.oldest()+slices+1)*int64(l.slice) - now)
	return v, nil
}

func (l *Limiter) find(key string) *caller {
	if e, ok := l.callers[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*caller) // the list holds nothing else
	}
	if l.recent.Len() >= l.cfg.Callers {
		last := l.recent.Back()
		delete(l.callers, l.recent.Remove(last).(*caller).key) // as above
	}
	c := &caller{key: key}
	l.callers[key] = l.recent.PushFront(c)
	return c
}

// advance forgets the slices that have left the window and gives the current one; a clock that steps back stands still.
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

// oldest is the earliest slice that still counts, or the current one.
func (c *caller) oldest() int64 {
	for s := c.last - slices; s < c.last; s++ {
		if s >= 0 && c.counts[s%(slices+1)] > 0 {
			return s
		}
	}
	return c.last
}
