package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/waits"
)

// Store keeps jobs. It is safe for concurrent use, also by several processes. Its methods return
// execution.ErrNotFound and execution.ErrFull where their comments say so.
type Store interface {
	// Submit stores a job, unless one with its ID exists. The error is ErrFull if there are too many.
	Submit(ctx context.Context, job execution.Job) error
	// Job returns a job, or ErrNotFound.
	Job(ctx context.Context, id string) (execution.Job, error)
	// ChangeJob passes a job to fn and stores what fn makes of it in one transaction, unless fn fails.
	ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)
	States
	Work
	Outbox
	Upkeep
	Waiting
	Listing
}

// States reads and changes jobs without their requests and their snapshots, which can have many megabytes.
type States interface {
	// JobState returns a job without its request and its snapshot, or ErrNotFound.
	JobState(ctx context.Context, id string) (execution.Job, error)
	// JobStatus returns the status of a job, or ErrNotFound. It reads nothing else: a job that waits for events may have
	// megabytes of them.
	JobStatus(ctx context.Context, id string) (execution.Status, error)
	// ChangeJobState does what ChangeJob does. The job may be without its request and its snapshot, and keeps both unless
	// fn sets another snapshot.
	ChangeJobState(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)
}

// Work is how a process gets jobs to run.
type Work interface {
	// ClaimSome makes this process the owner of at most so many jobs of tenants that are not passed over. Each is the
	// next job of the first such tenant in order after the tenant of the job before, so that all are served in turn; the
	// first tenant is one after the given tenant. The error is ErrNotFound if there is no job. The error of a job whose
	// content is lost comes beside the jobs that are claimed.
	ClaimSome(ctx context.Context, now time.Time, after string, passOver []string, most int) ([]execution.Job, error)
	// Take makes this process the owner of the job with an ID. The error is ErrNotFound if the job may not begin, or has
	// begun.
	Take(ctx context.Context, now time.Time, id string) (execution.Job, error)
	// Cancelled returns the jobs that this process runs and that are to be stopped.
	Cancelled(ctx context.Context) ([]string, error)
}

// Outbox holds the callbacks that are to be made.
type Outbox interface {
	// Callbacks takes callbacks that are due. Each is due again at a later time unless ChangeJob says otherwise.
	Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error)
	// Gone reports whether a receiver is gone. With an until, the receiver counts as gone until then.
	Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error)
}

// Waiting finds paused jobs.
type Waiting interface {
	// DueWaits returns paused jobs for which something is due, those that are due longest first. The jobs have neither
	// request nor snapshot.
	DueWaits(ctx context.Context, now time.Time, limit int) ([]execution.Job, error)
	// Paused returns the paused jobs of a tenant, or of one of its subjects, whose ID is greater, in the order of their
	// IDs. The jobs have neither request nor snapshot.
	Paused(ctx context.Context, tenant, subject, after string, limit int) ([]execution.Job, error)
}

// Listing lists jobs.
type Listing interface {
	// Jobs returns at most so many of the jobs of a tenant, or of one of its subjects, that have a status (queued or
	// running), whose ID is greater, in the order of their IDs. The jobs have no request. A next that is not empty is the
	// ID to continue after: there may be more.
	Jobs(ctx context.Context, tenant, subject string, status execution.Status, after string, limit int) (
		jobs []execution.Job, next string, err error)
}

// Upkeep is regular maintenance.
type Upkeep interface {
	// Orphans returns the running jobs of processes that have ended. Their functions may still run: Idle is for how long
	// their process has certainly begun none. The callbacks that those processes had taken become due again, at once or
	// when the time that they were taken for is over.
	Orphans(ctx context.Context) ([]execution.Job, error)
	// StartBefore returns the latest start of a job that this process has claimed, by its owner; zero sets no limit. When
	// it has passed, another process may take the job over.
	StartBefore(owner string) time.Time
	// Prune deletes what ended before a time.
	Prune(ctx context.Context, now, before time.Time) error
}

