package s3state

import (
	"context"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Submit refuses: nobody would be there to run the job.
func (*Store) Submit(context.Context, execution.Job) error { return execution.ErrNotKept }

// Job finds none.
func (*Store) Job(context.Context, string) (execution.Job, error) {
	return execution.Job{}, execution.ErrNotFound
}

// ChangeJob finds none.
func (*Store) ChangeJob(context.Context, string, func(*execution.Job) error) (execution.Job, error) {
	return execution.Job{}, execution.ErrNotFound
}

// Claim finds none.
func (*Store) Claim(context.Context, time.Time, string, []string) (execution.Job, error) {
	return execution.Job{}, execution.ErrNotFound
}

// Orphans are none.
func (*Store) Orphans(context.Context) ([]execution.Job, error) { return nil, nil }

// Cancelled are none.
func (*Store) Cancelled(context.Context) ([]string, error) { return nil, nil }

// Callbacks are none.
func (*Store) Callbacks(context.Context, time.Time, time.Time, int) ([]execution.Job, error) {
	return nil, nil
}

// Gone knows no receivers.
func (*Store) Gone(context.Context, string, string, time.Time, time.Time) (bool, error) {
	return false, nil
}

// Prune has nothing to forget.
func (*Store) Prune(context.Context, time.Time, time.Time) error { return nil }
