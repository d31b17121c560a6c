package dynamostate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// hash returns the SHA-256 of a text in hexadecimal digits.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Callbacks claims at most limit callbacks that are due until a later time, so that one process at a time delivers
// each. Each tenant has its share of the limit.
func (s *Store) Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error) {
	due, err := s.due(ctx, dueIndex(), callbacksList, now, limit)
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	var out []execution.Job
	for _, l := range due {
		_, rest := splitTime(l.at)
		it, err := s.move(ctx, l.key, l.entry, item{"v": text(token()), "at": text(when(millis(again)) + rest)})
		if errors.Is(err, errMoved) {
			continue // another process was faster
		}
		if err != nil {
			return out, fmt.Errorf("take callbacks: %w", err)
		}
		job, err := s.jobOf(ctx, it)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return out, fmt.Errorf("take callbacks: %w", err)
		}
		out = append(out, job)
	}
	return out, nil
}

// TakeCallback claims the callback of a job until a later time if it is due. Otherwise the error is
// execution.ErrNotFound.
func (s *Store) TakeCallback(ctx context.Context, now, again time.Time, id string) (execution.Job, error) {
	if !validID(id) {
		return execution.Job{}, execution.ErrNotFound
	}
	it, err := s.get(ctx, jobKey(id))
	if err != nil {
		return execution.Job{}, fmt.Errorf("take a callback: %w", err)
	}
	e := entryOf(it)
	due, rest := splitTime(e.at)
	if e.list != callbacksList || due+"/" > when(millis(now)) {
		return execution.Job{}, execution.ErrNotFound
	}
	it, err = s.move(ctx, jobKey(id), e, item{"v": text(token()), "at": text(when(millis(again)) + rest)})
	var job execution.Job
	if err == nil {
		job, err = s.jobOf(ctx, it)
	}
	if errors.Is(err, errMoved) {
		return execution.Job{}, execution.ErrNotFound // another process was faster
	}
	if err != nil {
		return execution.Job{}, fmt.Errorf("take a callback: %w", err)
	}
	return job, nil
}

func goneKey(tenant, url string) key { return keyOf("gone#"+tenantPart(tenant), hash(url)) }

// longestMemory exceeds every retention of notes. A later time was set by a clock that was set back since.
const longestMemory = 48 * time.Hour

// Gone reports whether a tenant's receiver is gone. If until is set, Gone marks it as gone until then.
func (s *Store) Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error) {
	if !until.IsZero() {
		it := goneKey(tenant, url)
		it["v"], it["until"], it["expires"] = text(token()), number(millis(until)), number(until.Unix()+1)
		it["tenant"], it["body"] = binary([]byte(tenant)), binary([]byte(url))
		if tenant == "" {
			delete(it, "tenant")
		}
		return true, s.set(ctx, it)
	}
	it, err := s.get(ctx, goneKey(tenant, url))
	end := numberOf(it["until"])
	return end > millis(now) && end <= millis(now.Add(longestMemory)), err
}

// pruned is the number of jobs that Prune looks at together.
const pruned = 100

// Prune deletes the jobs that ended before a time and have no callback left. The table's TTL removes everything else.
func (s *Store) Prune(ctx context.Context, _, before time.Time) error {
	for after := first; ; {
		var some []listed
		err := s.index(ctx, endedList, after, when(millis(before)), pruned, func(l listed) (bool, error) {
			some = append(some, l)
			return len(some) < pruned, nil
		})
		if err != nil || len(some) == 0 {
			return err
		}
		for _, l := range some {
			after = l.at + "!" // behind this entry
			it, err := s.get(ctx, l.key)
			if err != nil {
				return err
			}
			if entryOf(it) != l.entry {
				continue // the index is behind
			}
			if err := s.remove(ctx, l.key); err != nil {
				return err
			}
			s.discard(ctx, it)
		}
	}
}
