package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// script is a runner whose behaviour a test sets.
type script struct {
	run  func(ctx context.Context, job execution.Job) (execution.Result, time.Duration)
	send func(job execution.Job) jobs.Receipt
}

func (s *script) Run(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
	return s.run(ctx, job)
}

func (*script) Recorded(context.Context, execution.Job) (execution.Result, bool, error) {
	return execution.Result{}, false, nil
}

func (s *script) Send(_ context.Context, job execution.Job) jobs.Receipt { return s.send(job) }

// clock is ahead of the time by what a test adds.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// stores are the states that a queue works on. All must behave alike.
var stores = map[string]func(t *testing.T, c *clock) (jobs.Store, func() error){
	"on disk": func(t *testing.T, _ *clock) (jobs.Store, func() error) {
		store, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{MaxJobsPerTenant: 50})
		if err != nil {
			t.Fatal(err)
		}
		return store, store.Close
	},
	"in a database": func(t *testing.T, _ *clock) (jobs.Store, func() error) {
		store, err := pgstate.Open(t.Context(), postgres(t).Database(t), pgstate.Config{MaxJobsPerTenant: 50})
		if err != nil {
			t.Fatal(err)
		}
		return store, store.Close
	},
}

// onEach runs a test on each of the stores.
func onEach(t *testing.T, test func(t *testing.T, open opener)) {
	t.Parallel()
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(s *script, workers int) (*jobs.Queue, *clock) {
				c := &clock{}
				kept, shut := store(t, c)
				q, err := jobs.New(
					jobs.Config{
						Store: kept, Runner: s, Workers: workers, Now: c.now, Random: func() float64 { return 0.5 },
						Logger: slog.New(slog.DiscardHandler),
					},
				)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					stopping, cancel := context.WithTimeout(context.Background(), time.Minute) // of a test that has failed
					defer cancel()
					if err := errors.Join(q.Stop(stopping), shut()); err != nil {
						t.Error(err)
					}
				})
				return q, c
			})
		})
	}
}

type opener func(s *script, workers int) (*jobs.Queue, *clock)

func id(n int) string { return fmt.Sprintf("exec_%010d", n) }

