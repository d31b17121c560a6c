package jobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// tick is the interval at which a queue polls for work that other processes left: jobs, cancellations, due times.
const tick = time.Second

// Start adopts orphans and begins to work, once, unless Stop came first. Jobs are cancelled when running ends.
func (q *Queue) Start(running context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stop != nil {
		return
	}
	loop, stop := context.WithCancel(running)
	q.stop = stop
	q.busy.Go(func() { q.dispatch(loop, running) })
	q.busy.Go(func() { q.deliver(loop) })
	q.busy.Go(func() { q.tidy(loop) })
	woken{q}.serve(loop, running)
}

// Stop stops claiming jobs and waits for those that run. If ctx ends first, its error is returned, and the jobs
// continue.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	if q.stop == nil {
		q.stop = func() {}
	}
	q.stop()
	q.mu.Unlock()
	done := make(chan struct{})
	go func() { q.busy.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dispatch claims jobs whenever there are workers for them.
func (q *Queue) dispatch(loop, running context.Context) {
	free := make(chan struct{}, q.cfg.Workers+q.cfg.Spare)
	after, clock := "", time.NewTicker(q.cfg.Queues.look(tick))
	defer clock.Stop()
	for {
		select {
		case <-loop.Done():
			return
		case free <- struct{}{}:
		}
		over, places := q.passedOver(len(free)), 1
		for len(free) < q.cfg.Workers {
			free <- struct{}{}
			places++
		}
		claimed, err := q.cfg.Store.ClaimSome(loop, q.cfg.Now(), after, over, places)
		for range places - len(claimed) {
			<-free
		}
		for _, job := range claimed {
			after = job.Tenant
			q.at(job.Tenant, 1)
			q.busy.Go(func() {
				defer func() { <-free; q.at(job.Tenant, -1); q.nudge() }()
				_ = q.run(running, running, job) // it is logged
			})
		}
		if err != nil && !errors.Is(err, execution.ErrNotFound) && loop.Err() == nil {
			q.cfg.Logger.Error("a job cannot be claimed", "error", err)
		}
		if err == nil || len(claimed) > 0 {
			continue
		}
		select {
		case <-loop.Done():
			return
		case <-q.wake:
		case <-clock.C:
		}
	}
}

// passedOver returns the tenants that may run no more jobs while this many workers, including the one that asks, are
// taken: the last workers are for tenants that run none.
func (q *Queue) passedOver(taken int) []string {
	if taken <= q.cfg.Workers {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Collect(maps.Keys(q.atWork))
}

// at changes the number of jobs that a tenant runs.
func (q *Queue) at(tenant string, change int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.atWork[tenant] += change; q.atWork[tenant] == 0 {
		delete(q.atWork, tenant)
	}
}

// errTaken ends a change that came too late.
var errTaken = errors.New("the job belongs to another process by now")

// run runs a job and stores its result. It gives up storing when keeping ends, and returns the error of the store.
func (q *Queue) run(running, keeping context.Context, job execution.Job) error {
	ctx, cancel := context.WithCancel(running)
	defer cancel()
	q.mu.Lock()
	q.running[job.ID] = cancel
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.running, job.ID)
		q.mu.Unlock()
	}()
	if job.Cancel { // it was cancelled while it was queued, and not ended
		cancel()
	}
	result, again := q.cfg.Runner.Run(ctx, job)
	err := keep(keeping, q, job, func(j *execution.Job) error {
		if j.Status != execution.Running || j.Owner != job.Owner {
			return errTaken
		}
		if again <= 0 {
			j.Request = job.Request // a snapshot is bound to it
			return q.endOrPark(j, result)
		}
		j.Status, j.Owner, j.Attempts = execution.Queued, "", j.Attempts+1
		j.NotBefore = q.cfg.Now().Add(again + min(q.backoff(j.Attempts), 30*time.Second)).UTC()
		return nil
	})
	if err != nil {
		q.cfg.Logger.Warn("the result of a job is not stored; the process that takes the job over looks for its record",
			"job", job.ID, "error", err)
	}
	return err
}

// seldom is the number of attempts after which the pauses between further ones stay the same: at most 32 s.
const seldom = 5

