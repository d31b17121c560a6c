package queue

import (
	"container/list"
	"time"
)

// about is how long a tenant counts as active after it last asked for a place. It is also the window over which the
// number of places that it needed at once is remembered.
const about = 10 * time.Second

// shares says how many places each tenant has and may have. It belongs to the queue's lock.
type shares struct {
	places int
	spare  int
	free   int // places and spare places
	bound  func(tenant string) int

	tenants map[string]*share // tenants that are active, or hold places
	asked   *list.List        // of *share: active tenants, least recently asked first
	each    int               // what each active tenant may always have: its part of the places, at least one
	claimed int               // the sum of their claims
	floods  int               // how many of them recently asked for more than all places
}

// share holds the places that one tenant has and needs.
type share struct {
	tenant        string
	held, waiting int
	at            time.Time     // when it asked last
	turn          *list.Element // in asked; nil if it is not active
	// most is the largest number of places that it held and waited for at once, in this window and the one before.
	most, recent int
	since        time.Time // when this window began
	claim        int       // places that it does not hold and may ask for at any moment
	flood        bool      // whether most is more than all places
}

func newShares(cfg Config) shares {
	return shares{
		places: cfg.Places, spare: cfg.Spare, free: cfg.Places + cfg.Spare, bound: cfg.Concurrent,
		tenants: make(map[string]*share), asked: list.New(),
	}
}

// arrived notes that a tenant asks. Either take or left follows.
func (s *shares) arrived(tenant string, now time.Time) {
	t := s.tenants[tenant]
	if t == nil {
		t = &share{tenant: tenant}
		s.tenants[tenant] = t
	}
	if t.turn == nil {
		t.turn, t.since = s.asked.PushBack(t), now
	}
	s.asked.MoveToBack(t.turn)
	if now.Sub(t.since) >= about {
		t.most, t.recent, t.since = t.recent, 0, now
	}
	t.at = now
	t.waiting++
	t.recent = max(t.recent, t.held+t.waiting)
	t.most = max(t.most, t.recent)
	s.pass(now)
	s.count(t)
}

// pass forgets the tenants that have not asked for a while and wait for nothing.
func (s *shares) pass(now time.Time) {
	for e := s.asked.Front(); e != nil; e = s.asked.Front() {
		t := e.Value.(*share)
		if now.Sub(t.at) < about {
			break
		}
		if t.waiting > 0 {
			t.at = now
			s.asked.MoveToBack(e)
			continue
		}
		s.asked.Remove(e)
		t.turn, t.most, t.recent = nil, 0, 0
		s.count(t)
	}
	each := max(s.places/max(s.asked.Len(), 1), 1)
	if each == s.each {
		return
	}
	s.each = each
	for e := s.asked.Front(); e != nil; e = e.Next() {
		s.count(e.Value.(*share))
	}
}

// count updates what is known of a tenant's needs, and forgets a tenant of which nothing is left.
func (s *shares) count(t *share) {
	if flood := t.most > s.places; flood != t.flood {
		if t.flood = flood; flood {
			s.floods++
		} else {
			s.floods--
		}
	}
	claim := max(min(t.most, s.each)-t.held, 0)
	s.claimed += claim - t.claim
	if t.claim = claim; t.turn == nil && t.held == 0 {
		delete(s.tenants, t.tenant)
	}
}

// take hands a place to a tenant that asked.
func (s *shares) take(tenant string) {
	t := s.tenants[tenant]
	s.free--
	t.held++
	t.waiting--
	s.count(t)
}

// left notes that a tenant waits for one place less.
func (s *shares) left(tenant string) { s.tenants[tenant].waiting-- }

func (s *shares) release(tenant string, now time.Time) {
	t := s.tenants[tenant]
	s.free++
	t.held--
	s.count(t)
	s.pass(now)
}

func (s *shares) held(tenant string) int { return s.tenants[tenant].held }

// may reports whether a tenant may have one more of the free places. A tenant may not exceed its limit, take spare
// places that are kept for others, or take more than its share while others claim theirs (at most half of all). If
// there is only one place, any tenant may have it.
func (s *shares) may(tenant string) bool {
	t := s.tenants[tenant]
	kept := s.kept(t)
	if s.free <= kept {
		return false
	}
	if most := s.bound(tenant); most > 0 && t.held >= most {
		return false
	}
	return t.held < s.each+s.spare-kept || s.free-s.spare > min(s.claimed-t.claim, s.places/2)
}

// kept returns how many places are not for a tenant. The spare places are for tenants that hold none. All but the
// last of them are also for tenants that recently needed no more than Places, beyond their share of the others: a
// tenant that fills the places when it is alone gets more than half of them beside a tenant that floods.
func (s *shares) kept(t *share) int {
	switch {
	case t.held == 0:
		return 0
	case s.floods > 0 && !t.flood:
		return min(s.spare, 1)
	}
	return s.spare
}