// until waits until a job meets a condition.
func until(t *testing.T, q *jobs.Queue, id string, is func(execution.Job) bool) execution.Job {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for {
		job, err := q.Job(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if is(job) {
			return job
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s is still %s, %+v", id, job.Status, job.Callback)
		case <-look.C:
		}
	}
}

func done(_ context.Context, job execution.Job) (execution.Result, time.Duration) {
	return execution.Result{ID: job.ID, Status: execution.Completed}, 0
}

func TestTenantsInTurn(t *testing.T) { onEach(t, tenantsInTurnOn) }

func tenantsInTurnOn(t *testing.T, open opener) {
	began, finish := make(chan string, 100), make(chan struct{})
	q, _ := open(&script{run: func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
		began <- job.Tenant + job.Request.Priority
		<-finish
		return done(ctx, job)
	}}, 4)
	for n := range 20 {
		job := execution.Job{ID: id(n), Tenant: "flood"}
		if n == 19 {
			job.Request.Priority = "high"
		}
		if n%5 == 0 {
			job.Tenant = "small"
		}
		if err := q.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	q.Start(t.Context())
	first := []string{<-began, <-began, <-began, <-began}
	if slices.Sort(first); fmt.Sprint(first) != "[flood floodhigh small small]" {
		t.Errorf("first began %v", first)
	}
	close(finish)
	for n := range 20 {
		until(t, q, id(n), execution.Job.Ended)
	}
}

// The jobs of one tenant, however long they take, leave workers for a tenant that runs none.
func TestFloodLeavesWorkers(t *testing.T) { onEach(t, floodHoldsNotAllWorkersOn) }

func floodHoldsNotAllWorkersOn(t *testing.T, open opener) {
	began, finish := make(chan string, 100), make(chan struct{})
	q, _ := open(&script{run: func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
		began <- job.Tenant
		<-finish
		return done(ctx, job)
	}}, 2)
	submit := func(n int, tenant string) {
		t.Helper()
		if err := q.Submit(t.Context(), execution.Job{ID: id(n), Tenant: tenant}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 40 {
		submit(n, "flood")
	}
	q.Start(t.Context())
	for range 2 {
		if tenant := <-began; tenant != "flood" {
			t.Fatalf("%s began", tenant)
		}
	}
	for n, tenant := range []string{"a", "b", "c"} {
		submit(100+2*n, tenant)
		submit(101+2*n, tenant) // its second job waits for a worker that is not reserved
		if got := <-began; got != tenant {
			t.Fatalf("%s began, and not %s", got, tenant)
		}
	}
	for n, tenant := range []string{"flood", "flood", "a", "b", "c"} {
		if job, err := q.Job(t.Context(), id([]int{2, 3, 101, 103, 105}[n])); err != nil || job.Status != execution.Queued {
			t.Errorf("%s: %s %v", tenant, job.Status, err)
		}
	}
	close(finish)
	for _, n := range []int{0, 39, 100, 101, 102, 103, 104, 105} {
		until(t, q, id(n), execution.Job.Ended)
	}
}

func TestFull(t *testing.T) { onEach(t, fullOn) }

func fullOn(t *testing.T, open opener) {
	q, _ := open(&script{run: done}, 1)
	for n := range 50 {
		if err := q.Submit(t.Context(), execution.Job{ID: id(n), Tenant: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Submit(t.Context(), execution.Job{ID: id(50), Tenant: "a"}); !errors.Is(err, execution.ErrFull) {
		t.Errorf("the 51st: %v", err)
	}
	if err := q.Submit(t.Context(), execution.Job{ID: id(51), Tenant: "b"}); err != nil {
		t.Errorf("another tenant's: %v", err)
	}
}

func TestCancel(t *testing.T) { onEach(t, cancelOn) }

func recorded(context.Context) error { return nil }

func cancelOn(t *testing.T, open opener) {
	began := make(chan struct{}, 1)
	q, _ := open(&script{run: func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
		began <- struct{}{}
		<-ctx.Done()
		return execution.Result{ID: job.ID, Status: execution.Cancelled}, 0
	}, send: func(execution.Job) jobs.Receipt { return jobs.Receipt{Delivered: true} }}, 1)
	for n := range 2 {
		job := execution.Job{
			ID: id(n), Tenant: "a", Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting},
		}
		if err := q.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	q.Start(t.Context())
	<-began
	waits := execution.Result{ID: id(1), Status: execution.Cancelled}
	job, ran, err := q.Cancel(t.Context(), id(1), waits, recorded, execution.Caller{})
	if err != nil || ran {
		t.Errorf("one that waits: it ran: %t, %v", ran, err)
	}
	if job.Status != execution.Cancelled || len(job.Result) == 0 {
		t.Errorf("one that waits: %s, with the result %s", job.Status, job.Result)
	}
	job, ran, err = q.Cancel(t.Context(), id(0), waits, recorded, execution.Caller{})
	if err != nil || !ran || job.Status != execution.Cancelled {
		t.Errorf("one that runs: %s %v %v", job.Status, ran, err)
	}
	if _, _, err = q.Cancel(t.Context(), id(0), waits, recorded, execution.Caller{}); !errors.Is(err, jobs.ErrEnded) {
		t.Errorf("one that has ended: %v", err)
	}
	_, _, err = q.Cancel(t.Context(), id(9), waits, recorded, execution.Caller{})
	if !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("none: %v", err)
	}
	for n := range 2 {
		until(t, q, id(n), func(j execution.Job) bool { return j.Callback.State == execution.CallbackDelivered })
	}
}

func TestRetries(t *testing.T) { onEach(t, triedAgainOn) }

func triedAgainOn(t *testing.T, open opener) {
	q, c := open(&script{run: func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
		if job.Attempts < 2 {
			return execution.Result{}, time.Minute
		}
		return done(ctx, job)
	}}, 1)
	if err := q.Submit(t.Context(), execution.Job{ID: id(1), Tenant: "a"}); err != nil {
		t.Fatal(err)
	}
	q.Start(t.Context())
	for n := 1; n <= 2; n++ {
		j := until(t, q, id(1), func(j execution.Job) bool { return j.Attempts == n && j.Status == execution.Queued })
		if wait := j.NotBefore.Sub(c.now()); wait < 50*time.Second || wait > 2*time.Minute {
			t.Errorf("attempt %d: again in %s", n, wait)
		}
		c.add(3 * time.Minute)
	}
	until(t, q, id(1), func(j execution.Job) bool { return j.Status == execution.Completed })
}

func TestCallbacks(t *testing.T) { onEach(t, callbacksOn) }

func callbacksOn(t *testing.T, open opener) {
	var mu sync.Mutex
	attempts := map[string]int{}
	q, c := open(&script{run: done, send: func(job execution.Job) jobs.Receipt {
		mu.Lock()
		defer mu.Unlock()
		attempts[job.ID]++
		switch job.Callback.URL {
		case "http://gone":
			return jobs.Receipt{Gone: true, Problem: "410"}
		case "http://never":
			return jobs.Receipt{Problem: "500"}
		}
		return jobs.Receipt{Delivered: attempts[job.ID] == 3, Problem: "503"}
	}}, 2)
	submit := func(n int, url string) {
		t.Helper()
		if err := q.Submit(
			t.Context(),
			execution.Job{ID: id(n), Tenant: "a", Callback: &execution.Callback{URL: url, State: execution.CallbackWaiting}},
		); err != nil {
			t.Fatal(err)
		}
	}
	state := func(s string) func(execution.Job) bool {
		return func(j execution.Job) bool { return j.Callback.State == s }
	}
	q.Start(t.Context())
	submit(1, "http://third")
	submit(2, "http://gone")
	submit(3, "http://never")
	if j := until(t, q, id(2), state(execution.CallbackDisabled)); j.Callback.Attempts != 1 {
		t.Errorf("%+v", *j.Callback)
	}
	submit(4, "http://gone")
	until(t, q, id(4), state(execution.CallbackDisabled))
	var last time.Duration
	for n := 1; n < jobs.MaxAttempts; n++ {
		j := until(t, q, id(3), func(j execution.Job) bool { return j.Callback.Attempts >= n })
		if n = j.Callback.Attempts; n == jobs.MaxAttempts {
			break // the first ones are close together, for a machine that is busy
		}
		wait := j.Callback.Next.Sub(j.EndedAt)
		if wait < last || j.Callback.Problem != "500" {
			t.Errorf("attempt %d: %+v", n, *j.Callback)
		}
		last = wait
		c.add(j.Callback.Next.Sub(c.now()) + time.Second)
	}
	if j := until(t, q, id(3), state(execution.CallbackFailed)); j.Callback.Attempts != jobs.MaxAttempts {
		t.Errorf("%+v", *j.Callback)
	}
	until(t, q, id(1), state(execution.CallbackDelivered))
	mu.Lock()
	defer mu.Unlock()
	for n, want := range map[int]int{1: 3, 2: 1, 3: jobs.MaxAttempts, 4: 0} {
		if got := attempts[id(n)]; got != want {
			t.Errorf("job %d: %d attempts, want %d", n, got, want)
		}
	}
}

// An error about a configuration names the fields.
func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	_, err := jobs.New(jobs.Config{Runner: &script{}, Now: time.Now, Logger: slog.Default(), Workers: -1})
	if err == nil || err.Error() != "jobs: these are missing or negative: Store, Random, Workers" {
		t.Error(err)
	}
}
