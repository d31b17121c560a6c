package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// settled is how long after an execution began its pause is stored, or its gateway has died.
	settled = 15 * time.Minute
	// late is how much later than an execution began its record may be found.
	late = 10 * time.Minute
)

// maxUnsettled bounds the pauses of which a process does not know whether they are stored. What exceeds it ends as if
// the process had died.
const maxUnsettled = 1000

// ErrUnsettled reports that an execution paused, and that the store does not tell whether it is stored. When the store
// answers again, the execution continues, or it has ended.
var ErrUnsettled = errors.New("it is not known whether the execution is stored")

// An unstored ends executions of callers that waited, whose function recorded a pause, and whose gateway died before it
// stored them, or lost the store meanwhile. A job in the place of such an execution ends it, so that it ends once
// however many processes look, and cannot be stored any more.
type unstored struct{ q *Queue }

// end ends all of them.
func (u unstored) end(ctx context.Context) error {
	q := u.q
	now := q.cfg.Now()
	until := now.Add(-settled)
	q.mu.Lock()
	since := q.looked
	q.mu.Unlock()
	// What began earlier may have been stored, and deleted after its end.
	if oldest := now.Add(settled - q.cfg.Keep); since.Before(oldest) {
		since = oldest
	}
	if q.cfg.Waits.Paused == nil || !since.Before(until) {
		return nil
	}
	err := q.cfg.Waits.Paused(ctx, since, until, func(r audit.Record) error { return u.endOne(ctx, r) })
	if err == nil {
		q.mu.Lock()
		q.looked = until.Add(-late)
		q.mu.Unlock()
	}
	return err
}

// endOne ends the execution that a record says has paused, if no store has it.
func (u unstored) endOne(ctx context.Context, r audit.Record) error {
	q := u.q
	if r.Parent != "" {
		return nil // a later segment, whose job is stored
	}
	return u.replace(ctx, waits.Unstored(r, q.cfg.Waits.NewID(), q.cfg.Now()))
}

// replace stores a job that ends in the place of one that no store has, and ends it.
func (u unstored) replace(ctx context.Context, ending execution.Job) error {
	_, err := u.q.cfg.Store.JobState(ctx, ending.ID)
	if !errors.Is(err, execution.ErrNotFound) {
		return err
	}
	if err := u.q.cfg.Store.Submit(ctx, ending); err != nil {
		return err
	}
	_, err = u.q.advance(ctx, ending)
	return err
}

// submit stores an execution that paused. It tries again after faults by which the job may be stored: the store then
// recognizes it. The error is ErrUnsettled if that remains unknown.
func (u unstored) submit(ctx context.Context, job execution.Job) error {
	var err error
	for range 3 {
		if err = u.q.cfg.Store.Submit(ctx, job); err == nil || StoresNothing(err) {
			return err
		}
	}
	ending := job
	ending.Snapshot = nil
	ending.Request = execution.Request{Code: job.Request.Main(), Language: job.Request.MainLanguage()}
	if unending := u.q.endPaused(&ending, execution.Failed,
		"the execution paused and could not be stored; it has ended", callerOf(job)); unending != nil {
		return errors.Join(unending, err)
	}
	u.q.mu.Lock()
	defer u.q.mu.Unlock()
	if len(u.q.unsettled) < maxUnsettled {
		u.q.unsettled[job.ID] = ending
	}
	return errors.Join(ErrUnsettled, err)
}

// StoresNothing reports whether a change was certainly not stored, judging by the error of a Store.
func StoresNothing(err error) bool {
	var (
		quota *execution.QuotaError
		fault *execution.StoreError
	)
	if errors.As(err, &fault) {
		return fault.Fault == execution.StoreFull || fault.Fault == execution.StoreReadOnly
	}
	return errors.As(err, &quota) || errors.Is(err, execution.ErrFull) || errors.Is(err, execution.ErrNotKept)
}

// settle ends the executions that this process could not store, if the store answers again and does not have them.
func (u unstored) settle(ctx context.Context) error {
	u.q.mu.Lock()
	all := slices.Collect(maps.Values(u.q.unsettled))
	u.q.mu.Unlock()
	for _, ending := range all {
		if err := u.replace(ctx, ending); err != nil {
			return err
		}
		u.q.mu.Lock()
		delete(u.q.unsettled, ending.ID)
		u.q.mu.Unlock()
	}
	return nil
}
