package statetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
)

// claimedOnce checks that one of many concurrent claimants in two processes gets each job.
func claimedOnce(t *testing.T, state State) {
	a, b := state.Process(t), state.Process(t)
	const jobs = 24
	for n := range jobs {
		submit(t, []Store{a, b}[n%2], execution.Job{ID: id(n), Tenant: "t", Request: execution.Request{Code: fmt.Sprint(n)}})
	}
	var mu sync.Mutex
	claimed, owners := map[string]string{}, map[string]bool{}
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			for {
				job, err := []Store{a, b}[n%2].Claim(t.Context(), state.Now(), "", nil)
				if errors.Is(err, execution.ErrNotFound) {
					return
				}
				if busy(err) {
					continue
				}
				mu.Lock()
				if err != nil || claimed[job.ID] != "" {
					t.Errorf("job %q was claimed before: %q; %v", job.ID, claimed[job.ID], err)
				}
				if err == nil && job.Status != execution.Running {
					t.Errorf("job %s is %s, want %s", job.ID, job.Status, execution.Running)
				}
				if err == nil && (job.Owner == "" || job.StartedAt.IsZero()) {
					t.Errorf("job %s has the owner %q, and began at %v", job.ID, job.Owner, job.StartedAt)
				}
				claimed[job.ID], owners[job.Owner] = job.Request.Code, true
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	for n := range jobs {
		if claimed[id(n)] != fmt.Sprint(n) {
			t.Errorf("%s: %q", id(n), claimed[id(n)])
		}
	}
}

// busy reports whether a store could not get a lock in time, as happens on a slow machine. Nothing has changed then.
func busy(err error) bool {
	fault := (*execution.StoreError)(nil)
	return errors.As(err, &fault) && fault.Fault == execution.StoreBusy
}

// inTurn checks that tenants are served in turn, each by priority and then by age, without those to pass over.
func inTurn(t *testing.T, state State) {
	s, now := state.Process(t), state.Now()
	for n, job := range []execution.Job{
		{Tenant: "b", Request: execution.Request{Priority: "low"}}, {Tenant: "b"},
		{Tenant: "b", Request: execution.Request{Priority: "high"}},
		{Tenant: "a"}, {Tenant: "a"}, {Tenant: "a/../b"}, {Tenant: ""},
		{Tenant: "b", Request: execution.Request{Priority: "normal"}},
	} {
		job.ID, job.ReceivedAt = id(n), now.Add(time.Duration(n-20)*time.Millisecond)
		submit(t, s, job)
	}
	next := func(after string, over ...string) string {
		job, err := s.Claim(t.Context(), now, after, over)
		if errors.Is(err, execution.ErrNotFound) {
			return "none"
		}
		if err != nil {
			t.Fatal(err)
		}
		return job.ID
	}
	for n, step := range []struct {
		after, want string
		over        []string
	}{
		{"a", id(5), nil}, {"a/../b", id(2), nil}, {"b", id(6), nil}, {"", id(3), nil}, {"a", id(1), nil},
		{"b", id(7), []string{"a"}},
		{"", "none", []string{"a", "b"}}, {"zz", id(4), []string{"", "b"}}, {"b", id(0), nil}, {"", "none", nil},
	} {
		if got := next(step.after, step.over...); got != step.want {
			t.Errorf("%d: %s, want %s", n, got, step.want)
		}
	}
}

// severalInTurn checks that claims of several jobs serve tenants in the same turn as claims of one, and that each job
// has an owner of its own.
func severalInTurn(t *testing.T, state State) {
	s, now := state.Process(t), state.Now()
	for n, job := range []execution.Job{
		{Tenant: "a"}, {Tenant: "a"}, {Tenant: "a", Request: execution.Request{Priority: "high"}}, {Tenant: "b"},
		{Tenant: "b"}, {Tenant: "c"}, {Tenant: "d"}, {Tenant: "c", Times: execution.Times{NotBefore: now.Add(time.Minute)}},
	} {
		job.ID, job.ReceivedAt = id(n), now.Add(time.Duration(n-20)*time.Millisecond)
		submit(t, s, job)
	}
	want := []string{id(3), id(5), id(2), id(4), id(0), id(1)} // b, c, and, without d, a, b, a, a
	after := "a"
	for len(want) > 0 {
		jobs, err := s.ClaimSome(t.Context(), now, after, []string{"d"}, 4)
		if err != nil || len(jobs) == 0 || len(jobs) > min(4, len(want)) {
			t.Fatalf("%d jobs, %v", len(jobs), err)
		}
		for _, job := range jobs {
			if job.ID != want[0] || job.Status != execution.Running || job.Owner == "" {
				t.Fatalf("%s is %s and owned by %q, want %s", job.ID, job.Status, job.Owner, want[0])
			}
			after, want = job.Tenant, want[1:]
		}
	}
	if _, err := s.ClaimSome(t.Context(), now, "", []string{"d"}, 4); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("there is another: %v", err)
	}
}

