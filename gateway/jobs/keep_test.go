package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/policy/audit"
)

// away is a store with one job that nothing can change before a time.
type away struct {
	jobs.Store
	until time.Time
	// unread is when reading the job works again, and missing says that the job does not exist any more.
	unread  time.Time
	missing bool

	mu     sync.Mutex
	job    execution.Job
	failed int
	// slow is how long it takes to read the job, and looks is how often that was begun.
	slow  time.Duration
	looks int
}

var errFull = errors.New("the disk is full")

func (s *away) ClaimSome(context.Context, time.Time, string, []string, int) ([]execution.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job.Status != execution.Queued {
		return nil, execution.ErrNotFound
	}
	s.job.Status = execution.Running
	return []execution.Job{s.job}, nil
}

func (s *away) Take(ctx context.Context, now time.Time, _ string) (execution.Job, error) {
	claimed, err := s.ClaimSome(ctx, now, "", nil, 1)
	if err != nil {
		return execution.Job{}, err
	}
	return claimed[0], nil
}

func (s *away) ChangeJobState(
	ctx context.Context, id string, fn func(*execution.Job) error,
) (execution.Job, error) {
	return s.ChangeJob(ctx, id, fn)
}

func (s *away) JobState(ctx context.Context, id string) (execution.Job, error) { return s.Job(ctx, id) }

func (s *away) JobStatus(ctx context.Context, id string) (execution.Status, error) {
	job, err := s.Job(ctx, id)
	return job.Status, err
}

func (s *away) ChangeJob(
	_ context.Context, _ string, fn func(*execution.Job) error,
) (execution.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing {
		return s.job, execution.ErrNotFound
	}
	if time.Now().Before(s.until) {
		s.failed++
		return s.job, errFull
	}
	job := s.job
	if err := fn(&job); err != nil {
		return s.job, err
	}
	s.job = job
	return job, nil
}

// Job waits without the mutex: the clock of a test stands still while a goroutine waits for one.
func (s *away) Job(ctx context.Context, _ string) (execution.Job, error) {
	s.mu.Lock()
	s.looks++
	job, slow, unread := s.job, s.slow, time.Now().Before(s.unread)
	s.mu.Unlock()
	if unread {
		return job, errFull
	}
	if slow > 0 {
		pause := time.NewTimer(slow)
		defer pause.Stop()
		select {
		case <-ctx.Done():
			return job, ctx.Err()
		case <-pause.C:
		}
	}
	return job, nil
}

func (s *away) DueWaits(_ context.Context, now time.Time, _ int) ([]execution.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job.Status != execution.Paused || s.job.Wait.DueAt.After(now) {
		return nil, nil
	}
	return []execution.Job{s.job}, nil
}

func (*away) Cancelled(context.Context) ([]string, error) { return nil, nil }

func (*away) Orphans(context.Context) ([]execution.Job, error) { return nil, nil }

func (*away) Callbacks(context.Context, time.Time, time.Time, int) ([]execution.Job, error) {
	return nil, nil
}

func (*away) Prune(context.Context, time.Time, time.Time) error { return nil }

// on returns a queue on a store. Its runner returns a result of each job, and its log is written to log.
func (s *away) on(t *testing.T, result execution.Result, log io.Writer) *jobs.Queue {
	t.Helper()
	keys, err := waits.ParseKeys(waits.NewKey("k"))
	if err != nil {
		t.Fatal(err)
	}
	runner := &script{run: func(context.Context, execution.Job) (execution.Result, time.Duration) { return result, 0 }}
	q, err := jobs.New(jobs.Config{
		Store: s, Runner: runner, Now: time.Now, Random: func() float64 { return 0.5 },
		Logger: slog.New(slog.NewTextHandler(log, nil)),
		Waits: jobs.Waits{
			Keys: keys, MaxAge: func(string) time.Duration { return time.Hour }, NewID: func() string { return id(9) },
			Record: func(_ context.Context, r audit.Record) error {
				_, err := io.WriteString(log, "record "+r.ID+" "+r.Status+"\n")
				return err
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The store fails for minutes. The job that ended meanwhile has its result when the store is back, without a
// restart.
func TestResultOutlastsAFailingStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &away{until: time.Now().Add(5 * time.Minute), job: execution.Job{ID: id(1), Status: execution.Queued}}
		q := store.on(t, execution.Result{Status: execution.Completed}, io.Discard)
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

// A process that is suspended between its turns stops storing results in time to return before its turn ends.
func TestRunDueGivesUpInTime(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]string{"one job": id(1), "all work": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &away{until: time.Now().Add(time.Hour), job: execution.Job{ID: id(1), Status: execution.Queued}}
				q := store.on(t, execution.Result{Status: execution.Completed}, io.Discard)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				if err := q.RunDue(ctx, asked); !errors.Is(err, errFull) {
					t.Error(err)
				}
				if ctx.Err() != nil {
					t.Error("it returned too late")
				}
				if store.failed < 10 {
					t.Errorf("it tried %d times", store.failed)
				}
			})
		})
	}
}

