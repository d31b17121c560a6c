package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
)

// away is a store with one job that nothing can change before a time.
type away struct {
	jobs.Store
	until time.Time

	mu     sync.Mutex
	job    execution.Job
	failed int
	// slow is how long it takes to read the job, and looks is how often that was begun.
	slow  time.Duration
	looks int
}

func (s *away) ClaimSome(context.Context, time.Time, string, []string, int) ([]execution.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job.Status != execution.Queued {
		return nil, execution.ErrNotFound
	}
	s.job.Status = execution.Running
	return []execution.Job{s.job}, nil
}

func (s *away) ChangeJob(
	_ context.Context, _ string, fn func(*execution.Job) error,
) (execution.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.until) {
		s.failed++
		return s.job, errors.New("the disk is full")
	}
	job := s.job
	if err := fn(&job); err != nil {
		return s.job, err
	}
	s.job = job
	return job, nil
}

func (s *away) Job(ctx context.Context, _ string) (execution.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	if s.slow > 0 {
		pause := time.NewTimer(s.slow)
		defer pause.Stop()
		select {
		case <-ctx.Done():
			return s.job, ctx.Err()
		case <-pause.C:
		}
	}
	return s.job, nil
}

func (*away) Cancelled(context.Context) ([]string, error) { return nil, nil }

func (*away) DueWaits(context.Context, time.Time, int) ([]execution.Job, error) { return nil, nil }

func (*away) Orphans(context.Context) ([]execution.Job, error) { return nil, nil }

func (*away) Callbacks(context.Context, time.Time, time.Time, int) ([]execution.Job, error) {
	return nil, nil
}

// The store fails for minutes. The job that ended meanwhile has its result when the store is back, without a
// restart.
func TestResultOutlastsAFailingStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &away{until: time.Now().Add(5 * time.Minute), job: execution.Job{ID: id(1), Status: execution.Queued}}
		runner := &script{run: func(context.Context, execution.Job) (execution.Result, time.Duration) {
			return execution.Result{Status: execution.Completed}, 0
		}}
		q, err := jobs.New(jobs.Config{Store: store, Runner: runner, Now: time.Now,
			Random: func() float64 { return 0.5 }, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		q.Start(t.Context())
		<-time.After(8 * time.Minute)
		synctest.Wait()
		store.mu.Lock()
		if store.job.Status != execution.Completed {
			t.Errorf("the job is %s after %d attempts", store.job.Status, store.failed)
		}
		store.mu.Unlock()
		if err := q.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Whoever waits for an execution looks at it often at first, and rarely later. If the time is over, also while the
// store is slow, the job is as it was: the caller's change has been made.
func TestAwaitLooksMoreRarely(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]time.Duration{"fast": 0, "slow": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &away{job: execution.Job{ID: id(1), Status: execution.Running}, slow: slow}
				q, err := jobs.New(jobs.Config{Store: store, Runner: &script{}, Now: time.Now,
					Random: func() float64 { return 0.5 }, Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				job, err := q.Await(t.Context(), store.job, 30*time.Second)
				if err != nil || job.Status != execution.Running || time.Since(began) != 30*time.Second {
					t.Errorf("%s after %v: %v", job.Status, time.Since(began), err)
				}
				if store.looks > 100 {
					t.Errorf("it looked %d times", store.looks)
				}
			})
		})
	}
}

// Callers who wait for one execution share the looks at it. If the caller who looks gives up, another one looks. Who
// joins while a look is made gets what a later look finds.
func TestAwaitSharesLooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &away{job: execution.Job{ID: id(1), Status: execution.Running}}
		q, err := jobs.New(jobs.Config{Store: store, Runner: &script{}, Now: time.Now,
			Random: func() float64 { return 0.5 }, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		running := store.job
		wait := func(all *sync.WaitGroup, patience time.Duration, want execution.Status) {
			all.Go(func() {
				if job, err := q.Await(t.Context(), running, patience); err != nil || job.Status != want {
					t.Errorf("a caller with a patience of %v got %s, %v; want %s", patience, job.Status, err, want)
				}
			})
		}
		set := func(status execution.Status, slow time.Duration) {
			store.mu.Lock()
			defer store.mu.Unlock()
			store.job.Status, store.slow = status, slow
		}
		var hasty, patient sync.WaitGroup
		for range 50 {
			wait(&hasty, 5*time.Second, execution.Running)
			wait(&patient, time.Minute, execution.Paused)
			<-time.After(10 * time.Millisecond)
		}
		hasty.Wait()
		<-time.After(5 * time.Second)
		store.mu.Lock()
		looks := store.looks
		store.mu.Unlock()
		if looks > 150 {
			t.Errorf("100 callers looked %d times in ten seconds", looks)
		}
		set(execution.Paused, 500*time.Millisecond)
		patient.Wait()

		var first, second sync.WaitGroup
		wait(&first, time.Minute, execution.Paused)
		<-time.After(100 * time.Millisecond) // the look has begun
		wait(&second, time.Minute, execution.Completed)
		first.Wait()
		set(execution.Completed, 0)
		second.Wait()
	})
}
