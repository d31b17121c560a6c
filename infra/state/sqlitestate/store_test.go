package sqlitestate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

func open(t *testing.T, dir string) *sqlitestate.Store {
	t.Helper()
	s, err := sqlitestate.Open(dir, sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shut(t *testing.T, s *sqlitestate.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// add makes the next version of a function.
func add(code string) func(*execution.SavedFunction) (*execution.FunctionContent, error) {
	return func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Versions = append(f.Versions, execution.FunctionVersion{Version: len(f.Versions) + 1})
		return &execution.FunctionContent{Request: execution.Request{Code: code}}, nil
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	dir, ctx := filepath.Join(t.TempDir(), "a folder?#%", "state"), t.Context()
	s := open(t, dir)
	if _, err := s.Function(ctx, "a", "f"); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	var all sync.WaitGroup
	for range 20 { // every change starts from the result of the one before
		all.Go(func() {
			if err := s.Change(ctx, "a", "f", add("code")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	own := errors.New("mine")
	err := s.Change(ctx, "a", "f", func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
		f.Versions = nil
		return nil, own
	})
	if !errors.Is(err, own) {
		t.Error(err)
	}
	shut(t, s)
	s = open(t, dir)
	defer shut(t, s)
	f, err := s.Function(ctx, "a", "f")
	if err != nil || len(f.Versions) != 20 {
		t.Errorf("%d versions, %v", len(f.Versions), err)
	}
	if c, err := s.Content(ctx, "a", "f", 20); err != nil || c.Request.Code != "code" {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := s.Content(ctx, "a", "f", 21); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	if list, err := s.Functions(ctx, "b", "", 10); err != nil || len(list) != 0 {
		t.Errorf("another tenant's: %v %v", list, err)
	}
	if err := s.Delete(ctx, "b", "f"); !errors.Is(err, execution.ErrNotFound) {
		t.Error(err)
	}
	if err := s.Delete(ctx, "a", "f"); err != nil {
		t.Error(err)
	}
	if _, err := s.Content(ctx, "a", "f", 1); !errors.Is(err, execution.ErrNotFound) {
		t.Error("the content is still there")
	}
	info, err := os.Stat(filepath.Join(dir, "state.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	s, ctx, now := open(t, t.TempDir()), t.Context(), time.Now()
	defer shut(t, s)
	for n, next := range []time.Time{now.Add(-time.Hour), now.Add(time.Hour), {}} {
		err := s.Change(ctx, "a", fmt.Sprint("f", n), func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Schedule = &execution.FunctionSchedule{Next: next}
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if due, err := s.Due(ctx, now, 10); err != nil || len(due) != 1 || due[0].Name != "f0" {
		t.Errorf("%v %v", due, err)
	}
}

// Two processes share a folder: each job belongs to one of them, and the other takes over the jobs of a process that
// ends.
func TestShared(t *testing.T) {
	t.Parallel()
	dir, ctx, now := t.TempDir(), t.Context(), time.Now()
	a, b := open(t, dir), open(t, dir)
	defer shut(t, b)
	const n = 30
	for i := range n {
		if err := a.Submit(ctx, execution.Job{ID: fmt.Sprintf("exec_%010d", i), Tenant: "t",
			Status: execution.Queued}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	first, err := a.Claim(ctx, now, "", nil) // however they are scheduled, one of them belongs to a
	if err != nil {
		t.Fatal(err)
	}
	claimed := map[string]int{first.ID: 1}
	var all sync.WaitGroup
	for _, s := range []*sqlitestate.Store{a, b, a, b} {
		all.Go(func() {
			for {
				job, err := s.Claim(ctx, now, "", nil)
				if errors.Is(err, execution.ErrNotFound) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				claimed[job.ID]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for id, times := range claimed {
		if times != 1 {
			t.Errorf("%s was claimed %d times", id, times)
		}
	}
	if len(claimed) != n {
		t.Errorf("%d of %d were claimed", len(claimed), n)
	}
	if orphans, err := b.Orphans(ctx); err != nil || len(orphans) != 0 {
		t.Errorf("%d orphans of a process that lives, %v", len(orphans), err)
	}
	begun, _, _, err := a.Begin(ctx, execution.Key{Name: "k"}, "m", now, now.Add(time.Hour))
	if err != nil || !begun {
		t.Error(begun, err)
	}
	if begun, _, answer, err := b.Begin(ctx, execution.Key{Name: "k"}, "m2", now, now.Add(time.Hour)); err != nil ||
		begun || answer != nil {
		t.Error("a delivery in progress was taken twice", err)
	}
	shut(t, a)
	if orphans, err := b.Orphans(ctx); err != nil || len(orphans) == 0 || orphans[0].Status != execution.Running {
		t.Errorf("%d orphans, %v", len(orphans), err)
	}
	if begun, _, _, err := b.Begin(ctx, execution.Key{Name: "k"}, "m3", now, now.Add(time.Hour)); err != nil || !begun {
		t.Error("a delivery without a response cannot be repeated", err)
	}
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	s, ctx, now := open(t, t.TempDir()), t.Context(), time.Now()
	defer shut(t, s)
	begin := func(at time.Time, mark string) (bool, string, string) {
		begun, first, answer, err := s.Begin(ctx, execution.Key{Name: "key"}, mark, at, at.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		return begun, first, string(answer)
	}
	if begun, _, _ := begin(now, "1"); !begun {
		t.Error("first")
	}
	if err := s.Abandon(ctx, "key"); err != nil {
		t.Error(err)
	}
	if begun, _, _ := begin(now, "2"); !begun {
		t.Error("after it was abandoned")
	}
	if err := s.Finish(ctx, "key", []byte("answer")); err != nil {
		t.Error(err)
	}
	if err := s.Abandon(ctx, "key"); err != nil {
		t.Error(err)
	}
	if begun, first, answer := begin(now.Add(time.Second), "3"); begun || first != "2" || answer != "answer" {
		t.Error(begun, first, answer)
	}
	if begun, _, _ := begin(now.Add(time.Hour), "4"); !begun {
		t.Error("after its time")
	}
}

// A key that a process had taken when it died can be taken again, and its mark says what for.
func TestDeliveryOfTheDead(t *testing.T) {
	t.Parallel()
	dir, ctx, now := t.TempDir(), t.Context(), time.Now()
	first, second := open(t, dir), open(t, dir)
	defer shut(t, second)
	if begun, _, _, err := first.Begin(ctx, execution.Key{Name: "key"}, "1", now, now.Add(time.Minute)); err != nil ||
		!begun {
		t.Fatal(begun, err)
	}
	begun, mark, answer, err := second.Begin(ctx, execution.Key{Name: "key"}, "2", now, now.Add(time.Minute))
	if err != nil || begun {
		t.Error("while the first lives:", begun, err)
	}
	if mark != "1" || answer != nil {
		t.Errorf("while the first lives: the mark is %q, the answer %q", mark, answer)
	}
	shut(t, first)
	if begun, mark, _, err := second.Begin(ctx, execution.Key{Name: "key"}, "3", now, now.Add(time.Minute)); err != nil ||
		!begun || mark != "1" {
		t.Error("after it:", begun, mark, err)
	}
	if begun, mark, _, err := second.Begin(ctx, execution.Key{Name: "key"}, "4", now.Add(time.Hour),
		now.Add(2*time.Hour)); err != nil || !begun || mark != "4" {
		t.Error("after its time:", begun, mark, err)
	}
}

// The newest events of a function are kept, apart from those of others.
func TestEvents(t *testing.T) {
	t.Parallel()
	s, ctx, now := open(t, t.TempDir()), t.Context(), time.Now()
	defer shut(t, s)
	for n := range 103 {
		if err := s.KeepEvent(ctx, "t", "f", fmt.Sprint("exec_", n), []byte(fmt.Sprint(n)),
			now.Add(time.Duration(n/10)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.KeepEvent(ctx, "t", "g", "exec_0", []byte("g"), now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	event := func(tenant, name, id string) string {
		b, err := s.Event(ctx, tenant, name, id)
		if errors.Is(err, execution.ErrNotFound) {
			return "none"
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, c := range [][4]string{
		{"t", "f", "exec_102", "102"}, {"t", "f", "exec_3", "3"}, {"t", "f", "exec_2", "none"}, {"t", "g", "exec_0", "g"},
		{"u", "f", "exec_102", "none"}, {"t", "h", "exec_102", "none"},
	} {
		if got := event(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%v: %s", c, got)
		}
	}
	if err := s.Prune(ctx, now, now.Add(-time.Minute)); err != nil || event("t", "g", "exec_0") != "none" ||
		event("t", "f", "exec_3") != "3" {
		t.Error("pruned", err)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Rename(filepath.Join(dir, "state.db"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	if s.Ready(t.Context()) == nil {
		t.Error("ready without its file")
	}
	shut(t, s)
	if s.Ready(t.Context()) == nil {
		t.Error("ready after its end")
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	s, ctx, now := open(t, t.TempDir()), t.Context(), time.Now()
	defer shut(t, s)
	for i, ended := range []time.Time{now.Add(-time.Hour), now, {}} {
		id := fmt.Sprintf("exec_%010d", i)
		if err := s.Submit(ctx, execution.Job{ID: id, Tenant: "t", Status: execution.Queued}); err != nil {
			t.Fatal(err)
		}
		_, err := s.ChangeJob(ctx, id, func(j *execution.Job) error { j.EndedAt = ended; return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Prune(ctx, now, now.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	for i, there := range []bool{false, true, true} {
		if _, err := s.Job(context.Background(), fmt.Sprintf("exec_%010d", i)); there != (err == nil) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state.db"),
		[]byte("this is no database, and long enough to be seen as none at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, dir} {
		if s, err := sqlitestate.Open(path, sqlitestate.Config{}); err == nil {
			t.Errorf("%s was opened", path)
			shut(t, s)
		}
	}
	if _, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{MaxJobs: -1}); err == nil {
		t.Error("a negative number was taken")
	}
}
