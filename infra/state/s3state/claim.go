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

// Claim makes the next queued job this process's own, and running: that of the first tenant in the order of keys after the
// one given, without those to pass over, its highest priority first, then the oldest. The error is execution.ErrNotFound
// when no job may begin now.
func (s *Store) Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error) {
	glance := s.glanceAt(queuedList)
	seen, quiet := glance.look(now)
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
		glance.nothing(seen, now, walk.soonest)
	}
	return job, err
}

// behind gives a key that comes after all below a folder: "0" is the next after "/".
func behind(folder string) string { return marksFolder + strings.TrimSuffix(folder, "/") + "0" }

// walk is one look through the queues.
type walk struct {
	store   *Store
	now     time.Time
	past    map[string]bool // the tenants to pass over
	soonest time.Time       // of those that are to wait
}

const page = 100

// through looks at the marks after a key, up to another.
func (w *walk) through(ctx context.Context, from, to string) (execution.Job, error) {
	for {
		keys, err := w.store.objects.List(ctx, marksFolder+queuedList+"/", from, page)
		if err != nil {
			return execution.Job{}, fmt.Errorf("claim a job: %w", err)
		}
		for _, key := range keys {
			if to != "" && key > to {
				return execution.Job{}, execution.ErrNotFound
			}
			m, ok := parseMark(key)
			if !ok {
				return execution.Job{}, fmt.Errorf("claim a job: %q is no mark", key)
			}
			if from = key; w.skips(m) {
				from = w.next(m)
				break
			}
			job, err := w.store.claimMarked(ctx, w.now, m)
			if !errors.Is(err, errPassed) {
				return job, err
			}
		}
		if len(keys) == 0 || len(keys) < page && from == keys[len(keys)-1] {
			return execution.Job{}, execution.ErrNotFound
		}
	}
}

// tenantOf gives the part of a queue's name that tells the tenant.
func tenantOf(queue string) string {
	return queue[len(queuedList) : strings.LastIndexByte(queue, '/')+1]
}

func (w *walk) skips(m mark) bool { return m.when > millis(w.now) || w.past[tenantOf(m.list)] }

// next gives where to go on after a mark that is skipped: the rest of its class waits longer, and of a tenant that is
// passed over, all.
func (w *walk) next(m mark) string {
	if w.past[tenantOf(m.list)] {
		return behind(queuedList + tenantOf(m.list))
	}
	if at := time.UnixMilli(m.when); w.soonest.IsZero() || at.Before(w.soonest) {
		w.soonest = at
	}
	return behind(m.list)
}

// Take claims the job with an id, if it is queued and may begin now; the error is execution.ErrNotFound otherwise.
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

// claimMarked claims the job that a mark is of; errPassed when the mark does not count any more.
func (s *Store) claimMarked(ctx context.Context, now time.Time, m mark) (execution.Job, error) {
	step, there := int64(0), false
	job, err := s.claim(ctx, now, m.name, func(d *jobDocument) error {
		if step, there = d.Step, true; d.mark() != m {
			return errPassed
		}
		return nil
	})
	if errors.Is(err, execution.ErrNotFound) || errors.Is(err, errPassed) {
		s.settle(ctx, m, there, step)
		return job, errPassed
	}
	return job, err
}

// claim makes a job this process's own, unless may fails.
func (s *Store) claim(ctx context.Context, now time.Time, id string, may func(*jobDocument) error) (job execution.Job, err error) {
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
