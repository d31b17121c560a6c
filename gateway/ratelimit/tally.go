package ratelimit

import (
	"context"
	"time"
)

// A Bound is a key and the most that any window may hold of it.
type Bound struct {
	Key  string
	Most int
}

// A Tally counts several keys at once. Limiter and Shared are tallies. Verdicts are in the order of the bounds.
type Tally interface {
	// Look returns what Count would allow, and counts nothing.
	Look(ctx context.Context, bounds []Bound) ([]Verdict, error)
	// Count counts one for each key that is below its bound.
	Count(ctx context.Context, bounds []Bound) ([]Verdict, error)
}

var (
	_ Tally = (*Limiter)(nil)
	_ Tally = (*Shared)(nil)
)

// Look implements Tally. It remembers no key that it did not know.
func (l *Limiter) Look(_ context.Context, bounds []Bound) ([]Verdict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	out := make([]Verdict, 0, len(bounds))
	for _, b := range bounds {
		c := &caller{last: int64(now / l.slice)}
		if e, ok := l.callers[b.Key]; ok {
			c = e.Value.(*caller) // the lists hold nothing else
			c.advance(int64(now / l.slice))
		}
		out = append(out, l.verdict(c, b.Most, c.total < b.Most, now))
	}
	return out, nil
}

// Count implements Tally.
func (l *Limiter) Count(ctx context.Context, bounds []Bound) ([]Verdict, error) {
	out := make([]Verdict, 0, len(bounds))
	for _, b := range bounds {
		v, err := l.TakeUpTo(ctx, b.Key, b.Most)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Look implements Tally over all gateways.
func (s *Shared) Look(ctx context.Context, bounds []Bound) ([]Verdict, error) {
	return s.together(ctx, bounds, false)
}

// Count implements Tally over all gateways.
func (s *Shared) Count(ctx context.Context, bounds []Bound) ([]Verdict, error) {
	return s.together(ctx, bounds, true)
}

// together asks Redis, or this process alone while Redis does not answer. What Redis counts is counted here, too.
func (s *Shared) together(ctx context.Context, bounds []Bound, count bool) ([]Verdict, error) {
	verdicts, answered := s.ask(ctx, bounds, count)
	if answered && !count {
		return verdicts, nil
	}
	if !count {
		return s.local.Look(ctx, bounds)
	}
	var counted []Bound
	for n, b := range bounds {
		if !answered || verdicts[n].Allowed {
			counted = append(counted, b)
		}
	}
	own, err := s.local.Count(ctx, counted)
	if answered {
		return verdicts, err
	}
	return own, err
}

// ask asks Redis to look or count. It reports false while Redis does not answer.
func (s *Shared) ask(ctx context.Context, bounds []Bound, count bool) ([]Verdict, bool) {
	now := s.cfg.Now()
	lost := s.lostUntil.Load()
	if lost != 0 && !s.mayTry(lost, now) {
		return nil, false
	}
	verdicts, err := s.run(ctx, bounds, count)
	switch {
	case err != nil && ctx.Err() != nil: // the caller gave up, which says nothing about Redis
		return nil, false
	case err != nil:
		if s.lostUntil.Swap(now.Add(cooling).UnixNano()) == 0 {
			s.cfg.Log.Warn("Redis does not answer; each gateway limits by itself", "error", err)
		}
		return nil, false
	}
	if lost != 0 && s.lostUntil.Swap(0) != 0 {
		s.cfg.Log.Info("Redis answers again; limits are shared")
	}
	return verdicts, true
}

// mayTry reports whether this caller is the one that finds out whether Redis is back: one in each period, while the
// others continue without waiting. A clock that was set back begins the period again.
func (s *Shared) mayTry(lost int64, now time.Time) bool {
	wait := time.Duration(lost - now.UnixNano())
	if wait > 0 && wait <= cooling {
		return false
	}
	return s.lostUntil.CompareAndSwap(lost, now.Add(cooling).UnixNano())
}
