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

// some is how many marks of a list are looked at in one go.
const some = 100

// Orphans gives the running jobs whose time is over: whoever claimed them has died, and so have the functions that ran them.
func (s *Store) Orphans(ctx context.Context) ([]execution.Job, error) {
	marks, err := s.due(ctx, runningList, s.cfg.Now(), some)
	if err != nil {
		return nil, fmt.Errorf("look for orphans: %w", err)
	}
	return s.marked(ctx, marks)
}

// marked gives the jobs that marks are of, and erases those marks that do not count any more.
func (s *Store) marked(ctx context.Context, marks []mark) ([]execution.Job, error) {
	found := make([]*jobDocument, len(marks))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, m := range marks {
		group.Go(func() error {
			var d jobDocument
			_, there, err := s.read(ctx, jobKey(m.name), maxJob, &d)
			switch {
			case err != nil:
				return fmt.Errorf("read job: %w", err)
			case there && d.mark() == m:
				found[i] = &d
			default:
				s.settle(ctx, m, there, d.Step)
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

// Cancelled gives the ids of this process's running jobs that are to be stopped. It asks once in the time of a poll.
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

// Callbacks takes at most limit callbacks that are due, and makes them due again at a later time, so that one process at a
// time delivers each.
func (s *Store) Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error) {
	marks, err := s.due(ctx, tellingList, now, limit)
	if err != nil {
		return nil, fmt.Errorf("take callbacks: %w", err)
	}
	var out []execution.Job
	for _, m := range marks {
		step, there := int64(0), false
		var job execution.Job
		err := change(ctx, s, jobKey(m.name), maxJob, func(d *jobDocument, is bool) error {
			if step, there = d.Step, is; !is || d.mark() != m {
				return errPassed
			}
			d.Telling, job = again.UTC(), d.job()
			return nil
		})
		switch {
		case errors.Is(err, errPassed):
			s.settle(ctx, m, there, step)
		case err != nil:
			return out, fmt.Errorf("take callbacks: %w", err)
		default:
			out = append(out, job)
		}
	}
	return out, nil
}

// goneReceiver is a receiver as it is stored.
type goneReceiver struct {
	Until time.Time `json:"until"`
}

// Gone reports whether a tenant's receiver has said that it is gone; with a time, it is remembered as gone until then.
func (s *Store) Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error) {
	key := "gone" + tenantPart(tenant) + hash([]byte(url))
	if !until.IsZero() {
		err := change(ctx, s, key, maxDocument, func(g *goneReceiver, _ bool) error {
			g.Until = until.UTC()
			return nil
		})
		return true, err
	}
	var g goneReceiver
	_, _, err := s.read(ctx, key, maxDocument, &g)
	return g.Until.After(now), err
}

// Prune forgets the jobs that ended before a time and have told everybody, some at a time. What else has served its time is
// for the bucket's lifecycle to remove.
func (s *Store) Prune(ctx context.Context, _, before time.Time) error {
	for {
		marks, err := s.due(ctx, endedList, before, some)
		if err != nil || len(marks) == 0 {
			return err
		}
		jobs, err := s.marked(ctx, marks)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if err := s.objects.Delete(ctx, jobKey(job.ID)); err != nil {
				return err
			}
		}
		for _, m := range marks { // nobody has been about to make one of these for so long
			if err := s.objects.Erase(ctx, m.key()); err != nil {
				return err
			}
		}
	}
}
