package sqlitestate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Orphans returns the running jobs of processes that have ended. Callbacks that such a process had claimed are due
// again. If the content of some is lost, it returns the others with the error.
func (s *Store) Orphans(ctx context.Context) ([]execution.Job, error) {
	owners, err := s.strings(ctx, `SELECT DISTINCT owner FROM jobs WHERE status = 'running' AND owner <> ?
		UNION SELECT DISTINCT owner FROM jobs WHERE callback IS NOT NULL AND owner NOT IN ('', ?)`, s.owner, s.owner)
	if err != nil {
		return nil, err
	}
	owners = slices.DeleteFunc(owners, func(owner string) bool {
		return !ownerGone(filepath.Join(s.dir, ownersFolder, filepath.Base(owner)))
	})
	ages := s.gone.ages(owners, s.now())
	var out []execution.Job
	var lost error
	for _, owner := range owners {
		if err := s.exec(ctx, "UPDATE jobs SET callback = 0, owner = '' WHERE callback IS NOT NULL AND owner = ?",
			owner); err != nil {
			return nil, fmt.Errorf("free callbacks: %w", err)
		}
		jobs, err := s.jobs(ctx, "SELECT "+jobColumns+" FROM jobs WHERE status = 'running' AND owner = ?", owner)
		if errors.Is(err, execution.ErrContentLost) {
			lost, err = err, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range jobs {
			jobs[i].Idle = max(ages[owner]-s.cfg.Lease, 0)
		}
		out = append(out, jobs...)
	}
	return out, lost
}

// StartBefore returns the latest start of a job that this process has claimed. While it lives, no other takes the job
// over.
func (s *Store) StartBefore(string) time.Time {
	if s.cfg.Lease == 0 {
		return time.Time{}
	}
	return s.now().Add(s.cfg.Lease / 3 * 2)
}

// departed are processes that have ended, and when this one first found that. It is safe for concurrent use.
type departed struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// ages returns for how long owners have certainly been gone, and forgets others.
func (d *departed) ages(owners []string, now time.Time) map[string]time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	since, ages := map[string]time.Time{}, map[string]time.Duration{}
	for _, owner := range owners {
		since[owner] = now
		if first, known := d.since[owner]; known {
			since[owner] = first
		}
		ages[owner] = now.Sub(since[owner])
	}
	d.since = since
	return ages
}
