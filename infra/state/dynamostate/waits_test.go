package dynamostate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/waits"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/policy/audit"
)

// A waiter runs executions that pause once, for an approval. It counts the records.
type waiter struct {
	keys     *waits.Keys
	snapshot []byte

	mu      sync.Mutex
	records map[string]int
	wrong   error
}

func newWaiter(t *testing.T) *waiter {
	t.Helper()
	keys, err := waits.ParseKeys(waits.NewKey("k"))
	if err != nil {
		t.Fatal(err)
	}
	snapshot := make([]byte, 40_000) // more than an item holds
	source := rand.NewChaCha8([32]byte{1})
	if _, err := source.Read(snapshot); err != nil {
		t.Fatal(err)
	}
	return &waiter{keys: keys, snapshot: snapshot, records: map[string]int{}}
}

func (w *waiter) record(_ context.Context, r audit.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records[r.ID] = 1 // a repeated decision has the same record
	return nil
}

func (w *waiter) Run(_ context.Context, job execution.Job) (execution.Result, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records[job.RunID()]++
	result := execution.Result{ID: job.RunID(), Status: execution.Completed,
		Environment: execution.Environment{Policy: "standard", EngineBuild: "e"}}
	if job.Wait == nil || job.Wait.Segment == 1 {
		result.Status, result.Snapshot = execution.Paused, w.snapshot
		result.Waiting = []execution.Waiting{{Seq: 1, Kind: execution.WaitApproval}}
		return result, 0
	}
	plain, err := w.keys.Open(job, job.Snapshot)
	if err == nil && !bytes.Equal(plain, w.snapshot) {
		err = errors.New("another snapshot")
	}
	w.wrong = errors.Join(w.wrong, err)
	return result, 0
}

func (w *waiter) Recorded(_ context.Context, job execution.Job) (execution.Result, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	result := execution.Result{ID: job.RunID(), Status: execution.Completed,
		Environment: execution.Environment{Policy: "standard", EngineBuild: "e"}}
	if job.Wait == nil || job.Wait.Segment == 1 {
		result.Status = execution.Queued
	}
	return result, w.records[job.RunID()] > 0, nil
}

func (w *waiter) Send(context.Context, execution.Job) jobs.Receipt {
	return jobs.Receipt{Delivered: true}
}

const waiting = "exec_0000000007"

// verdict returns the change that approves, with a record of its own.
func verdict(record string, now time.Time) func(*execution.Job) error {
	return func(j *execution.Job) error {
		return waits.Decide(j, map[int]execution.Verdict{1: {Decision: execution.Approve, Record: record, At: now}}, now)
	}
}

// waitingLife submits, runs, pauses, decides, resumes and ends a job, one request after the other, until the process
// dies of one. It reports whether the job and the decision were acknowledged.
func (w *waiter) waitingLife(
	ctx context.Context, s *dynamostate.Store, now time.Time,
) (submitted, decided bool, err error) {
	job := execution.Job{ID: waiting, Tenant: "t", Subject: "ann", Status: execution.Queued}
	if err := s.Submit(ctx, job); err != nil {
		return false, false, err
	}
	if job, err = s.Claim(ctx, now, "", nil); err != nil {
		return true, false, err
	}
	result, _ := w.Run(ctx, job)
	if _, err = s.ChangeJob(ctx, waiting, func(j *execution.Job) (err error) {
		waits.Park(j, result, 24*time.Hour, now)
		j.Snapshot, err = w.keys.Seal(*j, result.Snapshot)
		return err
	}); err != nil {
		return true, false, err
	}
	if _, err = s.ChangeJob(ctx, waiting, verdict("exec_decision0001", now)); err != nil {
		return true, false, err
	}
	due, err := s.DueWaits(ctx, now, 8)
	if err != nil {
		return true, true, err
	}
	for _, job := range due {
		if err := w.record(ctx, waits.DecisionRecord(job, job.Wait.Pending[0])); err != nil {
			return true, true, err
		}
		if _, err := s.ChangeJob(ctx, waiting, func(j *execution.Job) error {
			return waits.Queue(j, "exec_secondrun01", map[int]bool{1: true}, now)
		}); err != nil {
			return true, true, err
		}
	}
	if job, err = s.Claim(ctx, now, "", nil); err != nil {
		return true, true, err
	}
	result, _ = w.Run(ctx, job)
	_, err = s.ChangeJob(ctx, waiting, func(j *execution.Job) error {
		j.Status, j.Owner, j.EndedAt, j.Result = result.Status, "", now, []byte(`{}`)
		return nil
	})
	return true, true, err
}

