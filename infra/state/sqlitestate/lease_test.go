package sqlitestate_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// An orphan says for how long its process has certainly begun nothing: since this one first found it gone, without the
// lease.
func TestAgesOfOrphans(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	open := func() *sqlitestate.Store {
		s, err := sqlitestate.Open(dir, sqlitestate.Config{Lease: 3 * time.Hour, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	heir, dead := open(), open()
	t.Cleanup(func() { shut(t, heir) })
	const id = "exec_0000000001"
	if err := dead.Submit(t.Context(), execution.Job{ID: id, Tenant: "t", Status: execution.Queued}); err != nil {
		t.Fatal(err)
	}
	job, err := dead.Take(t.Context(), now(), id)
	if err != nil {
		t.Fatal(err)
	}
	if until := dead.StartBefore(job.Owner).Sub(now()); until < time.Hour || until > 2*time.Hour {
		t.Errorf("it may begin for %v, want two thirds of the lease", until)
	}
	shut(t, dead)
	for _, step := range []struct {
		pass, least, most time.Duration
	}{{0, 0, 0}, {2 * time.Hour, 0, 0}, {3 * time.Hour, 2 * time.Hour, 3 * time.Hour}} {
		ahead.Add(int64(step.pass))
		left, err := heir.Orphans(t.Context())
		if err != nil || len(left) != 1 {
			t.Fatalf("%d orphans, %v", len(left), err)
		}
		if left[0].Idle < step.least || left[0].Idle > step.most {
			t.Errorf("its process has begun none for %v, want %v to %v", left[0].Idle, step.least, step.most)
		}
	}
}
