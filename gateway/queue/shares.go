package queue

import (
	"container/list"
	"time"
)

// about is how long a tenant or subject counts as active after it last asked for a place. It is also the window over
// which the number of places that it needed at once is remembered.
const about = 10 * time.Second

// holders says who holds places, and who may have one more: tenants, and the subjects of each. It belongs to the
// queue's lock.
type holders struct {
	sizes
	free    int // places and spare places
	bound   func(tenant string) int
	tenants shares
}

// sizes are the numbers of places and of spare places.
type sizes struct{ places, spare int }

func newHolders(cfg Config) holders {
	n := sizes{cfg.Places, cfg.Spare}
	return holders{sizes: n, free: n.places + n.spare, bound: cfg.Concurrent, tenants: newShares(n)}
}

// arrived notes that a subject of a tenant asks. Either take or left follows.
func (h *holders) arrived(tenant, subject string, now time.Time) {
	t := h.tenants.arrived(tenant, now)
	if t.subjects == nil {
		of := newShares(h.sizes)
		t.subjects = &of
	}
	t.subjects.arrived(subject, now)
}

// take hands a place to a subject that asked.
func (h *holders) take(tenant, subject string) {
	h.free--
	t := h.tenants.of[tenant]
	t.subjects.take(t.subjects.of[subject])
	h.tenants.take(t)
}

// left notes that a subject waits for one place less.
func (h *holders) left(tenant, subject string) {
	t := h.tenants.of[tenant]
	t.subjects.of[subject].waiting--
	t.waiting--
}

func (h *holders) release(tenant, subject string, now time.Time) {
	h.free++
	t := h.tenants.of[tenant]
	t.subjects.release(t.subjects.of[subject], now)
	h.tenants.release(t, now)
}

func (h *holders) held(tenant string) int { return h.tenants.of[tenant].held }

// may reports whether a subject of a tenant may have one more of the free places. Neither of the two may exceed its
// limit, take spare places that are kept for others, or take more than its share while others claim theirs. The
// subjects of a tenant share the places that the tenant may have.
func (h *holders) may(tenant, subject string) bool {
	t := h.tenants.of[tenant]
	x := t.subjects.of[subject]
	kept := min(h.tenants.kept(t), max(t.subjects.kept(x), min(h.spare, 1))) // the last one is for other tenants
	room := h.tenants.room(t, pot{places: h.places, room: h.free - h.spare, spare: h.spare - kept})
	if x.held == 0 { // it may have a spare place even if its tenant has its share
		room = max(room, min(h.free-h.tenants.claims(t, h.places)-kept, 1))
	}
	if most := h.bound(tenant); most > 0 {
		room = min(room, most-t.held)
	}
	if room <= 0 {
		return false
	}
	of := pot{places: min(h.places, t.held+room), spare: max(t.held+room-h.places, 0)}
	of.room = room - of.spare
	return t.subjects.room(x, of) > 0
}

// A pot is what several tenants, or several subjects of a tenant, share: a number of places, and how many of them
// nobody holds. Each may have the spare ones beyond its share.
type pot struct{ places, room, spare int }

// shares says how many places each tenant, or each subject of a tenant, has and may have.
type shares struct {
	sizes
	of      map[string]*share // those that are active, or hold places
	asked   *list.List        // of *share: the active ones, least recently asked first
	each    int               // what each active one may always have: its part of the places, at least one
	claimed int               // the sum of their claims
	floods  int               // how many of them recently asked for more than all places
}

// share holds the places that one tenant or subject has and needs.
type share struct {
	name          string
	subjects      *shares // of a tenant
	held, waiting int
	at            time.Time     // when it asked last
	turn          *list.Element // in asked; nil if it is not active
	// most is the largest number of places that it held and waited for at once, in this window and the one before.
	most, recent int
	since        time.Time // when this window began
	claim        int       // places that it does not hold and may ask for at any moment
	flood        bool      // whether most is more than all places
}

func newShares(n sizes) shares {
	return shares{sizes: n, of: make(map[string]*share), asked: list.New()}
}

// arrived notes that name asks. Either take or left follows.
func (s *shares) arrived(name string, now time.Time) *share {
	t := s.of[name]
	if t == nil {
		t = &share{name: name}
		s.of[name] = t
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
	return t
}

// pass forgets those that have not asked for a while and wait for nothing.
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

// count updates what is known of the needs of t, and forgets t if nothing of it is left.
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
		delete(s.of, t.name)
	}
}

// take notes that t, which asked, has one more place.
func (s *shares) take(t *share) {
	t.held++
	t.waiting--
	s.count(t)
}

func (s *shares) release(t *share, now time.Time) {
	t.held--
	s.count(t)
	s.pass(now)
}

// room returns how many more places of a pot t may have: up to its share, or what others do not claim.
func (s *shares) room(t *share, of pot) int {
	each := min(s.each, max(of.places/max(s.asked.Len(), 1), 1))
	own := min(each+of.spare-t.held, of.room+of.spare)
	return max(own, of.room-s.claims(t, of.places))
}

// claims returns how many of a number of places others than t claim: half of all at most.
func (s *shares) claims(t *share, places int) int { return min(s.claimed-t.claim, places/2) }

// kept returns how many places are not for t. The spare places are for those that hold none. All but the last of them
// are also for those that recently needed no more than Places, beyond their share of the others: a tenant that fills
// the places when it is alone gets more than half of them beside a tenant that floods.
func (s *shares) kept(t *share) int {
	switch {
	case t.held == 0:
		return 0
	case s.floods > 0 && !t.flood:
		return min(s.spare, 1)
	}
	return s.spare
}
