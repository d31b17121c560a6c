package dynamostate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/airlock-run/airlock/functions/execution"
)

func deliveryKey(name string) key { return keyOf("key#"+hash(name), "-") }

// keyBytes is what a key takes besides its name, its mark and its answer.
const keyBytes = 256

// keyIn returns the quota of a key and whose it is.
func keyIn(it item) execution.Key {
	k := execution.Key{}
	for name, field := range map[string]*string{"tenant": &k.Tenant, "subject": &k.Subject, "quota": &k.Quota} {
		if b, ok := it[name].(*types.AttributeValueMemberB); ok {
			*field = string(b.Value)
		}
	}
	return k
}

var errTaken = errors.New("the key is taken")

// setKey writes a key into its item. Its name, mark, tenant and subject are bytes that callers choose.
func setKey(it item, k execution.Key, mark string, until time.Time) {
	for name, value := range map[string]string{"name": k.Name, "mark": mark, "tenant": k.Tenant, "subject": k.Subject,
		"quota": k.Quota} {
		delete(it, name)
		if value != "" {
			it[name] = binary([]byte(value))
		}
	}
	it["until"], it["expires"] = number(millis(until)), number(until.Unix()+1)
	delete(it, "doc")
}

// Begin takes the key of a webhook delivery or of a request until a time. If the key is taken, begun is false, and
// firstMark and answer are those of the first taker; answer is nil until it has answered. If the process that took it
// has died without an answer, begun is true and firstMark is still its mark.
func (s *Store) Begin(ctx context.Context, key execution.Key, mark string, now,
	until time.Time) (begun bool, firstMark string, answer []byte, err error) {
	if err := s.beat.awake(ctx); err != nil {
		return false, "", nil, fmt.Errorf("take a delivery: %w", err)
	}
	if end := now.Add(s.storage(key.Tenant).KeepKeys); key.Quota == execution.QuotaKeys && end.Before(until) {
		until = end
	}
	firstMark = mark
	err = s.change(ctx, deliveryKey(key.Name), token(), nil, func(it item, there bool) error {
		firstMark, answer = mark, nil
		end := numberOf(it["until"])
		if there && end > millis(now) && end <= millis(now.Add(longestMemory)) {
			raw, err := s.load(ctx, it["mark"])
			if err != nil {
				return err
			}
			if len(raw) > 0 {
				firstMark = string(raw)
			}
			if it["doc"] != nil {
				if answer, err = s.load(ctx, it["doc"]); err != nil {
					return err
				}
				return errTaken
			}
			lives, err := s.beat.lives(ctx, textOf(it["owner"]))
			if err != nil {
				return err
			}
			if lives {
				return errTaken
			}
		}
		setKey(it, key, firstMark, until)
		it["owner"] = text(s.id)
		return nil
	})
	if errors.Is(err, errTaken) {
		return false, firstMark, answer, nil
	}
	if err == nil {
		if err = s.uses.takeForKey(ctx, key, until, len(key.Name)+len(mark)+keyBytes); err != nil {
			err = errors.Join(err, s.Abandon(ctx, key.Name))
		}
	}
	if err != nil {
		return false, "", nil, fmt.Errorf("take a delivery: %w", err)
	}
	return true, firstMark, nil, nil
}

// Finish stores the answer to a delivery that Begin has taken.
func (s *Store) Finish(ctx context.Context, key string, answer []byte) error {
	it, err := s.get(ctx, deliveryKey(key))
	if err == nil && len(it) > 0 {
		err = s.uses.takeForKey(ctx, keyIn(it), fromMillis(numberOf(it["until"])), len(answer))
	}
	if err != nil {
		return fmt.Errorf("store the answer to a delivery: %w", err)
	}
	err = s.change(ctx, deliveryKey(key), token(), it, func(it item, there bool) (err error) {
		if !there {
			return execution.ErrNotFound
		}
		it["doc"], err = s.keep(ctx, "deliveries/"+hash(key), answer)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the answer to a delivery: %w", err)
	}
	return nil
}

// Abandon releases a key, so that the delivery may be repeated.
func (s *Store) Abandon(ctx context.Context, key string) error {
	err := s.change(ctx, deliveryKey(key), token(), nil, func(it item, there bool) error {
		if !there || it["doc"] != nil {
			return errTaken
		}
		it["until"] = number(0)
		return nil
	})
	if err != nil && !errors.Is(err, errTaken) {
		return fmt.Errorf("release a delivery: %w", err)
	}
	return nil
}

func eventsOf(tenant, function string) string { return "event#" + tenantPart(tenant) + function }

// KeepEvent stores the event of a delivery under the execution that it started. The table's TTL removes it.
func (s *Store) KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error {
	if !plainName().MatchString(function) || !execution.ValidID(id) {
		return fmt.Errorf("store an event: %q and %q cannot be parts of a key", function, id)
	}
	allowed := s.storage(tenant)
	until := at.Add(allowed.KeepEvents)
	c := charge{tenant, execution.QuotaDeliveries, until, allowed.KeepEvents, int64(len(event))}
	if err := s.uses.take(ctx, c, allowed.Deliveries); err != nil {
		return fmt.Errorf("store an event: %w", err)
	}
	it := keyOf(eventsOf(tenant, function), id)
	body, err := s.keep(ctx, "events/"+id, event)
	if err == nil {
		it["body"], it["v"], it["received"] = body, text(token()), number(millis(at))
		it["expires"] = number(until.Unix())
		err = s.put(ctx, it, "")
	}
	if errors.Is(err, errMoved) { // it is there
		now, reading := s.get(ctx, keyOf(eventsOf(tenant, function), id))
		if err = reading; err == nil {
			s.discard(ctx, it, now)
			c.bytes = -c.bytes
			_, err = s.uses.add(ctx, c)
		}
	}
	if err != nil {
		return fmt.Errorf("store an event: %w", err)
	}
	return nil
}

// Event returns a stored event, or execution.ErrNotFound.
func (s *Store) Event(ctx context.Context, tenant, function, id string) (event []byte, err error) {
	if !plainName().MatchString(function) || !execution.ValidID(id) {
		return nil, execution.ErrNotFound
	}
	it, err := s.get(ctx, keyOf(eventsOf(tenant, function), id))
	if err == nil {
		event, err = s.load(ctx, it["body"])
	}
	if err == nil && len(it) == 0 || errors.Is(err, errMoved) {
		return nil, execution.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}
	return event, nil
}