// keep changes a job. It goes on for as long as the store fails, because no other process takes over the job of one
// that is alive. After the end of keeping it makes no further attempt, or a last one if it was waiting, and returns the
// error of the store.
func keep(keeping context.Context, q *Queue, job execution.Job, fn func(*execution.Job) error) error {
	for attempt := 0; ; attempt++ {
		last := keeping.Err() != nil
		_, err := change(context.WithoutCancel(keeping), q, job.ID, fn)
		switch {
		case err == nil || errors.Is(err, errTaken):
			return nil
		case errors.Is(err, execution.ErrNotFound):
			q.cfg.Logger.Warn("a job does not exist any more, and its result is lost", "job", job.ID)
			return nil
		case last:
			return fmt.Errorf("keep job %s: %w", job.ID, err)
		}
		q.cfg.Logger.Error("a job cannot be kept", "job", job.ID, "error", err)
		pause := time.NewTimer(q.backoff(min(attempt, seldom)))
		select {
		case <-keeping.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// adopt takes over what ended processes were running. A job with an audit record has happened.
func (q *Queue) adopt(ctx context.Context) error {
	orphans, err := q.cfg.Store.Orphans(ctx)
	for _, job := range orphans {
		q.mu.Lock()
		taken := q.adopting[job.ID]
		q.adopting[job.ID] = true
		q.mu.Unlock()
		if !taken {
			q.busy.Go(func() { q.take(ctx, job) })
		}
	}
	return err
}

// take ends an orphan that has happened, and has any other orphan run again.
func (q *Queue) take(ctx context.Context, job execution.Job) {
	defer func() {
		q.mu.Lock()
		delete(q.adopting, job.ID)
		q.mu.Unlock()
	}()
	runs, err := q.mayRun(ctx, job)
	if runs {
		return // a later look finds it again
	}
	result, recorded := execution.Result{}, false
	if err == nil {
		result, recorded, err = q.cfg.Runner.Recorded(ctx, job)
	}
	if err != nil {
		q.complain(ctx, "an orphan cannot be looked up", err)
		return
	}
	_, err = change(ctx, q, job.ID, func(j *execution.Job) error {
		if j.Status != execution.Running || j.Owner != job.Owner {
			return errTaken
		}
		if recorded {
			j.Request = job.Request // a snapshot is bound to it
			return q.endOrPark(j, result)
		}
		j.Status, j.Owner = execution.Queued, ""
		return nil
	})
	if err != nil && !errors.Is(err, errTaken) {
		q.complain(ctx, "an orphan cannot be adopted", err)
	}
	q.nudge()
}

// mayRun reports whether the function of an orphan may still run: it has left no record, and its time is not over.
func (q *Queue) mayRun(ctx context.Context, job execution.Job) (bool, error) {
	f := q.cfg.Functions
	if f.Longest == nil || job.Idle >= f.Longest(job) {
		return false, nil
	}
	recorded, err := f.HasRecord(ctx, job)
	return err == nil && !recorded, err
}

func (q *Queue) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		q.cfg.Logger.Error(what, "error", err)
	}
}

// tidy adopts orphans, stops cancelled jobs and deletes old ones.
func (q *Queue) tidy(loop context.Context) {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	for n := 0; ; n++ {
		q.stopCancelled(loop)
		if err := q.advanceDue(loop); err != nil {
			q.complain(loop, "paused executions cannot be found", err)
		}
		if err := (unstored{q}).settle(loop); err != nil {
			q.complain(loop, "it is not known whether a paused execution is stored", err)
		}
		if n%5 == 0 {
			if err := q.adopt(loop); err != nil {
				q.complain(loop, "orphans cannot be found", err)
			}
		}
		if n%600 == 30 { // not at once: a gateway that starts has more to do
			if err := (unstored{q}).end(loop); err != nil {
				q.complain(loop, "executions whose pause was not stored cannot be found", err)
			}
		}
		if n%600 == 599 {
			if err := q.prune(loop); err != nil {
				q.complain(loop, "old jobs cannot be deleted", err)
			}
		}
		select {
		case <-loop.Done():
			return
		case <-clock.C:
		}
	}
}

func (q *Queue) stopCancelled(ctx context.Context) {
	q.mu.Lock()
	runs := len(q.running) > 0
	q.mu.Unlock()
	if !runs {
		return
	}
	ids, err := q.cfg.Store.Cancelled(ctx)
	if err != nil {
		q.complain(ctx, "cancelled jobs cannot be found", err)
	}
	for _, id := range ids {
		q.interrupt(id)
	}
}

func (q *Queue) prune(ctx context.Context) error {
	now := q.cfg.Now()
	return q.cfg.Store.Prune(ctx, now, now.Add(-q.cfg.Keep))
}
