package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// reserve is how long a job may take after it was claimed: waiting for a place, the longest tier, its record and its
// callback.
const reserve = 110 * time.Second

// finale is the time before the end of ctx at which RunDue gives up storing results, so that it can return.
const finale = 5 * time.Second

// RunDue does the work that is due now, in a process that is suspended in between. With an ID, it runs that job if
// nobody has. Without one, it runs all queued jobs, adopts orphans and deletes old jobs. Either way, it makes the
// callbacks that are due. It begins no job when less than about two minutes are left until ctx ends (and fails if
// there was less from the start), and returns when everything that it began has ended. If the store fails until shortly
// before ctx ends, results are not stored, and RunDue returns the error. What is left is done by the next call. It must
// not be called after Start. Several processes may call it at once.
func (q *Queue) RunDue(ctx context.Context, id string) error {
	begin, keeping := ctx, ctx
	if end, ok := ctx.Deadline(); ok {
		if left := time.Until(end); left < reserve {
			return fmt.Errorf(
				"jobs: due work needs more time than a job may take, %v; there were %v", reserve, left.Round(time.Second),
			)
		}
		var began, kept context.CancelFunc
		begin, began = context.WithDeadline(ctx, end.Add(-reserve))
		defer began()
		keeping, kept = context.WithDeadline(ctx, end.Add(-finale))
		defer kept()
	}
	// A process that is cut off at the end of ctx leaves an orphan, and not a cancelled job.
	running, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		q.watch(running)
	}()
	defer func() { release(); <-watched }()
	if id != "" && q.cfg.Queues.set() {
		ran, err := woken{q}.run(begin, running, keeping, id)
		if !ran && err == nil { // the message may be one about its callback
			err = woken{q}.tell(running, id)
		}
		return err
	}
	if id != "" {
		return errors.Join(q.runOne(begin, running, keeping, id), q.deliverAll(running))
	}
	return errors.Join(
		q.adoptAll(running), unstored{q}.settle(running), unstored{q}.end(running), q.advanceDue(running),
		q.deliverAll(running), q.drain(begin, running, keeping), q.deliverAll(running), q.prune(running),
	)
}

// watch stops jobs that are cancelled meanwhile.
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
func (q *Queue) runOne(begin, running, keeping context.Context, id string) error {
	job, err := q.cfg.Store.Take(begin, q.cfg.Now(), id)
	switch {
	case errors.Is(err, execution.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("claim job %s: %w", id, err)
	}
	return q.run(running, keeping, job)
}

// drain runs jobs until none is left that may begin.
func (q *Queue) drain(begin, running, keeping context.Context) (err error) {
	unkept := make(chan error, 1) // the first error of a job
	defer func() {
		q.busy.Wait()
		select {
		case failed := <-unkept:
			err = errors.Join(err, failed)
		default:
		}
	}()
	free := make(chan struct{}, q.cfg.Workers)
	for after := ""; ; {
		select {
		case <-begin.Done():
			return nil
		case free <- struct{}{}:
		}
		claimed, err := q.cfg.Store.ClaimSome(begin, q.cfg.Now(), after, nil, 1)
		switch {
		case errors.Is(err, execution.ErrNotFound) || begin.Err() != nil:
			return nil
		case err != nil && len(claimed) == 0:
			return fmt.Errorf("claim a job: %w", err)
		case err != nil:
			q.cfg.Logger.Error("a job cannot be claimed", "error", err)
		}
		for _, job := range claimed {
			after = job.Tenant
			q.busy.Go(func() {
				defer func() { <-free }()
				if err := q.run(running, keeping, job); err != nil {
					select {
					case unkept <- err:
					default:
					}
				}
			})
		}
	}
}

// adoptAll adopts orphans and waits for them.
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
