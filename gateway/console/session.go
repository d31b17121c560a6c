package console

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// SessionLifetime is how long a login is good for.
	SessionLifetime = 12 * time.Hour
	// maxSessions bounds the memory of logins; the one that ends first gives way.
	maxSessions = 10_000
)

// Sessions are the logins of one gateway. It is safe for concurrent use.
type Sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all map[[sha256.Size]byte]login // by the digest of the name: what is compared tells nothing by its timing
}

type login struct {
	credential string
	ends       time.Time
}

// NewSessions makes an empty set that tells the time by now.
func NewSessions(now func() time.Time) *Sessions {
	return &Sessions{now: now, all: map[[sha256.Size]byte]login{}}
}

// Begin keeps a credential and gives the name of its session, which nobody can guess.
func (s *Sessions) Begin(credential string) (name string) {
	name = rand.Text()
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.all) >= maxSessions {
		s.drop(now)
	}
	s.all[sha256.Sum256([]byte(name))] = login{credential, now.Add(SessionLifetime)}
	return name
}

// drop removes the sessions that have ended and, when there are none, the one that will end first.
func (s *Sessions) drop(now time.Time) {
	var first [sha256.Size]byte
	var ends time.Time
	before := len(s.all)
	for key, l := range s.all {
		if !now.Before(l.ends) {
			delete(s.all, key)
		} else if ends.IsZero() || l.ends.Before(ends) {
			first, ends = key, l.ends
		}
	}
	if len(s.all) == before {
		delete(s.all, first)
	}
}

// Credential gives what the session's owner logged in with; false when there is no such session, or it has ended.
func (s *Sessions) Credential(name string) (string, bool) {
	key := sha256.Sum256([]byte(name))
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.all[key]
	if ok && !s.now().Before(l.ends) {
		delete(s.all, key)
		ok = false
	}
	if !ok {
		return "", false
	}
	return l.credential, true
}

// End forgets a session.
func (s *Sessions) End(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(name)))
}
