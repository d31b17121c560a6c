package results

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway/monotonic"
)

// Saved is a response that can be given again.
type Saved struct {
	Status int
	Header map[string]string
	Body   []byte
	digest [sha256.Size]byte
	at     time.Time
}

// State is the state of a key.
type State int

// The states.
const (
	// Fresh: the key now belongs to this request, until Finish or Abandon.
	Fresh State = iota
	// InFlight: the same request is being carried out.
	InFlight
	// Done: the same request was carried out.
	Done
	// Reused: the key belongs to another request.
	Reused
)

// Once makes sure that a request with an idempotency key is carried out once
// (draft-ietf-httpapi-idempotency-key-header). Responses are kept for a day, or until newer ones need the room. It is
// safe for concurrent use.
type Once struct {
	now func() time.Time

	mu     sync.Mutex
	flight map[string]flying
	saved  *Store[*Saved]
}

// flying is a request that is being carried out.
type flying struct {
	owner  string
	digest [sha256.Size]byte
}

// keptFor is how long a response is given again.
const keptFor = 24 * time.Hour

// NewOnce returns a Once that keeps at most maxCount responses of maxBytes bytes together.
func NewOnce(maxCount, maxBytes int, now func() time.Time) (*Once, error) {
	saved, err := New[*Saved](maxCount, maxBytes)
	return &Once{now: monotonic.Clock(now), flight: map[string]flying{}, saved: saved}, err
}

// Begin asks for an owner's key for a request with a digest. If the state is Done, it returns the response.
func (o *Once) Begin(owner, key string, digest [sha256.Size]byte) (State, *Saved) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if other, ok := o.flight[key]; ok {
		if other.digest != digest {
			return Reused, nil
		}
		return InFlight, nil
	}
	if s, ok := o.saved.Get(key); ok && o.now().Sub(s.at) < keptFor {
		if s.digest != digest {
			return Reused, nil
		}
		return Done, s
	}
	o.flight[key] = flying{owner, digest}
	return Fresh, nil
}

// Finish saves the response under a key that Begin gave to the request.
func (o *Once) Finish(key string, answer Saved) {
	o.mu.Lock()
	defer o.mu.Unlock()
	request := o.flight[key]
	answer.digest, answer.at = request.digest, o.now()
	delete(o.flight, key)
	size := len(answer.Body)
	for name, value := range answer.Header {
		size += len(name) + len(value)
	}
	o.saved.Put(request.owner, key, &answer, size)
}

// Abandon releases a key: the request was not carried out, and may be tried again.
func (o *Once) Abandon(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.flight, key)
}
