package sqsqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/sqsqueue"
)

// A world holds the effects of jobs: runs and callbacks.
type world struct {
	mu         sync.Mutex
	runs, told map[string]int
	refused    map[string]bool // jobs whose receiver refused the first call
	hold       chan struct{}   // if set, jobs do not end before it is closed
	held       chan string     // the jobs that wait for hold
}

func (w *world) Run(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
	w.mu.Lock()
	hold := w.hold
	w.mu.Unlock()
	if hold != nil {
		w.held <- job.ID
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return execution.Result{ID: job.ID, Status: execution.Cancelled}, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[job.ID]++
	return execution.Result{ID: job.ID, Status: execution.Completed}, 0
}

func (w *world) Recorded(_ context.Context, job execution.Job) (execution.Result, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return execution.Result{ID: job.ID, Status: execution.Completed}, w.runs[job.ID] > 0, nil
}

func (w *world) Send(_ context.Context, job execution.Job) jobs.Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.refused[job.ID] {
		w.refused[job.ID] = true
		return jobs.Receipt{Problem: "the receiver is away"}
	}
	w.told[job.ID]++
	return jobs.Receipt{Delivered: true}
}

func newWorld() *world {
	return &world{runs: map[string]int{}, told: map[string]int{}, refused: map[string]bool{}, held: make(chan string, 100)}
}

// A fleet is a table with two queues.
type fleet struct {
	state           string
	jobs, callbacks string
	deadJobs        string
	now             func() time.Time // the clock of its gateways
}

func newFleet(t *testing.T) fleet {
	t.Helper()
	if server == nil || table == nil {
		t.Skip("make test-dynamo installs fauxqs and dynalite")
	}
	f := fleet{state: "dynamodb://" + table.Table(t) + "?contents=s3://" + bucket.Bucket(t) + "/state", now: time.Now}
	f.jobs, f.deadJobs = server.Queue(t, 3)
	f.callbacks, _ = server.Queue(t, 100)
	return f
}

