package statetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
)

// pausedJob returns a paused job for which something is due at a time.
func pausedJob(n int, tenant, subject string, due time.Time) execution.Job {
	return execution.Job{
		ID: id(n), Tenant: tenant, Subject: subject, Status: execution.Paused, Request: execution.Request{Code: "1"},
		Result: []byte(`{"status":"paused"}`),
		Waits: execution.Waits{
			Wait: &execution.Wait{Segment: 1, Run: id(n), DueAt: due.UTC(), ExpiresAt: due.UTC().Add(time.Hour),
				Pending: []execution.Pending{{Waiting: execution.Waiting{Seq: 1, Kind: execution.WaitApproval}}}},
			Snapshot: []byte("snapshot"),
		},
	}
}

func store(t *testing.T, s Store, job execution.Job) {
	t.Helper()
	if err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
}

func ids(jobs []execution.Job) []string {
	out := []string{}
	for _, j := range jobs {
		out = append(out, j.ID)
	}
	return out
}

// pausedAndResumed checks that a paused job is not claimed, and that the process that claims it once it is queued has
// its snapshot, which ends with the job.
func pausedAndResumed(t *testing.T, s State) {
	one, two := s.Process(t), s.Process(t)
	store(t, one, pausedJob(1, "a", "ann", s.Now().Add(time.Hour)))
	if _, err := two.Claim(t.Context(), s.Now(), "", nil); !errors.Is(err, execution.ErrNotFound) {
		t.Fatalf("a paused job was claimed: %v", err)
	}
	job := change(t, two, id(1), func(j *execution.Job) error {
		j.Status, j.Wait.Segment = execution.Queued, 2
		return nil
	})
	job, err := one.Claim(t.Context(), s.Now(), "", nil)
	if err != nil || job.Wait == nil {
		t.Fatalf("claimed %+v, %v", job, err)
	}
	if job.Wait.Segment != 2 || string(job.Snapshot) != "snapshot" {
		t.Fatalf("claimed segment %d with the snapshot %q", job.Wait.Segment, job.Snapshot)
	}
	s.Kill(t, one)
	orphans, err := two.Orphans(t.Context())
	if err != nil || len(orphans) != 1 || !bytes.Equal(orphans[0].Snapshot, []byte("snapshot")) {
		t.Fatalf("orphans %+v, %v", orphans, err)
	}
	job = change(t, two, id(1), end(s.Now()))
	if job, err = two.Job(t.Context(), id(1)); err != nil || len(job.Snapshot) > 0 || job.Status != execution.Completed {
		t.Fatalf("ended as %+v, %v", job, err)
	}
}

