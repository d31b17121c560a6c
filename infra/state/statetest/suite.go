package statetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Store is one process's view of a state.
type Store interface {
	Submit(ctx context.Context, job execution.Job) error
	Job(ctx context.Context, id string) (execution.Job, error)
	JobState(ctx context.Context, id string) (execution.Job, error)
	JobStatus(ctx context.Context, id string) (execution.Status, error)
	ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)
	ChangeJobState(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)
	Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error)
	ClaimSome(ctx context.Context, now time.Time, after string, passOver []string, most int) ([]execution.Job, error)
	Take(ctx context.Context, now time.Time, id string) (execution.Job, error)
	Cancelled(ctx context.Context) ([]string, error)
	Callbacks(ctx context.Context, now, again time.Time, limit int) ([]execution.Job, error)
	Gone(ctx context.Context, tenant, url string, now, until time.Time) (bool, error)
	Orphans(ctx context.Context) ([]execution.Job, error)
	StartBefore(owner string) time.Time
	Prune(ctx context.Context, now, before time.Time) error
	Due(ctx context.Context, now time.Time, limit int) ([]execution.SavedFunction, error)
	Change(ctx context.Context, tenant, name string,
		fn func(*execution.SavedFunction) (*execution.FunctionContent, error)) error
	Delete(ctx context.Context, tenant, name string) error
	DueWaits(ctx context.Context, now time.Time, limit int) ([]execution.Job, error)
	Paused(ctx context.Context, tenant, subject, after string, limit int) ([]execution.Job, error)
	Jobs(ctx context.Context, tenant, subject string, status execution.Status, after string, limit int) (
		[]execution.Job, string, error)
}

// A State is a state that is empty at first.
type State interface {
	// Process returns the state for another process, which accepts at most 50 jobs of a tenant.
	Process(t *testing.T) Store
	// Kill ends a process at once and waits until others may take its work over.
	Kill(t *testing.T, s Store)
	// Now is the clock of all processes.
	Now() time.Time
}

// TestPaused runs the tests of paused jobs, which not every store keeps; empty creates a new state.
func TestPaused(t *testing.T, empty func(t *testing.T) State) {
	run(t, empty, map[string]func(t *testing.T, s State){
		"paused and resumed": pausedAndResumed,
		"due":                dueWaits,
		"listed":             listed,
		"answered once":      answeredOnce,
		"states of waits":    waitStates,
		"asides of waits":    waitAsides,
		"sessions":           sessions,
	})
}

// Test runs the suite; empty creates a new state.
func Test(t *testing.T, empty func(t *testing.T) State) {
	run(t, empty, map[string]func(t *testing.T, s State){
		"claimed once":        claimedOnce,
		"in turn":             inTurn,
		"several in turn":     severalInTurn,
		"later":               later,
		"taken by its id":     taken,
		"submitted again":     submittedAgain,
		"full":                full,
		"changes add up":      changesAddUp,
		"orphans":             orphans,
		"an orphan ends once": orphanEndsOnce,
		"cancelled":           cancelled,
		"callbacks":           callbacks,
		"gone":                gone,
		"pruned":              pruned,
		"schedules":           schedules,
		"schedules that move": movedSchedules,
		"not there":           notThere,
		"backlog":             backlog,
		"jobs are listed":     jobsListed,
		"states":              states,
		"long sources":        longSources,
	})
}

func run(t *testing.T, empty func(t *testing.T) State, tests map[string]func(t *testing.T, s State)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, empty(t))
		})
	}
}

func id(n int) string { return fmt.Sprintf("exec_%010d", n) }

func submit(t *testing.T, s Store, job execution.Job) {
	t.Helper()
	job.Status = execution.Queued
	if err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}

// end returns the change that ends a job with its result.
func end(now time.Time) func(*execution.Job) error {
	return func(j *execution.Job) error {
		j.Status, j.Owner, j.EndedAt, j.Result = execution.Completed, "", now, []byte(`{"status":"completed"}`)
		if j.Callback != nil {
			j.Callback.State, j.Callback.Next = execution.CallbackPending, now
		}
		return nil
	}
}

func change(t *testing.T, s Store, id string, fn func(*execution.Job) error) execution.Job {
	t.Helper()
	job, err := s.ChangeJob(t.Context(), id, fn)
	if err != nil {
		t.Fatal(err)
	}
	return job
}
