package s3state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Claim claims the next queued job and marks it as running. It takes the first tenant in key order after the given
// one that is not in passOver; of that tenant the highest priority, and then the oldest job. The error is
// execution.ErrNotFound if no job may start now.
func (s *Store) Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error) {
	idle := s.idleCacheOf(queuedList)
	seen, quiet := idle.check(now)
	if quiet {
		return execution.Job{}, execution.ErrNotFound
	}
	walk := walk{store: s, now: now, past: map[string]bool{}}
	for _, tenant := range passOver {
		walk.past[tenantPart(tenant)] = true
	}
	last := behind(queuedList + tenantPart(after))
	job, err := walk.through(ctx, last, "")
	if errors.Is(err, execution.ErrNotFound) {
		job, err = walk.through(ctx, "", last)
	}
	if errors.Is(err, execution.ErrNotFound) && len(passOver) == 0 {
		idle.setIdle(seen, now, walk.soonest)
	}
	return job, err
}

// ClaimSome claims one job: another claim reads the due-entries again in any case.
func (s *Store) ClaimSome(ctx context.Context, now time.Time, after string, passOver []string,
	_ int) ([]execution.Job, error) {
	job, err := s.Claim(ctx, now, after, passOver)
	if err != nil {
		return nil, err
	}
	return []execution.Job{job}, nil
}

// behind returns a key that sorts after everything in a folder: "0" follows "/".
func behind(folder string) string { return dueFolder + strings.TrimSuffix(folder, "/") + "0" }

// A walk is one pass through the queues.
type walk struct {
	store   *Store
	now     time.Time
	past    map[string]bool // the tenants to pass over
	soonest time.Time       // of the jobs that must wait
}

const page = 100

// through claims a job between two keys.
func (w *walk) through(ctx context.Context, from, to string) (execution.Job, error) {
	for {
		keys, err := w.store.objects.List(ctx, dueFolder+queuedList+"/", from, page)
		if err != nil {
			return execution.Job{}, fmt.Errorf("claim a job: %w", err)
		}
		for _, key := range keys {
			if to != "" && key > to {
				return execution.Job{}, execution.ErrNotFound
			}
			e, ok := parseDueEntry(key)
			if !ok {
				return execution.Job{}, fmt.Errorf("claim a job: %q is not a due-entry", key)
			}
			if from = key; w.skips(e) {
				from = w.next(e)
				break
			}
			job, err := w.store.claimDue(ctx, w.now, e)
			if !errors.Is(err, errPassed) {
				return job, err
			}
		}
		if len(keys) == 0 || len(keys) < page && from == keys[len(keys)-1] {
			return execution.Job{}, execution.ErrNotFound
		}
	}
}

// tenantOf returns the part of a queue's name that identifies the tenant.
func tenantOf(queue string) string {
	return queue[len(queuedList) : strings.LastIndexByte(queue, '/')+1]
}

func (w *walk) skips(e dueEntry) bool { return e.when > millis(w.now) || w.past[tenantOf(e.list)] }

// next returns the key to continue from after a skipped entry: the rest of its class is due later, and a tenant that is
// passed over is skipped as a whole.
func (w *walk) next(e dueEntry) string {
	if w.past[tenantOf(e.list)] {
		return behind(queuedList + tenantOf(e.list))
	}
	if at := time.UnixMilli(e.when); w.soonest.IsZero() || at.Before(w.soonest) {
		w.soonest = at
	}
	return behind(e.list)
}

// Take claims the job with an ID if it is queued and may start now. Otherwise the error is execution.ErrNotFound.
func (s *Store) Take(ctx context.Context, now time.Time, id string) (execution.Job, error) {
	if !execution.ValidID(id) {
		return execution.Job{}, execution.ErrNotFound
	}
	return s.claim(ctx, now, id, func(d *jobDocument) error {
		if d.Job.Status != execution.Queued || d.Job.NotBefore.After(now) {
			return execution.ErrNotFound
		}
		return nil
	})
}

// claimDue claims the job of a due-entry. The error is errPassed if the entry is stale.
func (s *Store) claimDue(ctx context.Context, now time.Time, e dueEntry) (execution.Job, error) {
	step, there := int64(0), false
	job, err := s.claim(ctx, now, e.name, func(d *jobDocument) error {
		if step, there = d.Step, true; d.dueEntry() != e {
			return errPassed
		}
		return nil
	})
	if errors.Is(err, execution.ErrNotFound) || errors.Is(err, errPassed) {
		s.settle(ctx, e, there, step)
		return job, errPassed
	}
	return job, err
}

// claim claims a job unless may returns an error.
func (s *Store) claim(ctx context.Context, now time.Time, id string,
	may func(*jobDocument) error) (job execution.Job, err error) {
	claim := rand.Text()
	err = change(ctx, s, jobKey(id), maxJob, func(d *jobDocument, there bool) error {
		if !there {
			return execution.ErrNotFound
		}
		if err := may(d); err != nil {
			return err
		}
		d.Job.Status, d.Job.Owner, d.Job.StartedAt = execution.Running, claim, now.UTC()
		d.Job.StartBefore, d.Lease = now.Add(s.cfg.Lease/3).UTC(), now.Add(s.cfg.Lease).UTC()
		job = d.job()
		return nil
	})
	if err != nil {
		return execution.Job{}, err
	}
	s.mu.Lock()
	s.mine[id] = claim
	s.mu.Unlock()
	return job, nil
}