// gateway returns the jobs of another gateway.
func (f fleet) gateway(t *testing.T, w *world, deadAfter time.Duration) (*jobs.Queue, *dynamostate.Store) {
	t.Helper()
	store, err := dynamostate.Open(t.Context(), f.state, dynamostate.Config{DeadAfter: deadAfter,
		Access: dynamostate.Access{Endpoint: table.Endpoint, Objects: s3objects.Access{Endpoint: bucket.Endpoint}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	cfg := sqsqueue.Config{Invisible: 2 * time.Second}
	q, err := jobs.New(jobs.Config{Store: store, Runner: w, Workers: 4, Spare: 2, Now: f.now,
		Random: func() float64 { return 1 }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Queues: jobs.Queues{Jobs: open(t, cfg, f.jobs), Callbacks: open(t, cfg, f.callbacks)}})
	if err != nil {
		t.Fatal(err)
	}
	return q, store
}

// start starts a gateway until the end of the test.
func start(t *testing.T, q *jobs.Queue) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	q.Start(ctx)
	t.Cleanup(func() {
		stop()
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// submit submits jobs of several tenants, some of them for later, each with a callback.
func submit(t *testing.T, q *jobs.Queue, n int) (ids []string) {
	t.Helper()
	for i := range n {
		job := execution.Job{ID: fmt.Sprintf("exec_%010d", i), Tenant: fmt.Sprint("tenant", i%3), ReceivedAt: time.Now(),
			Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}}
		if i%4 == 0 {
			job.NotBefore = time.Now().Add(time.Second)
		}
		if err := q.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, job.ID)
	}
	return ids
}

// delivered reports whether the callbacks of all jobs have been delivered.
func delivered(t *testing.T, s *dynamostate.Store, ids []string) bool {
	t.Helper()
	for _, id := range ids {
		job, err := s.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if job.Status != execution.Completed || job.Callback.State != execution.CallbackDelivered {
			return false
		}
	}
	return true
}

// once checks that every job ran once, and that its receiver was called once.
func (w *world) once(t *testing.T, ids []string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if w.runs[id] != 1 || w.told[id] != 1 {
			t.Errorf("%s ran %d times, and its callback was delivered %d times", id, w.runs[id], w.told[id])
		}
	}
}

// Gateways are woken for jobs, for jobs with a later start, for callbacks, and for callbacks that were refused at
// first, long before they would poll.
func TestFleet(t *testing.T) {
	t.Parallel()
	f, w := newFleet(t), newWorld()
	a, store := f.gateway(t, w, 0)
	b, _ := f.gateway(t, w, 0)
	began := time.Now()
	ids := submit(t, a, 24)
	start(t, a)
	start(t, b)
	until(t, "all callbacks are delivered", func() bool { return delivered(t, store, ids) })
	if took := time.Since(began); took > 45*time.Second {
		t.Errorf("it took %v: nobody was woken", took)
	}
	w.once(t, ids)
	until(t, "the queues are empty", func() bool {
		a, b, c := count(t, f.jobs)
		d, e, g := count(t, f.callbacks)
		return a+b+c+d+e+g == 0
	})
}

// Another gateway is woken for the jobs of a gateway that dies, and runs them.
func TestGatewayDies(t *testing.T) {
	t.Parallel()
	f, w := newFleet(t), newWorld()
	const deadAfter = 2 * time.Second
	dying, lost := f.gateway(t, w, deadAfter)
	w.hold = make(chan struct{})
	ids := submit(t, dying, 3)
	ctx, kill := context.WithCancel(context.Background())
	dying.Start(ctx)
	<-w.held // a job runs
	w.mu.Lock()
	w.hold = nil
	w.mu.Unlock()
	heir, store := f.gateway(t, w, deadAfter)
	start(t, heir)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dying.Stop(over); !errors.Is(err, context.Canceled) { // it claims nothing more, and its jobs do not end
		t.Fatal(err)
	}
	if err := lost.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "the jobs of the dead have ended", func() bool { return delivered(t, store, ids) })
	kill()
	if err := dying.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	w.once(t, ids)
}

// Lost messages delay jobs; repeated and unknown ones have no effect.
func TestMessagesAreOnlyWakes(t *testing.T) {
	t.Parallel()
	f, w := newFleet(t), newWorld()
	var stopped atomic.Pointer[time.Time]
	f.now = func() time.Time {
		if at := stopped.Load(); at != nil {
			return *at
		}
		return time.Now()
	}
	q, store := f.gateway(t, w, 0)
	ids := submit(t, q, 1)
	for _, id := range []string{ids[0], ids[0], "exec_0000009999"} {
		if err := q.RunDue(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	ready := func() bool {
		job, err := store.Job(t.Context(), ids[0])
		return err == nil && !job.NotBefore.After(time.Now())
	}
	until(t, "the job may begin", ready)
	at := time.Now()
	stopped.Store(&at) // the delay of the callback does not end meanwhile
	for range 3 {
		if err := q.RunDue(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
	}
	if job, err := store.Job(t.Context(), ids[0]); err != nil || job.Status != execution.Completed ||
		job.Callback.Attempts != 1 {
		t.Errorf("%s, %d attempts, %v", job.Status, job.Callback.Attempts, err)
	}
	if w.runs[ids[0]] != 1 || w.told[ids[0]] != 0 {
		t.Errorf("it ran %d times, and its callback was delivered %d times", w.runs[ids[0]], w.told[ids[0]])
	}
	if _, err := store.TakeCallback(t.Context(), time.Now(), time.Now(), "../x"); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	// Without any message, polling finds the rest.
	stopped.Store(nil)
	until(t, "the callback is delivered", func() bool {
		if err := q.RunDue(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		return delivered(t, store, ids)
	})
}
