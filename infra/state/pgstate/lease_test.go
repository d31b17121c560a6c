package pgstate_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/pgstate"
)

// An orphan says for how long its process has certainly begun nothing, by the clock of the database: the age of the
// last heartbeat without the lease. A process that closes while it runs a job leaves its heartbeat.
func TestAgesOfOrphans(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	open := func() *pgstate.Store {
		s, err := pgstate.Open(t.Context(), f.url, pgstate.Config{DeadAfter: time.Hour, Lease: 3 * time.Hour,
			Settle: time.Nanosecond, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	heir, dead := open(), open()
	t.Cleanup(func() {
		if err := heir.Close(); err != nil {
			t.Error(err)
		}
	})
	const id = "exec_0000000001"
	if err := dead.Submit(t.Context(), execution.Job{ID: id, Tenant: "t", Status: execution.Queued}); err != nil {
		t.Fatal(err)
	}
	job, err := dead.Take(t.Context(), time.Now(), id)
	if err != nil {
		t.Fatal(err)
	}
	if until := time.Until(dead.StartBefore(job.Owner)); until < time.Hour || until > 2*time.Hour {
		t.Errorf("it may begin for %v, want two thirds of the lease", until)
	}
	if until := time.Until(heir.StartBefore(job.Owner)); until > 0 {
		t.Errorf("another process may begin it for %v", until)
	}
	process := dead.ID()
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		hours       int // by which the heartbeat grows older
		orphan      bool
		least, most time.Duration
	}{{0, false, 0, 0}, {2, true, 0, 0}, {3, true, 2 * time.Hour, 3 * time.Hour}} {
		server.Exec(t, f.url, "UPDATE airlock.processes SET seen = seen - make_interval(hours => $2) WHERE id = $1", process,
			step.hours)
		left, err := heir.Orphans(t.Context())
		if err != nil || (len(left) == 1) != step.orphan {
			t.Fatalf("%d orphans, %v", len(left), err)
		}
		if step.orphan && (left[0].Idle < step.least || left[0].Idle > step.most) {
			t.Errorf("its process has begun none for %v, want %v to %v", left[0].Idle, step.least, step.most)
		}
	}
}
