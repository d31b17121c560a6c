package queue

import "time"

// about is how long a tenant counts as being about after it last asked for a place.
const about = 10 * time.Second

// shares says how many places each tenant has and may have. It belongs to the queue's lock.
type shares struct {
	places int
	spare  int
	free   int // of both
	bound  func(tenant string) int
	held   map[string]int // without tenants that hold none

	now time.Time
	// latest asked last; other is when anybody else last did.
	latest   string
	latestAt time.Time
	other    time.Time
}

// arrived notes that a tenant asks.
func (s *shares) arrived(tenant string, now time.Time) {
	s.now = now
	if tenant != s.latest {
		s.other, s.latest = s.latestAt, tenant
	}
	s.latestAt = now
}

func (s *shares) take(tenant string) {
	s.free--
	s.held[tenant]++
}

func (s *shares) release(tenant string) {
	s.free++
	if s.held[tenant]--; s.held[tenant] == 0 {
		delete(s.held, tenant)
	}
}

// may reports whether a tenant may have one more place, of those that are free: not past its bound, not a spare one unless
// it has none, and not the last one of all while others are about. The only place there is may always be had.
func (s *shares) may(tenant string) bool {
	held := s.held[tenant]
	switch {
	case s.free == 0, held > 0 && s.free <= s.spare:
		return false
	}
	if most := s.bound(tenant); most > 0 && held >= most {
		return false
	}
	return s.places == 1 || held < s.places-1 || !s.othersAbout(tenant)
}

func (s *shares) othersAbout(tenant string) bool {
	last := s.latestAt
	if tenant == s.latest {
		last = s.other
	}
	return !last.IsZero() && s.now.Sub(last) < about
}