// Wherever a process dies, the next process ends its paused execution: no segment has two records, one decision counts,
// and the segment that continues has the snapshot.
func TestDeathWhileWaiting(t *testing.T) {
	t.Parallel()
	for name, carry := range map[string]bool{"before a request": false, "before its answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for !waitSurvived(t, n, carry) && n < 100 {
				n++
			}
			if n < 10 || n == 100 {
				t.Errorf("a life of %d requests is not the one that is meant", n)
			}
		})
	}
}

func waitSurvived(t *testing.T, n int, carry bool) bool {
	t.Helper()
	what := fmt.Sprintf("died at request %d (carried out: %v)", n, carry)
	state, w, ctx := newFleet(t), newWaiter(t), t.Context()
	heir := state.open(t, server.Endpoint, 4)
	m := way(t)
	mortal := state.open(t, m.server.URL, 1)
	m.after(n, carry, false)
	submitted, decided, dead := w.waitingLife(ctx, mortal, state.Now())
	if dead != nil && !m.dead() {
		t.Fatalf("%s: %v", what, dead)
	}
	state.Kill(t, mortal)
	next := 0
	queue, err := jobs.New(jobs.Config{Store: heir, Runner: w, Now: state.Now, Random: func() float64 { return 0 },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Waits: jobs.Waits{Keys: w.keys, MaxAge: func(string) time.Duration { return 24 * time.Hour }, Record: w.record,
			NewID: func() string { next++; return fmt.Sprintf("exec_heir%08d", next) }}})
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.RunDue(ctx, ""); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	job, err := heir.Job(ctx, waiting)
	if errors.Is(err, execution.ErrNotFound) && !submitted {
		return !m.dead()
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if job.Status == execution.Paused {
		refused := (*waits.Refusal)(nil)
		if _, err := queue.Change(ctx, waiting, verdict("exec_decision0002", state.Now())); decided ||
			err != nil && !errors.As(err, &refused) {
			t.Errorf("%s: the job waits after its decision (%v): %v", what, decided, err)
		}
		if err := queue.RunDue(ctx, ""); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if job, err = heir.Job(ctx, waiting); err != nil || job.Status != execution.Completed || len(job.Snapshot) > 0 {
		t.Errorf("%s: %s, %v", what, job.Status, err)
	}
	if w.wrong != nil {
		t.Errorf("%s: %v", what, w.wrong)
	}
	for id, times := range w.records {
		if times != 1 {
			t.Errorf("%s: %s was recorded %d times", what, id, times)
		}
	}
	if made := w.records["exec_decision0001"] + w.records["exec_decision0002"]; made != 1 {
		t.Errorf("%s: %d decisions have a record", what, made)
	}
	most := 0
	if m.dead() {
		most = 2
	}
	if n := objects(t, state); n > most {
		t.Errorf("%s: %d objects are left", what, n)
	}
	return !m.dead()
}

// A large snapshot is one object. Changes of its job do not write it again, and it is deleted when the job ends.
func TestLargeSnapshot(t *testing.T) {
	t.Parallel()
	f, w := newFleet(t), newWaiter(t)
	s, now := f.open(t, server.Endpoint, 4), f.Now()
	job := execution.Job{ID: execution.SessionID(waiting), Tenant: "t", Subject: "ann", Status: execution.Paused,
		Waits: execution.Waits{Wait: &execution.Wait{Session: &execution.Session{}, DueAt: now.Add(time.Hour)},
			Snapshot: w.snapshot}}
	if err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	change := func(fn func(j *execution.Job) error) {
		t.Helper()
		if _, err := s.ChangeJob(t.Context(), job.ID, fn); err != nil {
			t.Fatal(err)
		}
	}
	object := func() string {
		t.Helper()
		at := s.SnapshotObject(t.Context(), job.ID)
		if n := objects(t, f); n != 1 || at == "" {
			t.Fatalf("%d objects, and the snapshot is at %q", n, at)
		}
		return at
	}
	first := object()
	change(func(j *execution.Job) error { j.Wait.Session.Running = waiting; return nil })
	if again := object(); again != first {
		t.Error("the snapshot was stored again")
	}
	change(func(j *execution.Job) error { j.Snapshot = w.snapshot[1:]; return nil })
	if second := object(); second == first {
		t.Error("the new snapshot was not stored")
	}
	if got, err := s.Job(t.Context(), job.ID); err != nil || !bytes.Equal(got.Snapshot, w.snapshot[1:]) {
		t.Errorf("%d bytes, %v", len(got.Snapshot), err)
	}
	change(func(j *execution.Job) error { j.Status, j.EndedAt = execution.Cancelled, now; return nil })
	if n := objects(t, f); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}