// later checks that a job with a later start waits and delays no other.
func later(t *testing.T, state State) {
	s, now := state.Process(t), state.Now()
	submit(t, s, execution.Job{ID: id(1), Tenant: "t", Times: execution.Times{NotBefore: now.Add(time.Minute)}})
	if _, err := s.Claim(t.Context(), now, "", nil); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("it does not wait: %v", err)
	}
	submit(t, s, execution.Job{ID: id(2), Tenant: "t"})
	if job, err := s.Claim(t.Context(), now, "", nil); err != nil || job.ID != id(2) {
		t.Errorf("%s %v", job.ID, err)
	}
	// It returns to the queue, like a job that found no place.
	change(t, s, id(2), func(j *execution.Job) error {
		j.Status, j.Owner, j.Attempts, j.NotBefore = execution.Queued, "", 1, now.Add(2*time.Minute)
		return nil
	})
	for after, want := range map[time.Duration]string{time.Minute: id(1), 2 * time.Minute: id(2)} {
		if _, err := s.Take(t.Context(), now.Add(after-time.Second), want); !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("%s may begin before its time: %v", want, err)
		}
	}
	for _, want := range []string{id(1), id(2)} {
		if job, err := s.Claim(t.Context(), now.Add(2*time.Minute), "", nil); err != nil || job.ID != want {
			t.Errorf("%s %v, want %s", job.ID, err, want)
		}
	}
}

func taken(t *testing.T, state State) {
	a, b, now := state.Process(t), state.Process(t), state.Now()
	submit(t, a, execution.Job{ID: id(1), Tenant: "t", Request: execution.Request{Code: "1"}})
	submit(t, a, execution.Job{ID: id(2), Tenant: "t"})
	if job, err := b.Take(t.Context(), now, id(2)); err != nil || job.ID != id(2) || job.Status != execution.Running {
		t.Errorf("%+v %v", job, err)
	}
	if _, err := a.Take(t.Context(), now, id(2)); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	if job, err := a.Claim(t.Context(), now, "", nil); err != nil || job.ID != id(1) || job.Request.Code != "1" {
		t.Errorf("%+v %v", job, err)
	}
	if _, err := a.Claim(t.Context(), now, "", nil); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("what was taken was claimed: %v", err)
	}
}

// submittedAgain checks that an existing job stays as it is.
func submittedAgain(t *testing.T, state State) {
	a, b, now := state.Process(t), state.Process(t), state.Now()
	first := execution.Job{ID: id(1), Tenant: "t", Request: execution.Request{Code: "first"}}
	second := execution.Job{ID: id(1), Tenant: "u", Request: execution.Request{Code: "second"}}
	submit(t, a, first)
	submit(t, b, second)
	if job, err := b.Claim(t.Context(), now, "", nil); err != nil || job.Request.Code != "first" || job.Tenant != "t" {
		t.Errorf("%+v %v", job, err)
	}
	submit(t, a, second)
	change(t, b, id(1), end(now))
	submit(t, a, second)
	if job, err := a.Claim(t.Context(), now, "", nil); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("it runs again: %+v %v", job, err)
	}
	if job, err := a.Job(t.Context(), id(1)); err != nil || job.Status != execution.Completed ||
		string(job.Result) != `{"status":"completed"}` {
		t.Errorf("%+v %v", job, err)
	}
}

func full(t *testing.T, state State) {
	s := state.Process(t)
	for n := range 50 {
		submit(t, s, execution.Job{ID: id(n), Tenant: "a"})
	}
	if err := s.Submit(t.Context(), execution.Job{ID: id(50), Tenant: "a", Status: execution.Queued}); !errors.Is(err,
		execution.ErrFull) {
		t.Errorf("the 51st: %v", err)
	}
	if _, err := s.Job(t.Context(), id(50)); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("what was refused is there: %v", err)
	}
	submit(t, s, execution.Job{ID: id(51), Tenant: "b"})
}