// A Runner runs jobs and makes their callbacks.
type Runner interface {
	// Run runs a job to its end. If the job did not begin, again says when to try again, and is more than 0. When ctx
	// ends, the result is that of a cancelled execution. Like Recorded, it may return a result with the status queued.
	Run(ctx context.Context, job execution.Job) (result execution.Result, again time.Duration)
	// Recorded reports whether a lost job has its audit record, and returns the result to give in that case. The status of
	// the result is queued if the segment of the job must run again under another record. It may take as long as the job
	// did.
	Recorded(ctx context.Context, job execution.Job) (result execution.Result, recorded bool, err error)
	// Send makes one attempt to call the receiver back.
	Send(ctx context.Context, job execution.Job) Receipt
}

// Receipt is the outcome of one attempt to call a receiver back.
type Receipt struct {
	Delivered bool
	Gone      bool
	// Problem tells the owner of the job why the call failed. After is when the receiver wants to be called again, if it
	// said so.
	Problem string
	After   time.Duration
}

// Config sizes a Queue. Store, Runner, Now, Random and Logger are required.
type Config struct {
	Store   Store
	Runner  Runner
	Workers int // jobs at once; 2
	// Spare is how many additional jobs may run of tenants that run none: however long the jobs of others take, a tenant
	// that was idle does not wait for them. 16.
	Spare  int
	Keep   time.Duration // how long ended jobs are kept; 7 days
	Now    func() time.Time
	Random func() float64 // uniform in [0, 1)
	Logger *slog.Logger
	// Queues wake processes. Without them, the store is looked at every second. With them, it must be a CallbackTaker.
	Queues Queues
	// Waits is how executions wait. Without its Keys, none may.
	Waits Waits
	// Functions are what runs jobs, if it may outlive this process.
	Functions Functions
	// Work counts jobs and callbacks, if it is set.
	Work *meter.Work
}

// Functions are functions that run on when the process that called them has died. The zero value is for functions that
// die with it.
type Functions struct {
	// Longest returns how long the function of a job takes at most, with its record. Until then, an orphan only ends by
	// that record.
	Longest func(job execution.Job) time.Duration
	// HasRecord reports whether a job, or the segment of it that runs, has its audit record.
	HasRecord func(ctx context.Context, job execution.Job) (bool, error)
}

// wrong returns the names of the fields that are required and missing, or negative.
func (c *Config) wrong() (names []string) {
	for _, field := range []struct {
		name string
		ok   bool
	}{
		{"Store", c.Store != nil}, {"Runner", c.Runner != nil}, {"Now", c.Now != nil}, {"Random", c.Random != nil},
		{"Logger", c.Logger != nil}, {"Workers", c.Workers >= 0}, {"Spare", c.Spare >= 0}, {"Keep", c.Keep >= 0},
	} {
		if !field.ok {
			names = append(names, field.name)
		}
	}
	return names
}

// ErrEnded is the error of cancelling a job that has ended.
var ErrEnded = errors.New("the job has ended")

// Queue runs the jobs of a store. It is safe for concurrent use.
type Queue struct {
	cfg  Config
	wake chan struct{} // there may be a job to run
	news chan struct{} // there is a callback to make
	// callbacks is the store, if there are queues.
	callbacks CallbackTaker
	telling   *bounds.Pool   // a place for each callback that is being made
	busy      sync.WaitGroup // loops, jobs and callbacks
	callers   callersOf

	mu       sync.Mutex
	stop     context.CancelFunc // nil before Start and Stop
	running  map[string]context.CancelFunc
	atWork   map[string]int // jobs that run, by tenant
	waiting  map[string]int // callbacks that wait for a place, by tenant
	adopting map[string]bool
	// unsettled are jobs that end in the place of executions that may be stored, by ID.
	unsettled map[string]execution.Job
	// looked is when executions began that unstored need not look at again.
	looked time.Time
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
	if wrong := cfg.wrong(); len(wrong) > 0 {
		return nil, fmt.Errorf("jobs: these are missing or negative: %s", strings.Join(wrong, ", "))
	}
	taker, _ := cfg.Store.(CallbackTaker)
	if cfg.Queues.set() {
		if taker == nil {
			return nil, errors.New("jobs: queues need a store that finds a callback by its job")
		}
		cfg.Store = &announcing{cfg.Store, cfg.Queues, cfg.Now, cfg.Logger}
	}
	if cfg.Work != nil {
		cfg.Store = &counting{cfg.Store, cfg.Work}
	}
	return &Queue{
		callbacks: taker,
		cfg:       cfg, wake: make(chan struct{}, 1), news: make(chan struct{}, 1),
		telling: bounds.NewPool(bounds.Of(bounds.Callbacks).Most),
		running: map[string]context.CancelFunc{}, atWork: map[string]int{}, waiting: map[string]int{},
		adopting: map[string]bool{}, unsettled: map[string]execution.Job{}, callers: callersOf{jobs: map[string]*awaited{}},
	}, nil
}