func dueWaits(t *testing.T, s State) {
	p := s.Process(t)
	now := s.Now()
	store(t, p, pausedJob(1, "a", "ann", now.Add(-time.Second)))
	store(t, p, pausedJob(2, "b", "ann", now.Add(-time.Minute)))
	store(t, p, pausedJob(3, "a", "ann", now.Add(time.Hour)))
	submit(t, p, execution.Job{ID: id(4), Tenant: "a", Request: execution.Request{Code: "1"}})
	due, err := p.DueWaits(t.Context(), now, 10)
	if diff := cmp.Diff([]string{id(2), id(1)}, ids(due)); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if due[0].SnapshotBytes != len("snapshot") || len(due[0].Result) == 0 {
		t.Errorf("got %+v", due[0])
	}
	if due, err = p.DueWaits(t.Context(), now, 1); err != nil || len(due) != 1 {
		t.Errorf("beyond the limit: %v, %v", ids(due), err)
	}
	// A tenant with many due jobs does not delay another one.
	for n := range 20 {
		store(t, p, pausedJob(100+n, "many", "ann", now.Add(time.Duration(n-100)*time.Hour)))
	}
	if due, err = p.DueWaits(t.Context(), now, 6); err != nil || len(due) > 6 {
		t.Errorf("%d are due, want at most 6; %v", len(due), err)
	}
	for _, want := range []string{id(1), id(2)} {
		if !slices.Contains(ids(due), want) {
			t.Errorf("%s is not due beside a tenant for which much is: %v", want, ids(due))
		}
	}
	for n := range 20 {
		change(t, p, id(100+n), end(now))
	}
	change(t, p, id(2), func(j *execution.Job) error { j.Wait.DueAt = now.Add(time.Hour).UTC(); return nil })
	due, err = p.DueWaits(t.Context(), now, 10)
	if diff := cmp.Diff([]string{id(1)}, ids(due)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func listed(t *testing.T, s State) {
	p := s.Process(t)
	for n, owner := range [][2]string{{"a", "ann"}, {"a", "bob"}, {"b", "ann"}, {"a", "ann"}} {
		store(t, p, pausedJob(n+1, owner[0], owner[1], s.Now().Add(time.Hour)))
	}
	submit(t, p, execution.Job{ID: id(9), Tenant: "a", Subject: "ann", Request: execution.Request{Code: "1"}})
	change(t, p, id(3), func(j *execution.Job) error { j.Wait.EngineBuild = "one"; return nil })
	if counter, ok := p.(interface {
		PausedBuilds(ctx context.Context) (map[string]int, error)
	}); ok {
		counts, err := counter.PausedBuilds(t.Context())
		if diff := cmp.Diff(map[string]int{"": 3, "one": 1}, counts); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	for _, c := range []struct {
		name, tenant, subject, after string
		limit                        int
		want                         []string
	}{
		{"a tenant", "a", "", "", 10, []string{id(1), id(2), id(4)}},
		{"a subject", "a", "ann", "", 10, []string{id(1), id(4)}},
		{"a page", "a", "", "", 2, []string{id(1), id(2)}},
		{"the next page", "a", "", id(2), 2, []string{id(4)}},
		{"nobody's", "c", "", "", 10, []string{}},
	} {
		got, err := p.Paused(t.Context(), c.tenant, c.subject, c.after, c.limit)
		if diff := cmp.Diff(c.want, ids(got)); diff != "" || err != nil {
			t.Errorf("%s: %s %v", c.name, diff, err)
		}
	}
}

var errAnswered = errors.New("answered before")

// answeredOnce checks that of many processes that answer the same operation one succeeds.
func answeredOnce(t *testing.T, s State) {
	store(t, s.Process(t), pausedJob(1, "a", "ann", s.Now().Add(time.Hour)))
	var won, lost atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		p := s.Process(t)
		for range 4 {
			all.Go(func() {
				_, err := p.ChangeJob(t.Context(), id(1), func(j *execution.Job) error {
					if j.Wait.Pending[0].Answer != nil {
						return errAnswered
					}
					j.Wait.Pending[0].Answer = &execution.Answer{Seq: 1}
					return nil
				})
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, errAnswered):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 15 {
		t.Errorf("%d succeeded, %d were refused", won.Load(), lost.Load())
	}
}

// sessions checks that sessions come after paused executions, are not claimed, and keep their snapshot from step to
// step.
func sessions(t *testing.T, s State) {
	one, two := s.Process(t), s.Process(t)
	store(t, one, pausedJob(1, "a", "ann", s.Now().Add(time.Hour)))
	for n, owner := range []string{"ann", "bob", "ann"} {
		job := pausedJob(n+2, "a", owner, s.Now().Add(time.Hour))
		job.ID, job.Wait.Session, job.Snapshot = execution.SessionID(job.ID), &execution.Session{}, nil
		store(t, one, job)
	}
	first, last := execution.SessionID(id(2)), execution.SessionID(id(4))
	for _, c := range []struct {
		name, after string
		want        []string
	}{
		{"everything", "", []string{id(1), first, last}},
		{"sessions", execution.FirstSession, []string{first, last}},
	} {
		got, err := two.Paused(t.Context(), "a", "ann", c.after, 10)
		if diff := cmp.Diff(c.want, ids(got)); diff != "" || err != nil {
			t.Errorf("%s: %s %v", c.name, diff, err)
		}
	}
	if _, err := two.Claim(t.Context(), s.Now(), "", nil); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("a session was claimed: %v", err)
	}
	change(t, one, first, func(j *execution.Job) error {
		j.Wait.Segment, j.Wait.Session.Running, j.Snapshot = 2, "exec_0123456789", []byte("second")
		return nil
	})
	s.Kill(t, one)
	job, err := two.Job(t.Context(), first)
	if err != nil || string(job.Snapshot) != "second" {
		t.Errorf("the snapshot is %q, %v", job.Snapshot, err)
	}
	if job.Wait.Segment != 2 || job.Wait.Session.Running != "exec_0123456789" {
		t.Errorf("segment %d, and %q runs", job.Wait.Segment, job.Wait.Session.Running)
	}
	if orphans, err := two.Orphans(t.Context()); err != nil || len(orphans) > 0 {
		t.Errorf("orphans: %v, %v", ids(orphans), err)
	}
	job = change(t, two, first, end(s.Now()))
	if job, err = two.Job(t.Context(), first); err != nil || len(job.Snapshot) > 0 {
		t.Errorf("ended as %+v, %v", job, err)
	}
}

// SessionGrowth checks that a session cannot grow beyond the quota of its tenant, which is most bytes for its jobs.
func SessionGrowth(t *testing.T, s Store, now time.Time, most int) {
	t.Helper()
	job := pausedJob(1, "a", "ann", now.Add(time.Hour))
	job.ID, job.Wait.Session = execution.SessionID(job.ID), &execution.Session{}
	store(t, s, job)
	grow := func(n int) error {
		_, err := s.ChangeJob(t.Context(), job.ID, func(j *execution.Job) error {
			j.Snapshot = make([]byte, n)
			return nil
		})
		return err
	}
	if err := grow(most / 2); err != nil {
		t.Fatal(err)
	}
	var full *execution.QuotaError
	if err := grow(most + 1); !errors.As(err, &full) || full.Quota != execution.QuotaJobs || full.Limit != int64(most) {
		t.Errorf("the error is %v", err)
	}
	if got, err := s.Job(t.Context(), job.ID); err != nil || len(got.Snapshot) != most/2 {
		t.Errorf("it has %d bytes, %v", len(got.Snapshot), err)
	}
	if err := grow(10); err != nil {
		t.Errorf("a session that shrinks: %v", err)
	}
}
