package ratelimit

import "time"

// steady counts the time that passes by a clock that may be put back or forward. The clock of the system has a monotonic
// reading besides, and then no change of the time of day is seen at all. A clock without one stands still while it is put
// back. It is not safe for concurrent use.
type steady struct {
	now    func() time.Time
	last   time.Time
	passed time.Duration
}

// read returns the time that has passed since the first reading.
func (s *steady) read() time.Duration {
	now := s.now()
	if !s.last.IsZero() {
		s.passed += max(now.Sub(s.last), 0)
	}
	s.last = now
	return s.passed
}
