package jobs_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// orphaned is a store with an orphan whose process has been silent for a time.
type orphaned struct {
	jobs.Store
	idle time.Duration
}

func (o *orphaned) Orphans(ctx context.Context) ([]execution.Job, error) {
	left, err := o.Store.Orphans(ctx)
	for i := range left {
		left[i].Idle = o.idle
	}
	return left, err
}

// recorder is a runner whose executions may be recorded.
type recorder struct {
	script
	recorded bool
}

func (r *recorder) Recorded(_ context.Context, job execution.Job) (execution.Result, bool, error) {
	return execution.Result{ID: job.ID, Status: execution.Completed}, r.recorded, nil
}

// An orphan whose function may still run ends by its record at once. Without a record, it runs again when its function
// must have ended: after the time of that job, and of no other.
func TestFunctionsThatOutliveTheirProcess(t *testing.T) {
	t.Parallel()
	const longest = 5 * time.Second
	for _, c := range []struct {
		name     string
		idle     time.Duration
		recorded bool
		outlives bool
		ran      int32
		want     execution.Status
	}{
		{"its function may run", longest - 1, false, true, 0, execution.Running},
		{"its function has recorded", 0, true, true, 0, execution.Completed},
		{"its function has ended", longest, false, true, 1, execution.Completed},
		{"it never began", execution.NeverBegan, false, true, 1, execution.Completed},
		{"its function died with the process", 0, false, false, 1, execution.Completed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			dead, err := sqlitestate.Open(dir, sqlitestate.Config{})
			if err != nil {
				t.Fatal(err)
			}
			job := execution.Job{ID: id(1), Tenant: "t", Status: execution.Queued}
			if err := dead.Submit(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			if _, err := dead.Take(t.Context(), time.Now(), id(1)); err != nil {
				t.Fatal(err)
			}
			if err := dead.Close(); err != nil {
				t.Fatal(err)
			}
			heir, err := sqlitestate.Open(dir, sqlitestate.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := heir.Close(); err != nil {
					t.Error(err)
				}
			})
			var ran atomic.Int32
			runner := &recorder{recorded: c.recorded}
			runner.run = func(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
				ran.Add(1)
				return done(ctx, job)
			}
			cfg := jobs.Config{Store: &orphaned{heir, c.idle}, Runner: runner, Now: time.Now,
				Random: func() float64 { return 0.5 }, Logger: slog.New(slog.DiscardHandler)}
			if c.outlives {
				cfg.Functions = jobs.Functions{
					Longest:   func(execution.Job) time.Duration { return longest },
					HasRecord: func(context.Context, execution.Job) (bool, error) { return c.recorded, nil },
				}
			}
			q, err := jobs.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.RunDue(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			left, err := q.Job(t.Context(), id(1))
			if err != nil {
				t.Fatal(err)
			}
			if left.Status != c.want || ran.Load() != c.ran {
				t.Errorf("it is %s and ran %d times, want %s and %d", left.Status, ran.Load(), c.want, c.ran)
			}
		})
	}
}
