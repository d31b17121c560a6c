package console

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway/bounds"
)

const (
	// SessionLifetime is how long a login is valid at most.
	SessionLifetime = 12 * time.Hour
	// SessionIdle is how long a login is valid without use.
	SessionIdle = 30 * time.Minute
	// The login page makes request tokens: 32 random bytes in base64url, or more.
	minRequestToken, maxRequestToken = 43, 128
)

// Sessions are the logins of one gateway. It is safe for concurrent use.
//
// A session has two secrets. Its name is in a cookie, which a browser sends to every port of the host, so others may
// see it. Only the scripts of our own pages know its request token: the login page generates it, keeps it in the
// storage of its origin, and sends it once, with the login. From then on it is in a header of each request of our
// scripts, and never in a cookie, a URL or a response. The name alone says for whom pages are rendered. Everything else
// needs both secrets: the credential is encrypted under them, and neither is kept.
type Sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all map[[sha256.Size]byte]*login // by the digest of the name, so that a comparison's time reveals nothing
}

type login struct {
	visitor Visitor
	// sealed is the credential under a key that both secrets make. It is nil if the login had no request token.
	sealed     []byte
	used, ends time.Time
}

// NewSessions returns an empty set.
func NewSessions(now func() time.Time) *Sessions {
	return &Sessions{now: now, all: map[[sha256.Size]byte]*login{}}
}

// ValidRequestToken reports whether a text can be a request token.
func ValidRequestToken(token string) bool {
	for i := range len(token) {
		c := token[i]
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_') {
			return false
		}
	}
	return len(token) >= minRequestToken && len(token) <= maxRequestToken
}

// Begin keeps a login and returns the name of its session, which cannot be guessed. Without a valid request token,
// the session renders pages and never returns the credential.
func (s *Sessions) Begin(who Visitor, credential, requestToken string) (name string, err error) {
	name = rand.Text()
	l := &login{visitor: who}
	if ValidRequestToken(requestToken) {
		aead, err := sealer(name, requestToken)
		if err != nil {
			return "", err
		}
		// The key is used once, so any nonce will do.
		l.sealed = aead.Seal(nil, make([]byte, aead.NonceSize()), []byte(credential), nil)
	}
	now := s.now()
	l.used, l.ends = now, now.Add(SessionLifetime)
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.all) >= bounds.Of(bounds.Logins).Most {
		s.drop(now)
	}
	s.dropOf(who)
	s.all[sha256.Sum256([]byte(name))] = l
	return name, nil
}

// sealer returns the cipher of one session.
func sealer(name, requestToken string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(name+"\x00"+requestToken), nil, "airlock session credential", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// over reports whether a session has ended. Setting the clock back ends it, too.
func (l *login) over(now time.Time) bool {
	return !now.Before(l.ends) || now.Sub(l.used) >= SessionIdle || l.used.Sub(now) >= SessionIdle
}

// drop removes the sessions that have ended or, if there are none, the one that ends first.
func (s *Sessions) drop(now time.Time) {
	var first [sha256.Size]byte
	var ends time.Time
	before := len(s.all)
	for key, l := range s.all {
		if l.over(now) {
			delete(s.all, key)
		} else if ends.IsZero() || l.ends.Before(ends) {
			first, ends = key, l.ends
		}
	}
	if len(s.all) == before {
		delete(s.all, first)
	}
}

// dropOf ends the least recently used session of a visitor who has as many as allowed.
func (s *Sessions) dropOf(who Visitor) {
	var oldest [sha256.Size]byte
	var used time.Time
	n := 0
	for key, l := range s.all {
		if l.visitor.Tenant != who.Tenant || l.visitor.Subject != who.Subject {
			continue
		}
		if n++; used.IsZero() || l.used.Before(used) {
			oldest, used = key, l.used
		}
	}
	if n >= bounds.LoginsOfOne {
		delete(s.all, oldest)
	}
}

// find returns a session that has not ended. The caller holds the lock.
func (s *Sessions) find(name string) *login {
	key := sha256.Sum256([]byte(name))
	l := s.all[key]
	if l != nil && l.over(s.now()) {
		delete(s.all, key)
		return nil
	}
	return l
}

// Visitor returns who logged in. It is false if there is no such session, or it has ended. It does not count as use,
// so a stolen name cannot keep a session alive.
func (s *Sessions) Visitor(name string) (Visitor, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.find(name)
	if l == nil {
		return Visitor{}, false
	}
	return l.visitor, true
}

// Credential returns what the session's owner logged in with. It is false if there is no such session, it has ended,
// or the request token is not that of its login.
func (s *Sessions) Credential(name, requestToken string) (string, bool) {
	s.mu.Lock()
	l := s.find(name)
	s.mu.Unlock()
	if l == nil || l.sealed == nil || !ValidRequestToken(requestToken) {
		return "", false
	}
	aead, err := sealer(name, requestToken)
	if err != nil {
		return "", false
	}
	credential, err := aead.Open(nil, make([]byte, aead.NonceSize()), l.sealed, nil)
	if err != nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l = s.find(name) // it may have been ended meanwhile
	if l == nil {
		return "", false
	}
	l.used = s.now()
	return string(credential), true
}

// End deletes a session.
func (s *Sessions) End(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(name)))
}

// EndAll deletes all sessions of the visitor whose session this is.
func (s *Sessions) EndAll(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.find(name)
	if l == nil {
		return
	}
	for key, other := range s.all {
		if other.visitor.Tenant == l.visitor.Tenant && other.visitor.Subject == l.visitor.Subject {
			delete(s.all, key)
		}
	}
}
