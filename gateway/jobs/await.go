package jobs

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// awaited is a job for which callers of this process wait. One of them looks at the job for all of them, because
// reading a job that waits for many operations is expensive.
type awaited struct {
	// looks has one place: the caller who fills it looks at the job.
	looks chan struct{}
	// joined receives a value when a caller joins, so that the next look comes soon.
	joined chan struct{}
	// callers receive the job once. The mutex of callersOf guards the map.
	callers map[chan seen]bool
}

// callersOf knows the jobs for which callers wait. It is safe for concurrent use.
type callersOf struct {
	mu   sync.Mutex
	jobs map[string]*awaited
}

// seen is what a look found: a job that is paused or has ended, or the error of a job that does not exist any more.
type seen struct {
	job execution.Job
	err error
}

// The pauses between two looks at a job that somebody waits for: each is a sixteenth longer than the one before.
const (
	soonest = 20 * time.Millisecond
	rarest  = time.Second
)

// Await waits until a job is paused or has ended, at most for patience. It returns the job as it was given if neither
// happened. A job that it has read has neither request nor snapshot. All callers who wait for a job share the looks at
// it. The longer they wait, the more rarely the job is looked at. A look that fails says nothing about the job, and is
// repeated.
func (q *Queue) Await(ctx context.Context, job execution.Job, patience time.Duration) (execution.Job, error) {
	if !underWay(job) {
		return job, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	of, mine := q.callers.join(job.ID)
	defer q.callers.leave(job.ID, mine)
	select {
	case <-ctx.Done():
	case of.looks <- struct{}{}:
		q.callers.lookUntil(ctx, q, of, job.ID, mine)
		<-of.looks
	case found := <-mine:
		return found.job, found.err
	}
	select {
	case found := <-mine:
		return found.job, found.err
	default: // what the caller asked for has been done
		return job, nil
	}
}

// underWay reports whether a job waits for a worker or runs.
func underWay(job execution.Job) bool {
	return job.Status == execution.Queued || job.Status == execution.Running
}

// join adds a caller to those who wait for a job.
func (c *callersOf) join(id string) (of *awaited, mine chan seen) {
	mine = make(chan seen, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if of = c.jobs[id]; of == nil {
		of = &awaited{make(chan struct{}, 1), make(chan struct{}, 1), map[chan seen]bool{}}
		c.jobs[id] = of
	}
	of.callers[mine] = true
	select {
	case of.joined <- struct{}{}:
	default:
	}
	return of, mine
}

// leave removes a caller from those who wait for a job.
func (c *callersOf) leave(id string, mine chan seen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.jobs[id]
	if delete(of.callers, mine); len(of.callers) == 0 {
		delete(c.jobs, id)
	}
}

// look reads a job. Of a job that is under way it reads the status alone.
func look(ctx context.Context, q *Queue, id string) (execution.Job, error) {
	status, err := q.cfg.Store.JobStatus(ctx, id)
	if job := (execution.Job{Status: status}); err != nil || underWay(job) {
		return job, err
	}
	return q.cfg.Store.JobState(ctx, id)
}

// lookUntil looks at a job until mine has a value or ctx ends. It hands what it found to the callers who joined before
// the look: those who joined later may have changed the job.
func (c *callersOf) lookUntil(ctx context.Context, q *Queue, of *awaited, id string, mine chan seen) {
	pause, failed := soonest, false
	due := time.Now().Add(pause)
	for len(mine) == 0 {
		next := time.NewTimer(time.Until(due))
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-of.joined:
			next.Stop()
			pause = soonest
			if soon := time.Now().Add(pause); soon.Before(due) {
				due = soon
			}
			continue
		case <-next.C:
		}
		c.mu.Lock()
		callers := maps.Clone(of.callers)
		c.mu.Unlock()
		job, err := look(ctx, q, id)
		if ctx.Err() != nil {
			return
		}
		gone := errors.Is(err, execution.ErrNotFound)
		if err != nil && !gone && !failed {
			failed = true
			q.cfg.Logger.Warn("a job that callers wait for cannot be read; it is read again", "job", id, "error", err)
		}
		if gone || err == nil && !underWay(job) {
			for caller := range callers {
				select {
				case caller <- seen{job, err}:
				default: // an earlier look has found it
				}
			}
		}
		pause = min(pause+pause/16, rarest)
		due = time.Now().Add(pause)
	}
}
