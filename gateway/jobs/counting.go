package jobs

import (
	"context"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/meter"
)

// counting is a store that counts the jobs that end and the attempts of callbacks.
type counting struct {
	Store
	work *meter.Work
}

// ChangeJob implements Store.
func (s *counting) ChangeJob(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	return s.changed(ctx, s.Store.ChangeJob, id, fn)
}

// ChangeJobState implements Store.
func (s *counting) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	return s.changed(ctx, s.Store.ChangeJobState, id, fn)
}

func (s *counting) changed(
	ctx context.Context, change changer, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	var before execution.Job
	job, err := change(ctx, id, func(j *execution.Job) error {
		before = copyOf(*j)
		return fn(j)
	})
	if err == nil {
		s.count(before, job)
	}
	return job, err
}

// count counts what a change did. Sessions are no jobs.
func (s *counting) count(before, job execution.Job) {
	if job.Wait != nil && job.Wait.Session != nil {
		return
	}
	if job.Ended() && !before.Ended() {
		s.work.JobEnded(job.Status)
		return // its callback is new
	}
	if !pending(before) || job.Callback == nil {
		return
	}
	switch c := job.Callback; {
	case c.State == execution.CallbackDelivered:
		s.work.Callback(meter.CallbackDelivered)
	case c.State == execution.CallbackDisabled:
		s.work.Callback(meter.CallbackGone)
	case c.State == execution.CallbackFailed:
		s.work.Callback(meter.CallbackGivenUp)
	case c.Attempts > before.Callback.Attempts:
		s.work.Callback(meter.CallbackRetried)
	}
}

// copyOf returns a copy of a job whose callback is its own.
func copyOf(job execution.Job) execution.Job {
	if job.Callback != nil {
		callback := *job.Callback
		job.Callback = &callback
	}
	return job
}
