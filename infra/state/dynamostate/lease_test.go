package dynamostate_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
)

// leased returns a process whose functions may begin for three times as long as makes it dead.
func (f *fleet) leased(t *testing.T) *dynamostate.Store {
	t.Helper()
	s, err := dynamostate.Open(t.Context(), f.url, dynamostate.Config{DeadAfter: deadAfter, Lease: 3 * deadAfter,
		Now: f.Now, Access: dynamostate.Access{Endpoint: server.Endpoint,
			Objects: s3objects.Access{Endpoint: bucket.Endpoint}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pass lets time pass, in which a process writes its heartbeats.
func (f *fleet) pass(t *testing.T, by time.Duration, alive *dynamostate.Store) {
	t.Helper()
	for ; by > 0; by -= deadAfter / 4 {
		f.mu.Lock()
		f.ahead += deadAfter / 4
		f.mu.Unlock()
		if err := alive.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// An orphan says for how long its process has certainly begun nothing: since its heartbeat stayed the same, without the
// lease. A process that closes while it runs a job leaves its heartbeat.
func TestAgesOfOrphans(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	heir, dead := f.leased(t), f.leased(t)
	t.Cleanup(func() {
		if err := heir.Close(); err != nil {
			t.Error(err)
		}
	})
	const id = "exec_0000000001"
	if err := dead.Submit(t.Context(), execution.Job{ID: id, Tenant: "t", Status: execution.Queued}); err != nil {
		t.Fatal(err)
	}
	job, err := dead.Take(t.Context(), f.Now(), id)
	if err != nil {
		t.Fatal(err)
	}
	if until := dead.StartBefore(job.Owner).Sub(f.Now()); until < deadAfter || until > 2*deadAfter {
		t.Errorf("it may begin for %v, want two thirds of the lease", until)
	}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	f.pass(t, deadAfter/4, heir) // it sees the last heartbeat
	for _, step := range []struct {
		pass, least, most time.Duration
		orphan            bool
	}{{0, 0, 0, false}, {2 * deadAfter, 0, 0, true}, {3 * deadAfter, 2 * deadAfter, 3 * deadAfter, true}} {
		f.pass(t, step.pass, heir)
		left, err := heir.Orphans(t.Context())
		if err != nil || (len(left) == 1) != step.orphan {
			t.Fatalf("%d orphans, %v", len(left), err)
		}
		if step.orphan && (left[0].Idle < step.least || left[0].Idle > step.most) {
			t.Errorf("its process has begun none for %v, want %v to %v", left[0].Idle, step.least, step.most)
		}
	}
}

// A process that was suspended for so long that it counted as dead begins none of the jobs that it had claimed.
func TestSuspendedProcess(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	s := f.leased(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	take := func(id string) execution.Job {
		t.Helper()
		if err := s.Submit(t.Context(), execution.Job{ID: id, Tenant: "t", Status: execution.Queued}); err != nil {
			t.Fatal(err)
		}
		job, err := s.Take(t.Context(), f.Now(), id)
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	before := take("exec_0000000001")
	f.pass(t, deadAfter, s)
	if until := s.StartBefore(before.Owner); !until.After(f.Now()) {
		t.Errorf("it may begin until %v while heartbeats arrive", until)
	}
	f.mu.Lock()
	f.ahead += 2 * deadAfter
	f.mu.Unlock()
	if until := s.StartBefore(before.Owner); until.After(f.Now()) {
		t.Errorf("it may begin until %v, and its lease is over", until)
	}
	f.pass(t, deadAfter/4, s)
	if until := s.StartBefore(before.Owner); until.After(f.Now()) {
		t.Errorf("it may begin until %v, and others may have taken it over", until)
	}
	if after := take("exec_0000000002"); !s.StartBefore(after.Owner).After(f.Now()) {
		t.Error("what it claims afterwards may not begin")
	}
}
