package jobs

import (
	"context"
	"errors"
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

// An unstored ends executions of callers that waited, whose function recorded a pause, and whose gateway died before it
// stored them. A job in the place of such an execution ends it, so that it ends once however many processes look, and
// cannot be stored any more.
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
	_, err := q.cfg.Store.Job(ctx, r.ID)
	if !errors.Is(err, execution.ErrNotFound) {
		return err
	}
	job := waits.Unstored(r, q.cfg.Waits.NewID(), q.cfg.Now())
	if err := q.cfg.Store.Submit(ctx, job); err != nil {
		return err
	}
	_, err = q.advance(ctx, job)
	return err
}
