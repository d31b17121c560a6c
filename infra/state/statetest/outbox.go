package statetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// callbacks checks that one process at a time owns a due callback, and that an unfinished one is due again.
func callbacks(t *testing.T, state State) {
	a, b, now := state.Process(t), state.Process(t), state.Now()
	const jobs = 9
	for n := range jobs {
		submit(t, a, execution.Job{ID: id(n), Tenant: "t",
			Callback: &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}})
	}
	if due, err := b.Callbacks(t.Context(), now, now.Add(time.Minute), 8); err != nil || len(due) != 0 {
		t.Errorf("of jobs that have not ended: %v %v", due, err)
	}
	for n := range jobs {
		change(t, a, id(n), end(now))
	}
	take := func(s Store, at time.Time) (ids []string) {
		for {
			due, err := s.Callbacks(t.Context(), at, at.Add(time.Minute), 2)
			if err != nil {
				t.Error(err)
			}
			if len(due) == 0 {
				return ids
			}
			for _, job := range due {
				if ids = append(ids, job.ID); string(job.Result) == "" || job.Callback.URL != "http://x" {
					t.Errorf("not whole: %+v", job)
				}
			}
		}
	}
	var mu sync.Mutex
	taken := map[string]int{}
	var all sync.WaitGroup
	for _, s := range []Store{a, b} {
		all.Go(func() {
			ids := take(s, now)
			mu.Lock()
			defer mu.Unlock()
			for _, id := range ids {
				taken[id]++
			}
		})
	}
	all.Wait()
	for _, s := range []Store{a, b} { // one process skipped it while the other claimed it
		for _, id := range take(s, now) {
			taken[id]++
		}
	}
	for n := range jobs {
		if taken[id(n)] != 1 {
			t.Errorf("%s was taken %d times", id(n), taken[id(n)])
		}
	}
	told := func(state string, next time.Time) func(*execution.Job) error {
		return func(j *execution.Job) error {
			j.Callback.Attempts++
			j.Callback.State, j.Callback.Next = state, next
			return nil
		}
	}
	for n := range jobs - 2 {
		change(t, a, id(n), told(execution.CallbackDelivered, time.Time{}))
	}
	change(t, a, id(7), told(execution.CallbackPending, now.Add(time.Hour)))
	// The last was claimed by a process that died.
	if ids := take(b, now.Add(59*time.Second)); len(ids) != 0 {
		t.Errorf("due already: %v", ids)
	}
	if ids := take(b, now.Add(61*time.Second)); fmt.Sprint(ids) != "["+id(8)+"]" {
		t.Errorf("%v", ids)
	}
	change(t, b, id(8), told(execution.CallbackFailed, time.Time{}))
	if ids := take(a, now.Add(time.Hour)); fmt.Sprint(ids) != "["+id(7)+"]" {
		t.Errorf("%v", ids)
	}
}

func gone(t *testing.T, state State) {
	a, b, now := state.Process(t), state.Process(t), state.Now()
	if _, err := a.Gone(t.Context(), "t", "http://x/../y", now, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tenant, url string
		after       time.Duration
		gone        bool
	}{
		{"t", "http://x/../y", 0, true}, {"t", "http://x/../y", time.Hour - time.Second, true},
		{"t", "http://x/../y", time.Hour, false},
		{"u", "http://x/../y", 0, false}, {"t", "http://x/y", 0, false},
	} {
		if is, err := b.Gone(t.Context(), c.tenant, c.url, now.Add(c.after), time.Time{}); err != nil || is != c.gone {
			t.Errorf("%+v: %v %v", c, is, err)
		}
	}
}

// pruned checks that only old jobs without callbacks are deleted.
func pruned(t *testing.T, state State) {
	s, now := state.Process(t), state.Now()
	for n, ended := range []time.Time{now.Add(-2 * time.Hour), now, now.Add(-time.Hour), now.Add(-time.Hour)} {
		job := execution.Job{ID: id(n), Tenant: "t"}
		if n == 2 {
			job.Callback = &execution.Callback{URL: "http://x", State: execution.CallbackWaiting}
		}
		submit(t, s, job)
		if n != 3 {
			change(t, s, job.ID, end(ended))
		}
	}
	if err := s.Prune(t.Context(), now, now.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	for n, there := range []bool{false, true, true, true} {
		if _, err := s.Job(t.Context(), id(n)); there != (err == nil) || !there && !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if job, err := s.Claim(t.Context(), now, "", nil); err != nil || job.ID != id(3) {
		t.Errorf("%s %v", job.ID, err)
	}
}

// next returns the change of a schedule's next time.
func next(at time.Time) func(*execution.SavedFunction) (*execution.FunctionContent, error) {
	return func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Schedule = &execution.FunctionSchedule{Cron: "* * * * *", Next: at}
		return nil, nil // no new content
	}
}

func due(t *testing.T, s Store, now time.Time) (names string) {
	t.Helper()
	list, err := s.Due(t.Context(), now, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		names += f.Tenant + "/" + f.Name + " "
	}
	return names
}

func schedules(t *testing.T, state State) {
	a, b, now := state.Process(t), state.Process(t), state.Now()
	for n, at := range []time.Time{now.Add(-time.Hour), now.Add(time.Hour), {}, now.Add(-time.Minute)} {
		if err := a.Change(t.Context(), []string{"", "t"}[n%2], fmt.Sprint("f.", n, "-x"), next(at)); err != nil {
			t.Fatal(err)
		}
	}
	if got := due(t, b, now); got != "/f.0-x t/f.3-x " {
		t.Errorf("%q", got)
	}
	if got := due(t, b, now.Add(time.Hour)); got != "/f.0-x t/f.3-x t/f.1-x " {
		t.Errorf("%q", got)
	}
}

// movedSchedules checks that a schedule that moves, is removed or comes back is due at its new time.
func movedSchedules(t *testing.T, state State) {
	s, now := state.Process(t), state.Now()
	set := func(fn func(*execution.SavedFunction) (*execution.FunctionContent, error)) {
		t.Helper()
		if err := s.Change(t.Context(), "t", "f", fn); err != nil {
			t.Fatal(err)
		}
	}
	none := func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Schedule = nil
		return nil, nil // no new content
	}
	for n, step := range []struct {
		fn   func(*execution.SavedFunction) (*execution.FunctionContent, error)
		at   time.Time
		want string
	}{
		{next(now), now, "t/f "}, {next(now.Add(time.Minute)), now, ""}, {nil, now.Add(time.Minute), "t/f "},
		{none, now.Add(2 * time.Minute), ""},
		{next(now), now.Add(2 * time.Minute), "t/f "}, // the same time again
	} {
		if step.fn != nil {
			set(step.fn)
		}
		if got := due(t, s, step.at); got != step.want {
			t.Errorf("%d: %q, want %q", n, got, step.want)
		}
	}
	if err := s.Delete(t.Context(), "t", "f"); err != nil {
		t.Fatal(err)
	}
	if got := due(t, s, now.Add(time.Hour)); got != "" {
		t.Errorf("deleted: %q", got)
	}
	set(next(now))
	if got := due(t, s, now.Add(2*time.Hour)); got != "t/f " {
		t.Errorf("made again: %q", got)
	}
}
