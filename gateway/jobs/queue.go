package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/bounds"
)

// Store keeps jobs. It is safe for concurrent use, by several processes too. Errors are execution.ErrNotFound and
// execution.ErrFull where they say so.
type Store interface {
	// Submit keeps a job for good, unless one with its id is there. ErrFull when there are too many.
	Submit(ctx context.Context, job execution.Job) error
	// Job finds one, or ErrNotFound.
	Job(ctx context.Context, id string) (execution.Job, error)
	// ChangeJob hands a job to fn and keeps what fn makes of it in one transaction, unless fn fails.
	ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)
	Work
	Outbox
	Upkeep
}

// Work is how a process comes by what it is to run.
type Work interface {
	// Claim makes the next job of a tenant that is not passed over this process's own: of the first such tenant in order
	// after the one given, so that all are served in turn. ErrNotFound when there is none.
	Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error)
	// Take makes the job with an id this process's own; ErrNotFound when it may not begin, or not any more.
	Take(ctx context.Context, now time.Time, id string) (execution.Job, error)
	// Cancelled are this process's running jobs that are to be stopped.
	Cancelled(ctx context.Context) ([]string, error)
}

// Outbox is the callbacks to be made.
type Outbox interface {
	// Callbacks takes callbacks that are due; each is due again at a later time unless ChangeJob says otherwise.
	Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error)
	// Gone reports whether a receiver is gone; with an until, it is from now on.
	Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error)
}

// Upkeep is what has to be seen to now and then.
type Upkeep interface {
	// Orphans are the running jobs of processes that have ended, and their functions too. The callbacks that those had
	// taken are due again, at once or when the time that they were taken for is over.
	Orphans(ctx context.Context) ([]execution.Job, error)
	// Prune forgets what ended before a time.
	Prune(ctx context.Context, now, before time.Time) error
}

// Runner is how jobs are run and told of.
type Runner interface {
	// Run runs a job to its end, or says that it did not begin and when to try again (more than 0). When ctx ends the
	// result is that of a cancelled execution.
	Run(ctx context.Context, job execution.Job) (result execution.Result, again time.Duration)
	// Recorded reports whether a job that was lost has its audit record, and what to answer for it then. It may take as
	// long as the job did.
	Recorded(ctx context.Context, job execution.Job) (result execution.Result, recorded bool, err error)
	// Send tells a receiver once.
	Send(ctx context.Context, job execution.Job) Receipt
}

// Receipt is what came of one attempt to tell a receiver.
type Receipt struct {
	Delivered bool
	Gone      bool
	// Problem is why not, for the job's owner; After is when the receiver wants to be asked again, if it said so.
	Problem string
	After   time.Duration
}

// Config sizes a Queue. Store, Runner, Now, Random and Logger are required.
type Config struct {
	Store   Store
	Runner  Runner
	Workers int // jobs at once; 2
	// Spare is how many more there may be of tenants that have none at work: however long the jobs of others take, who
	// comes anew does not wait for them. 16.
	Spare  int
	Keep   time.Duration // how long what ended can be asked for; 7 days
	Now    func() time.Time
	Random func() float64 // uniform in [0, 1)
	Logger *slog.Logger
}

// ErrEnded is the error of cancelling what has ended.
var ErrEnded = errors.New("the job has ended")

// Queue runs the jobs of a store. It is safe for concurrent use.
type Queue struct {
	cfg     Config
	wake    chan struct{}
	telling *bounds.Pool   // a place for each callback that is made at once
	busy    sync.WaitGroup // loops, jobs and callbacks

	mu       sync.Mutex
	stop     context.CancelFunc // nil before Start and Stop
	running  map[string]context.CancelFunc
	atWork   map[string]int // jobs of each tenant that has some
	waiting  map[string]int // callbacks of each tenant that wait for a place
	adopting map[string]bool
}

// New checks the configuration and starts nothing.
func New(cfg Config) (*Queue, error) {
	if cfg.Workers == 0 {
		cfg.Workers = 2
	}
	if cfg.Spare == 0 {
		cfg.Spare = 16
	}
	if cfg.Keep == 0 {
		cfg.Keep = 7 * 24 * time.Hour
	}
	if cfg.Store == nil || cfg.Runner == nil || cfg.Now == nil || cfg.Random == nil || cfg.Logger == nil || cfg.Workers < 0 || cfg.Spare < 0 || cfg.Keep < 0 {
		return nil, errors.New("jobs: a store, a runner, a clock, randomness and a logger are needed, and no number may be negative")
	}
	return &Queue{
		cfg: cfg, wake: make(chan struct{}, 1), telling: bounds.NewPool(bounds.Of(bounds.Callbacks).Most),
		running: map[string]context.CancelFunc{}, atWork: map[string]int{}, waiting: map[string]int{}, adopting: map[string]bool{},
	}, nil
}

// Submit keeps a job; once it returns nil the job will have a result. The error is execution.ErrFull when there are too
// many.
func (q *Queue) Submit(ctx context.Context, job execution.Job) error {
	job.Status = execution.Queued
	if err := q.cfg.Store.Submit(ctx, job); err != nil {
		return err
	}
	q.nudge()
	return nil
}

func (q *Queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Job finds a job; execution.ErrNotFound when there is none.
func (q *Queue) Job(ctx context.Context, id string) (execution.Job, error) {
	return q.cfg.Store.Job(ctx, id)
}

// patience is how long Cancel waits for a guest to stop.
const patience = 5 * time.Second

// Cancel ends a job. One that has not begun never will: began is false, and its result is the one given. One that
// runs is stopped, wherever it runs; what is answered is the job as it has become, usually with its end. The error is
// ErrEnded when it had ended before.
func (q *Queue) Cancel(ctx context.Context, id string, result execution.Result) (job execution.Job, began bool, err error) {
	job, err = q.cfg.Store.ChangeJob(ctx, id, func(j *execution.Job) error {
		switch began = true; {
		case j.Ended():
			return ErrEnded
		case j.Status == execution.Queued:
			began = false
			return q.end(j, result)
		}
		j.Cancel = true
		return nil
	})
	if err != nil || !began {
		q.nudge() // there may be a callback to make
		return job, began, err
	}
	q.interrupt(id)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look := time.NewTicker(25 * time.Millisecond)
	defer look.Stop()
	for !job.Ended() {
		select {
		case <-ctx.Done():
			return job, true, nil
		case <-look.C:
		}
		if now, err := q.cfg.Store.Job(ctx, id); err == nil {
			job = now
		}
	}
	return job, true, nil
}

func (q *Queue) interrupt(id string) {
	q.mu.Lock()
	cancel := q.running[id]
	q.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// end puts a result into a job, and its callback on the way.
func (q *Queue) end(j *execution.Job, result execution.Result) error {
	body, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("keep the result of a job: %w", err)
	}
	now := q.cfg.Now().UTC()
	j.Status, j.Result, j.EndedAt, j.Owner, j.Cancel = result.Status, body, now, "", false
	if j.Callback != nil {
		j.Callback.State, j.Callback.Next = execution.CallbackPending, now
	}
	return nil
}
