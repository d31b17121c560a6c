package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/bounds"
)

// Wakes is a queue of messages that name jobs. The store says what is to be done about a job, so a message may be lost,
// repeated or late: regular polling of the store finds work without a message.
type Wakes interface {
	// Send has a process handle a job after a delay, or earlier.
	Send(ctx context.Context, tenant, id string, delay time.Duration) error
	// Serve passes jobs to handle, at most so many at once, until ctx ends. A job whose handling fails comes again.
	Serve(ctx context.Context, places int, handle func(ctx context.Context, id string) error)
}

// Queues are the queues of a fleet: of jobs that may begin, and of callbacks that are due. Both are set, or neither.
type Queues struct {
	Jobs, Callbacks Wakes
}

func (w Queues) set() bool { return w.Jobs != nil && w.Callbacks != nil }

// CallbackTaker is what a Store has beside its methods that is used with Queues.
type CallbackTaker interface {
	// TakeCallback takes the callback of a job if it is due, as Callbacks does. The error is ErrNotFound if it is not.
	TakeCallback(ctx context.Context, now, again time.Time, id string) (execution.Job, error)
}

// sweep is how often a process with queues looks for jobs and callbacks that nobody was woken for.
const sweep = time.Minute

// announcing is a store that sends a message about each job that a change makes due.
type announcing struct {
	Store
	queues Queues
	now    func() time.Time
	logger *slog.Logger
}

// Submit implements Store.
func (a *announcing) Submit(ctx context.Context, job execution.Job) error {
	err := a.Store.Submit(ctx, job)
	if err == nil {
		a.announce(ctx, execution.Job{}, job)
	}
	return err
}

// ChangeJob implements Store.
func (a *announcing) ChangeJob(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	return a.changed(ctx, a.Store.ChangeJob, id, fn)
}

// ChangeJobState implements Store.
func (a *announcing) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	return a.changed(ctx, a.Store.ChangeJobState, id, fn)
}

// A changer is ChangeJob or ChangeJobState of a Store.
type changer func(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)

func (a *announcing) changed(
	ctx context.Context, change changer, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	var before execution.Job
	job, err := change(ctx, id, func(j *execution.Job) error {
		before = copyOf(*j)
		return fn(j)
	})
	if err == nil {
		a.announce(ctx, before, job)
	}
	return job, err
}

// announce sends a message if a job may begin now and might not before, and one if it has a callback that it had not.
func (a *announcing) announce(ctx context.Context, before, job execution.Job) {
	now := a.now()
	if job.Status == execution.Queued &&
		(before.Status != execution.Queued || !before.NotBefore.Equal(job.NotBefore)) {
		a.send(ctx, a.queues.Jobs, job, job.NotBefore.Sub(now))
	}
	if pending(job) && (!pending(before) || !before.Callback.Next.Equal(job.Callback.Next)) {
		a.send(ctx, a.queues.Callbacks, job, job.Callback.Next.Sub(now))
	}
}

func pending(job execution.Job) bool {
	return job.Callback != nil && job.Callback.State == execution.CallbackPending
}

// wakeTimeout bounds the time that a change of a job takes longer because of its message.
const wakeTimeout = 5 * time.Second

func (a *announcing) send(ctx context.Context, to Wakes, job execution.Job, delay time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wakeTimeout)
	defer cancel()
	if err := to.Send(ctx, job.Tenant, job.ID, delay); err != nil {
		a.logger.Warn("no process was woken for a job; it is found within about a minute",
			"execution", job.ID, "error", err)
	}
}

// look returns the interval at which the store is polled for work without a message.
func (w Queues) look(often time.Duration) time.Duration {
	if w.set() {
		return sweep
	}
	return often
}

// A woken handles the messages of a Queue.
type woken struct{ q *Queue }

// serve handles the messages of both queues until loop ends.
func (w woken) serve(loop, running context.Context) {
	q := w.q
	if !q.cfg.Queues.set() {
		return
	}
	q.busy.Go(func() {
		q.cfg.Queues.Jobs.Serve(loop, q.cfg.Workers+q.cfg.Spare, func(_ context.Context, id string) error {
			_, err := w.run(running, running, running, id)
			return err
		})
	})
	q.busy.Go(func() { q.cfg.Queues.Callbacks.Serve(loop, together*4, w.tell) })
}

// run runs a job that a message names, and reports whether it ran. A job that is due later gets another message.
func (w woken) run(begin, running, keeping context.Context, id string) (ran bool, err error) {
	q := w.q
	job, err := q.cfg.Store.Take(begin, q.cfg.Now(), id)
	if err == nil {
		q.at(job.Tenant, 1)
		defer q.at(job.Tenant, -1)
		return true, q.run(running, keeping, job)
	}
	if !errors.Is(err, execution.ErrNotFound) {
		return false, err
	}
	job, err = q.cfg.Store.JobState(begin, id)
	if early := job.NotBefore.Sub(q.cfg.Now()); err == nil && job.Status == execution.Queued && early > 0 {
		return false, q.cfg.Queues.Jobs.Send(begin, job.Tenant, id, early)
	}
	return false, unlessMissing(err)
}

// tell makes the callback of a job that a message names. A callback that is due later gets another message.
func (w woken) tell(ctx context.Context, id string) error {
	q := w.q
	now := q.cfg.Now()
	job, err := q.callbacks.TakeCallback(ctx, now, now.Add(sendTime), id)
	if err == nil {
		return w.tellInPlace(ctx, job)
	}
	if !errors.Is(err, execution.ErrNotFound) {
		return err
	}
	job, err = q.cfg.Store.JobState(ctx, id)
	if err == nil && pending(job) {
		if early := job.Callback.Next.Sub(now); early > 0 {
			return q.cfg.Queues.Callbacks.Send(ctx, job.Tenant, id, early)
		}
	}
	return unlessMissing(err)
}

var errNoPlace = errors.New("no place for a callback has become free")

// tellInPlace makes a callback when there is a place for it. Without one, the callback becomes due again later.
func (w woken) tellInPlace(ctx context.Context, job execution.Job) error {
	leave := w.q.place(ctx, bounds.Owner{Tenant: job.Tenant})
	if leave == nil {
		return errNoPlace
	}
	defer leave()
	w.q.tell(ctx, job)
	return nil
}

// unlessMissing returns nil for a job that does not exist: nobody waits for it.
func unlessMissing(err error) error {
	if errors.Is(err, execution.ErrNotFound) {
		return nil
	}
	return err
}
