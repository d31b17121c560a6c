package s3state

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
)

const maxDelivery = 64 << 20 // an answer, twice in base64

// taken is a stored key.
type taken struct {
	// By identifies the taker: of two concurrent takers only one must read its own value back.
	By string `json:"by"`
	// Key is the key itself, for copies of the state. Older versions did not store it.
	Key      execution.Key `json:"key,omitzero"`
	Mark     string        `json:"mark"`
	Until    time.Time     `json:"until"`
	Lease    time.Time     `json:"lease"`
	Answered bool          `json:"answered"`
	Answer   []byte        `json:"answer"`
}

var errTaken = errors.New("the key is taken")

func keyOf(key string) string { return "deliveries/" + hash([]byte(key)) }

// Begin takes the key of a webhook delivery or of a request until a time. If the key is taken, begun is false, and
// firstMark and answer are those of the first taker; answer is nil until it has answered. If the first taker does not
// answer within the lease, begun is true and firstMark is still its mark.
func (s *Store) Begin(ctx context.Context, key execution.Key, mark string, now,
	until time.Time) (begun bool, firstMark string, answer []byte, err error) {
	by := rand.Text()
	err = change(ctx, s, keyOf(key.Name), maxDelivery, func(t *taken, there bool) error {
		if there && t.By == by {
			return nil // an attempt whose answer got lost
		}
		if there && t.Until.After(now) {
			firstMark, answer = t.Mark, nil
			if t.Answered {
				answer = append([]byte{}, t.Answer...)
			}
			if t.Answered || t.Lease.After(now) {
				return errTaken
			}
		} else {
			firstMark, answer = mark, nil
		}
		*t = taken{By: by, Key: key, Mark: firstMark, Until: until, Lease: now.Add(s.cfg.Lease)}
		return nil
	})
	if errors.Is(err, errTaken) {
		return false, firstMark, answer, nil
	}
	if err != nil {
		return false, "", nil, fmt.Errorf("take a delivery: %w", err)
	}
	return true, firstMark, nil, nil
}

// Finish stores the answer to a delivery that Begin has taken.
func (s *Store) Finish(ctx context.Context, key string, answer []byte) error {
	err := change(ctx, s, keyOf(key), maxDelivery, func(t *taken, there bool) error {
		if !there {
			return execution.ErrNotFound
		}
		t.Answered, t.Answer = true, answer
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep the answer to a delivery: %w", err)
	}
	return nil
}

// Abandon releases a key, so that the delivery may be repeated.
func (s *Store) Abandon(ctx context.Context, key string) error {
	err := change(ctx, s, keyOf(key), maxDelivery, func(t *taken, there bool) error {
		if !there || t.Answered {
			return errTaken
		}
		*t = taken{} // expired
		return nil
	})
	if err != nil && !errors.Is(err, errTaken) {
		return fmt.Errorf("give a delivery back: %w", err)
	}
	return nil
}

// KeepEvent stores the event of a delivery under the execution that it started.
func (s *Store) KeepEvent(ctx context.Context, tenant, function, id string, event []byte, _ time.Time) error {
	at, ok := eventKey(tenant, function, id)
	if !ok {
		return fmt.Errorf("keep an event: %q and %q cannot be parts of a key", function, id)
	}
	body, err := json.Marshal(event)
	if err == nil {
		_, err = s.objects.Create(ctx, at, body)
	}
	if err != nil && !errors.Is(err, s3objects.ErrChanged) {
		return fmt.Errorf("keep an event: %w", err)
	}
	return nil
}

// Event returns a stored event, or execution.ErrNotFound.
func (s *Store) Event(ctx context.Context, tenant, function, id string) (event []byte, err error) {
	at, ok := eventKey(tenant, function, id)
	if !ok {
		return nil, execution.ErrNotFound
	}
	body, _, err := s.objects.Get(ctx, at, maxDelivery)
	if errors.Is(err, s3objects.ErrMissing) {
		return nil, execution.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	return event, nil
}

func eventKey(tenant, function, id string) (string, bool) {
	at, ok := place("events", tenant, function)
	return at + "/" + id, ok && execution.ValidID(id)
}
