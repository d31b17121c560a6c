package s3state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/airlock-run/airlock/functions/execution"
)

// some is the number of entries that one pass reads.
const some = 100

// Orphans returns the running jobs whose lease has ended. Their gateway and their function have died.
func (s *Store) Orphans(ctx context.Context) ([]execution.Job, error) {
	entries, err := s.due(ctx, runningList, s.cfg.Now(), some)
	if err != nil {
		return nil, fmt.Errorf("look for orphans: %w", err)
	}
	return s.jobsOf(ctx, entries)
}

// jobsOf returns the jobs of due-entries and deletes stale entries.
func (s *Store) jobsOf(ctx context.Context, entries []dueEntry) ([]execution.Job, error) {
	found := make([]*jobDocument, len(entries))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, e := range entries {
		group.Go(func() error {
			var d jobDocument
			_, there, err := s.read(ctx, jobKey(e.name), maxJob, &d)
			switch {
			case err != nil:
				return fmt.Errorf("read job: %w", err)
			case there && d.dueEntry() == e:
				found[i] = &d
			default:
				s.settle(ctx, e, there, d.Step)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var out []execution.Job
	for _, d := range found {
		if d != nil {
			out = append(out, d.job())
		}
	}
	return out, nil
}

// Cancelled returns the IDs of this process's running jobs that are to be stopped. It asks S3 once per Config.Poll.
func (s *Store) Cancelled(ctx context.Context) ([]string, error) {
	now := s.cfg.Now()
	s.mu.Lock()
	mine := map[string]string{}
	if since := now.Sub(s.asked); since >= s.cfg.Poll || since < 0 {
		s.asked, mine = now, maps.Clone(s.mine)
	}
	s.mu.Unlock()
	var mu sync.Mutex
	var out []string
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for id, claim := range mine {
		group.Go(func() error {
			job, err := s.Job(ctx, id)
			if err != nil {
				return err
			}
			if job.Status == execution.Running && job.Owner == claim && job.Cancel {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, id)
			}
			return nil
		})
	}
	return out, group.Wait()
}

// Callbacks claims at most limit callbacks that are due until a later time, so that one process at a time delivers
// each.
func (s *Store) Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error) {
	entries, err := s.due(ctx, tellingList, now, limit)
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	var out []execution.Job
	for _, e := range entries {
		step, there := int64(0), false
		var job execution.Job
		err := change(ctx, s, jobKey(e.name), maxJob, func(d *jobDocument, is bool) error {
			if step, there = d.Step, is; !is || d.dueEntry() != e {
				return errPassed
			}
			d.Telling, job = again.UTC(), d.job()
			return nil
		})
		switch {
		case errors.Is(err, errPassed):
			s.settle(ctx, e, there, step)
		case err != nil:
			return out, fmt.Errorf("take callbacks: %w", err)
		default:
			out = append(out, job)
		}
	}
	return out, nil
}

// A goneReceiver is a stored receiver that is gone.
type goneReceiver struct {
	Until time.Time `json:"until"`
	// URL is the receiver, for copies of the state. Older versions did not store it.
	URL string `json:"url,omitempty"`
}

// Gone reports whether a tenant's receiver is gone. If until is set, Gone marks it as gone until then.
func (s *Store) Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error) {
	key := "gone" + tenantPart(tenant) + hash([]byte(url))
	if !until.IsZero() {
		err := change(ctx, s, key, maxDocument, func(g *goneReceiver, _ bool) error {
			g.Until, g.URL = until.UTC(), url
			return nil
		})
		return true, err
	}
	var g goneReceiver
	_, _, err := s.read(ctx, key, maxDocument, &g)
	return g.Until.After(now), err
}

// Prune deletes the jobs that ended before a time and have no callback left. The bucket's lifecycle removes
// everything else.
func (s *Store) Prune(ctx context.Context, _, before time.Time) error {
	for {
		entries, err := s.due(ctx, endedList, before, some)
		if err != nil || len(entries) == 0 {
			return err
		}
		jobs, err := s.jobsOf(ctx, entries)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if err := s.objects.Delete(ctx, jobKey(job.ID)); err != nil {
				return err
			}
		}
		for _, e := range entries { // no change that writes one of these takes that long
			if err := s.objects.Erase(ctx, e.key()); err != nil {
				return err
			}
		}
	}
}