// Submit stores a job. If the error is nil, the job will have a result. The error is execution.ErrFull if there are
// too many.
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

// change changes the state of a stored job, and has its callback made if that is due. If fn returns waits.ErrApart, it
// is called again with the whole job.
func change(ctx context.Context, q *Queue, id string, fn func(*execution.Job) error) (execution.Job, error) {
	job, err := q.cfg.Store.ChangeJobState(ctx, id, fn)
	if errors.Is(err, waits.ErrApart) {
		job, err = q.cfg.Store.ChangeJob(ctx, id, fn)
	}
	return job, told(q, job, err)
}

// told returns err. It has the callback of a job made that was changed without an error, if it is due.
func told(q *Queue, job execution.Job, err error) error {
	if err == nil && pending(job) {
		select {
		case q.news <- struct{}{}:
		default:
		}
	}
	return err
}

// Job returns a job, or execution.ErrNotFound.
func (q *Queue) Job(ctx context.Context, id string) (execution.Job, error) {
	return q.cfg.Store.Job(ctx, id)
}

// patience is how long Cancel waits for a guest to stop.
const patience = 5 * time.Second

// Cancel ends a job. A job that has not begun never begins: began is false, record is called, and the job's result is
// the given one. A job that runs is stopped, wherever it runs; the job returned is its latest state, usually with its
// end. The error is ErrEnded if the job had ended before.
func (q *Queue) Cancel(
	ctx context.Context, id string, result execution.Result, record func(context.Context) error, by execution.Caller,
) (job execution.Job, began bool, err error) {
	job, err = change(ctx, q, id, func(j *execution.Job) error {
		switch began = true; {
		case j.Ended():
			return ErrEnded
		case j.Status == execution.Paused:
			return q.endPaused(j, execution.Cancelled, endedByCaller(j), by)
		case j.Status == execution.Queued && j.Wait != nil: // the next segment has not begun
			j.Status = execution.Paused
			return q.endPaused(j, execution.Cancelled, "the execution was cancelled while it was paused", by)
		}
		began, j.Cancel = j.Status != execution.Queued, true
		return nil
	})
	switch {
	case err != nil:
		return job, began, err
	case job.Status == execution.Paused:
		job, err = q.advance(ctx, job)
		return job, true, err
	case !began:
		job, err = endQueued(ctx, q, job, result, record)
		return job, false, err
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
		if now, err := q.cfg.Store.JobState(ctx, id); err == nil {
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

// endQueued records the end of a cancelled job that has not begun, and ends the job. If the process dies before that,
// or the job cannot be recorded, the process that claims the job ends it.
func endQueued(
	ctx context.Context, q *Queue, job execution.Job, result execution.Result, record func(context.Context) error,
) (execution.Job, error) {
	if err := record(ctx); err != nil {
		return job, err
	}
	job, err := change(context.WithoutCancel(ctx), q, job.ID, func(j *execution.Job) error {
		if j.Status != execution.Queued {
			return errTaken
		}
		return q.end(j, result)
	})
	if errors.Is(err, errTaken) {
		return q.cfg.Store.JobState(ctx, job.ID)
	}
	return job, err
}

// end stores a result in a job and makes its callback due.
func (q *Queue) end(j *execution.Job, result execution.Result) error {
	result.ID = j.ID
	body, err := api.Encode(result)
	if err != nil {
		return fmt.Errorf("keep the result of a job: %w", err)
	}
	now := q.cfg.Now().UTC()
	j.Status, j.Result, j.EndedAt, j.Owner, j.Cancel = result.Status, body, now, "", false
	callBack(j, now)
	return nil
}

// callBack makes the callback of a job due.
func callBack(j *execution.Job, now time.Time) {
	if j.Callback != nil {
		j.Callback.State, j.Callback.Next, j.Callback.Attempts = execution.CallbackPending, now.UTC(), 0
	}
}