// When the process has to end, a result that waits for the store gets a last chance and is then given up, with a line
// in the log.
func TestResultIsGivenUpAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		until time.Duration
		want  execution.Status
		lines int
	}{
		"the store is away": {time.Hour, execution.Running, 1},
		"the store is back": {2*time.Minute + 1, execution.Completed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &away{until: time.Now().Add(c.until), job: execution.Job{ID: id(1), Status: execution.Queued}}
				log := &strings.Builder{}
				q := store.on(t, execution.Result{Status: execution.Completed}, log)
				running, end := context.WithCancel(t.Context())
				defer end()
				q.Start(running)
				<-time.After(2*time.Minute + 2)
				synctest.Wait()
				ended := time.Now()
				end()
				if err := q.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				if waited := time.Since(ended); waited != 0 {
					t.Errorf("it went on for %v", waited)
				}
				if store.job.Status != c.want {
					t.Errorf("the job is %s", store.job.Status)
				}
				if n := strings.Count(log.String(), `level=WARN msg="the result of a job is not stored`); n != c.lines {
					t.Errorf("%d lines:\n%s", n, log)
				}
			})
		})
	}
}

// A segment whose processes die is repeated at once, then after growing pauses, and ends after ten repetitions.
func TestRepetitionsPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &away{job: execution.Job{ID: id(1), Status: execution.Queued}}
		store.job.Wait = &execution.Wait{Segment: 2}
		q := store.on(t, execution.Result{Status: execution.Queued}, io.Discard)
		var pauses []string
		for store.job.Status == execution.Queued && len(pauses) < 20 {
			store.job.NotBefore = time.Now()
			if err := q.RunDue(t.Context(), id(1)); err != nil {
				t.Fatal(err)
			}
			pauses = append(pauses, time.Until(store.job.NotBefore).String())
		}
		want := []string{"0s", "750ms", "1.5s", "3s", "6s", "12s", "24s", "30s", "30s", "30s", "0s"}
		if diff := cmp.Diff(want, pauses); diff != "" {
			t.Error(diff)
		}
		if store.job.Status != execution.Failed || !strings.Contains(string(store.job.Result), "died too often") {
			t.Errorf("it is %s: %s", store.job.Status, store.job.Result)
		}
	})
}

// A result that can never be stored ends its job as failed. A job that is gone is in the log.
func TestResultThatCannotBeKept(t *testing.T) {
	t.Parallel()
	broken := json.RawMessage("{")
	for name, c := range map[string]struct {
		request execution.Request
		result  execution.Result
		missing bool
		want    execution.Status
		line    string // in the result
		log     string
	}{
		"its value is not JSON": {
			result: execution.Result{Status: execution.Completed, Result: broken}, want: execution.Failed,
			line: "its result cannot be stored", log: `msg="a result cannot be stored" job=` + id(1),
		},
		"its snapshot cannot be bound to its request": {
			request: execution.Request{Input: broken}, want: execution.Failed,
			result: execution.Result{Status: execution.Paused},
			line:   "its result cannot be stored", log: "record " + id(9) + " error",
		},
		"the job is gone": {
			result: execution.Result{Status: execution.Completed}, missing: true, want: execution.Running,
			log: `level=WARN msg="a job does not exist any more, and its result is lost" job=` + id(1),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &away{until: time.Now().Add(time.Minute), missing: c.missing,
					job: execution.Job{ID: id(1), Status: execution.Queued, Request: c.request}}
				log := &strings.Builder{}
				q := store.on(t, c.result, log)
				q.Start(t.Context())
				<-time.After(5 * time.Minute)
				synctest.Wait()
				if err := q.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				if store.job.Status != c.want || !strings.Contains(string(store.job.Result), c.line) {
					t.Errorf("the job is %s: %s", store.job.Status, store.job.Result)
				}
				if n := strings.Count(log.String(), c.log); n != 1 {
					t.Errorf("%d lines with %s:\n%s", n, c.log, log)
				}
			})
		})
	}
}

// A look that fails says nothing about the job: whoever waits gets what a later look finds, or the job as it was.
func TestAwaitOutlastsFailedLooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unread time.Duration
		want   execution.Status
	}{
		"for seconds": {5 * time.Second, execution.Completed},
		"for minutes": {5 * time.Minute, execution.Running},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &away{
					unread: time.Now().Add(c.unread), job: execution.Job{ID: id(1), Status: execution.Completed},
				}
				log := &strings.Builder{}
				q := store.on(t, execution.Result{}, log)
				given := execution.Job{ID: id(1), Status: execution.Running}
				var callers sync.WaitGroup
				for range 3 {
					callers.Go(func() {
						if job, err := q.Await(t.Context(), given, 30*time.Second); err != nil || job.Status != c.want {
							t.Errorf("a caller got %s, %v", job.Status, err)
						}
					})
				}
				callers.Wait()
				if n := strings.Count(log.String(), "cannot be read"); n != 1 {
					t.Errorf("%d lines:\n%s", n, log)
				}
			})
		})
	}
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
				q := store.on(t, execution.Result{}, io.Discard)
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
		q := store.on(t, execution.Result{}, io.Discard)
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