// changesAddUp checks that every change applies to the result of the one before, in any process, and that a failed
// one leaves nothing.
func changesAddUp(t *testing.T, state State) {
	a, b := state.Process(t), state.Process(t)
	submit(t, a, execution.Job{ID: id(1), Tenant: "t"})
	var all sync.WaitGroup
	for n := range 24 {
		all.Go(func() {
			if _, err := []Store{a, b}[n%2].ChangeJob(t.Context(), id(1),
				func(j *execution.Job) error { j.Attempts++; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	own := errors.New("mine")
	if _, err := a.ChangeJob(t.Context(), id(1),
		func(j *execution.Job) error { j.Attempts = 0; return own }); !errors.Is(err, own) {
		t.Error(err)
	}
	if job, err := b.Job(t.Context(), id(1)); err != nil || job.Attempts != 24 {
		t.Errorf("%d %v", job.Attempts, err)
	}
}

// orphans checks that a process owns its jobs while it lives and that others take them over when it has died.
func orphans(t *testing.T, state State) {
	a, b := state.Process(t), state.Process(t)
	for n := range 3 {
		submit(t, a, execution.Job{ID: id(n), Tenant: "t", Request: execution.Request{Code: fmt.Sprint(n)}})
		job, err := a.Claim(t.Context(), state.Now(), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if until := a.StartBefore(job.Owner); !until.IsZero() && !until.After(state.Now()) {
			t.Errorf("%s may begin until %v, and was claimed just now", job.ID, until)
		}
	}
	change(t, a, id(0), end(state.Now()))
	if left, err := b.Orphans(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%d orphans of a process that lives, %v", len(left), err)
	}
	state.Kill(t, a)
	left, err := b.Orphans(t.Context())
	slices.SortFunc(left, func(x, y execution.Job) int { return strings.Compare(x.ID, y.ID) })
	if diff := cmp.Diff([]string{id(1), id(2)}, ids(left)); diff != "" || err != nil {
		t.Fatalf("orphans %s %v", diff, err)
	}
	if left[0].Status != execution.Running || left[0].Request.Code != "1" {
		t.Fatalf("the first is %s with the code %q", left[0].Status, left[0].Request.Code)
	}
	if left[0].Idle < 0 {
		t.Errorf("its process has begun none for %v", left[0].Idle)
	}
	change(t, b, id(1), func(j *execution.Job) error { j.Status, j.Owner = execution.Queued, ""; return nil })
	if job, err := b.Claim(t.Context(), state.Now(), "", nil); err != nil || job.ID != id(1) ||
		job.Owner == left[0].Owner {
		t.Errorf("%+v %v", job, err)
	}
}

// orphanEndsOnce checks that one of two processes takes over an orphan.
func orphanEndsOnce(t *testing.T, state State) {
	a, b, c := state.Process(t), state.Process(t), state.Process(t)
	submit(t, a, execution.Job{ID: id(1), Tenant: "t"})
	if _, err := a.Claim(t.Context(), state.Now(), "", nil); err != nil {
		t.Fatal(err)
	}
	state.Kill(t, a)
	var found []execution.Job
	for _, s := range []Store{b, c} {
		left, err := s.Orphans(t.Context())
		if err != nil || len(left) != 1 {
			t.Fatalf("%d %v", len(left), err)
		}
		found = append(found, left...)
	}
	late := errors.New("late")
	var all sync.WaitGroup
	var mu sync.Mutex
	ends := 0
	for n, s := range []Store{b, c} {
		all.Go(func() {
			_, err := s.ChangeJob(t.Context(), id(1), func(j *execution.Job) error {
				if j.Status != execution.Running || j.Owner != found[n].Owner {
					return late
				}
				return end(state.Now())(j)
			})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				ends++
			} else if !errors.Is(err, late) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if ends != 1 {
		t.Errorf("it ended %d times", ends)
	}
}

func cancelled(t *testing.T, state State) {
	a, b := state.Process(t), state.Process(t)
	submit(t, a, execution.Job{ID: id(1), Tenant: "t"})
	if _, err := a.Claim(t.Context(), state.Now(), "", nil); err != nil {
		t.Fatal(err)
	}
	change(t, b, id(1), func(j *execution.Job) error { j.Cancel = true; return nil })
	if ids, err := b.Cancelled(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("another's job: %v %v", ids, err)
	}
	if ids, err := a.Cancelled(t.Context()); err != nil || fmt.Sprint(ids) != "["+id(1)+"]" {
		t.Errorf("%v %v", ids, err)
	}
}

func notThere(t *testing.T, state State) {
	s := state.Process(t)
	for _, id := range []string{id(1), "", "exec_../../functions/x", "exec_" + strings.Repeat("x", 5000)} {
		_, a := s.Job(t.Context(), id)
		_, b := s.ChangeJob(t.Context(), id, func(*execution.Job) error { return nil })
		_, c := s.Take(t.Context(), state.Now(), id)
		for _, err := range []error{a, b, c} {
			if !errors.Is(err, execution.ErrNotFound) {
				t.Errorf("%.40q: %v", id, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Submit(ctx, execution.Job{ID: id(1), Status: execution.Queued}) == nil {
		t.Error("kept in no time")
	}
}

// backlog checks that the jobs that have not ended are counted, by stores that count them.
func backlog(t *testing.T, s State) {
	p := s.Process(t)
	counts, ok := p.(interface {
		Backlog(ctx context.Context) (execution.Backlog, error)
	})
	if !ok {
		return
	}
	check := func(want execution.Backlog) {
		t.Helper()
		got, err := counts.Backlog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the backlog differs (-want +got):\n%s", diff)
		}
	}
	check(execution.Backlog{})
	now := s.Now().UTC()
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	resumed := pausedJob(1, "a", "ann", now)
	resumed.Status, resumed.ReceivedAt, resumed.Wait.Changed = execution.Queued, ago(90), ago(1)
	store(t, p, resumed)
	submit(t, p, execution.Job{ID: id(2), Tenant: "a", ReceivedAt: ago(30)})
	submit(t, p, execution.Job{ID: id(3), Tenant: "b", ReceivedAt: ago(20)})
	submit(t, p, execution.Job{ID: id(4), Tenant: "b", ReceivedAt: ago(10)})
	store(t, p, pausedJob(5, "a", "ann", now.Add(time.Hour)))
	session := pausedJob(6, "a", "ann", now.Add(time.Hour))
	session.ID, session.Wait.Session = execution.SessionID(session.ID), &execution.Session{}
	store(t, p, session)
	check(execution.Backlog{Queued: 4, Paused: 1, Oldest: ago(30)})
	if _, err := p.Take(t.Context(), now, id(2)); err != nil {
		t.Fatal(err)
	}
	change(t, p, id(5), end(now))
	check(execution.Backlog{Queued: 3, Running: 1, Oldest: ago(20)})
}

// jobsListed checks the lists of the jobs that are queued, or run, of a tenant and of its subjects.
func jobsListed(t *testing.T, s State) {
	p := s.Process(t)
	for n, owner := range [][2]string{{"a", "ann"}, {"a", "bob"}, {"b", "ann"}, {"a", "ann"}, {"a", "ann"}, {"a", "bob"}} {
		priority := []string{"low", "high", "normal"}[n%3]
		submit(t, p, execution.Job{ID: id(n + 1), Tenant: owner[0], Subject: owner[1], ReceivedAt: s.Now(),
			Request: execution.Request{Code: "1", Priority: priority}})
	}
	store(t, p, pausedJob(7, "a", "ann", s.Now().Add(time.Hour)))
	for _, n := range []int{4, 6} {
		if _, err := p.Take(t.Context(), s.Now(), id(n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, tenant, subject string
		status                execution.Status
		limit                 int
		want                  []string
	}{
		{"queued of a tenant", "a", "", execution.Queued, 10, []string{id(1), id(2), id(5)}},
		{"queued of a subject", "a", "ann", execution.Queued, 10, []string{id(1), id(5)}},
		{"queued in pages of one", "a", "", execution.Queued, 1, []string{id(1), id(2), id(5)}},
		{"queued of a subject in pages of one", "a", "bob", execution.Queued, 1, []string{id(2)}},
		{"running of a tenant", "a", "", execution.Running, 10, []string{id(4), id(6)}},
		{"running of a subject in pages of one", "a", "bob", execution.Running, 1, []string{id(6)}},
		{"running of another tenant", "b", "", execution.Running, 10, []string{}},
		{"nobody's", "c", "", execution.Queued, 10, []string{}},
	} {
		got := []string{}
		for after := ""; ; {
			page, next, err := p.Jobs(t.Context(), c.tenant, c.subject, c.status, after, c.limit)
			if err != nil {
				t.Fatal(c.name, err)
			}
			if len(page) > c.limit {
				t.Errorf("%s: a page has %d jobs, want at most %d", c.name, len(page), c.limit)
			}
			for _, job := range page {
				if job.Status != c.status {
					t.Errorf("%s: %s is %s", c.name, job.ID, job.Status)
				}
			}
			got = append(got, ids(page)...)
			if next == "" {
				break
			}
			after = next
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: the list differs (-want +got):\n%s", c.name, diff)
		}
	}
}
