package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// reserve is what a job may take from when it is claimed: waiting for a place, the longest tier, its record and its
// callback.
const reserve = 110 * time.Second

// RunDue does what there is to do now, in a process that stands still in between: with an id it runs that job, if
// nobody has yet; without one it runs whatever is queued, takes over what the dead left and forgets what is old.
// Callbacks that are due are made either way. It begins no job when less than about two minutes are left until ctx
// ends (with no more to begin with it fails), and returns when everything that it began has ended. What it could not
// do is left for the next turn. It must not be called after Start; turns of several processes may go on at once.
func (q *Queue) RunDue(ctx context.Context, id string) error {
	begin := ctx
	if end, ok := ctx.Deadline(); ok {
		if left := time.Until(end); left < reserve {
			return fmt.Errorf("jobs: a turn needs more time than a job may take, %v; it was given %v", reserve, left.Round(time.Second))
		}
		var cancel context.CancelFunc
		begin, cancel = context.WithDeadline(ctx, end.Add(-reserve))
		defer cancel()
	}
	// Who is cut off at the end of ctx leaves an orphan, and not one that was cancelled.
	running, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		q.watch(running)
	}()
	defer func() { release(); <-watched }()
	if id != "" {
		return errors.Join(q.runOne(begin, running, id), q.deliverAll(running))
	}
	return errors.Join(q.adoptAll(running), q.deliverAll(running), q.drain(begin, running), q.deliverAll(running), q.prune(running))
}

// watch stops what is cancelled meanwhile.
func (q *Queue) watch(ctx context.Context) {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
			q.stopCancelled(ctx)
		}
	}
}

// runOne runs one job.
func (q *Queue) runOne(begin, running context.Context, id string) error {
	job, err := q.cfg.Store.Take(begin, q.cfg.Now(), id)
	switch {
	case errors.Is(err, execution.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("claim job %s: %w", id, err)
	}
	q.run(running, job)
	return nil
}

// drain runs jobs until none is left that may begin.
func (q *Queue) drain(begin, running context.Context) error {
	defer q.busy.Wait()
	free := make(chan struct{}, q.cfg.Workers)
	for after := ""; ; {
		select {
		case <-begin.Done():
			return nil
		case free <- struct{}{}:
		}
		job, err := q.cfg.Store.Claim(begin, q.cfg.Now(), after, nil)
		switch {
		case errors.Is(err, execution.ErrNotFound) || begin.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("claim a job: %w", err)
		}
		after = job.Tenant
		q.busy.Go(func() {
			defer func() { <-free }()
			q.run(running, job)
		})
	}
}

// adoptAll waits for what it adopts.
func (q *Queue) adoptAll(ctx context.Context) error {
	defer q.busy.Wait()
	return q.adopt(ctx)
}

// deliverAll makes every callback that is due.
func (q *Queue) deliverAll(ctx context.Context) error {
	defer q.busy.Wait()
	for {
		if found, err := q.deliverDue(ctx); !found || err != nil {
			return err
		}
	}
}
