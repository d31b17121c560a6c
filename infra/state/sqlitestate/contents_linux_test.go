package sqlitestate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

// filesIn returns how many contents of a state have files.
func filesIn(t *testing.T, dir string) int {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(dir, "contents"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(all)
}

// Large contents are in files, which end with their rows: when a function is deleted, a job ends, a snapshot is
// replaced, or a change fails. The next start deletes files that nothing names.
func TestContentFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const most = 3 << 20
	open := func() *sqlitestate.Store {
		s, err := sqlitestate.Open(dir, sqlitestate.Config{Storage: func(string) execution.Storage {
			return execution.Storage{Functions: most, Deliveries: most}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	expect := func(what string, want int) {
		t.Helper()
		if got := filesIn(t, dir); got != want {
			t.Errorf("%s: %d files, want %d", what, got, want)
		}
	}
	large := strings.Repeat("x", 2<<20)
	save := func(name string) error { return s.Change(t.Context(), "t", name, add(large)) }
	if err := save("f"); err != nil {
		t.Fatal(err)
	}
	expect("a version", 1)
	var full *execution.QuotaError
	if err := save("g"); !errors.As(err, &full) {
		t.Errorf("beyond the quota: %v", err)
	}
	expect("a version beyond the quota", 1)
	job := execution.Job{
		ID: "exec_0000000001", Tenant: "t", Status: execution.Paused, Request: execution.Request{Code: large},
		Waits: execution.Waits{Wait: &execution.Wait{DueAt: time.Now().Add(time.Hour)}, Snapshot: []byte(large)},
	}
	if err := s.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	expect("a paused job", 3)
	other := bytes.Repeat([]byte("y"), 1<<20)
	replace := func(j *execution.Job) error { j.Snapshot = other; return nil }
	if _, err := s.ChangeJobState(t.Context(), job.ID, replace); err != nil {
		t.Fatal(err)
	}
	expect("another snapshot", 3)
	refused := errors.New("refused")
	_, err := s.ChangeJobState(t.Context(), job.ID, func(j *execution.Job) error { j.Snapshot = other; return refused })
	if !errors.Is(err, refused) {
		t.Error(err)
	}
	expect("a change that fails", 3)
	stray := filepath.Join(dir, "contents", "STRAY")
	if err := os.WriteFile(stray, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	s = open()
	t.Cleanup(func() { shut(t, s) })
	expect("after a start", 3)
	got, err := s.Job(t.Context(), job.ID)
	if err != nil || got.Request.Code != large || !bytes.Equal(got.Snapshot, other) {
		t.Errorf("%d bytes of code, %d of the snapshot, %v", len(got.Request.Code), len(got.Snapshot), err)
	}
	_, err = s.ChangeJobState(t.Context(), job.ID, func(j *execution.Job) error {
		j.Status, j.EndedAt = execution.Completed, time.Now()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	expect("a job that has ended", 1)
	if err := s.Delete(t.Context(), "t", "f"); err != nil {
		t.Fatal(err)
	}
	expect("all deleted", 0)
	event := []byte(large)
	for n, id := range []string{"exec_0000000002", "exec_0000000003", "exec_0000000003"} {
		if err := s.KeepEvent(t.Context(), "t", "f", id, event[:len(event)-n], time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	expect("events, of which one was stored again", 1)
	if got, err := s.Event(t.Context(), "t", "f", "exec_0000000003"); err != nil || !bytes.Equal(got, event[2:]) {
		t.Errorf("%d bytes of the event, %v", len(got), err)
	}
	if _, err := s.Event(t.Context(), "t", "f", "exec_0000000002"); !errors.Is(err, execution.ErrNotFound) {
		t.Errorf("an event beyond the quota: %v", err)
	}
	later := time.Now().Add(time.Minute)
	if err := s.Prune(t.Context(), later, later); err != nil {
		t.Fatal(err)
	}
	expect("an event that has expired", 0)
	if used, err := s.Stats(t.Context()); err != nil || used.FileBytes > 2<<20 {
		t.Errorf("%d bytes, %v", used.FileBytes, err)
	}
}

// A content whose file is missing, cut, or something else than a file is an error that names the fault, and nothing
// else of the state has it.
func TestLostContentFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := sqlitestate.Open(dir, sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	for n := range 5 {
		if err := s.Change(t.Context(), "t", fmt.Sprint("f", n), add(strings.Repeat("x", 1<<20))); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "contents", "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		switch n {
		case 0:
			err = os.Truncate(files[0], 1000)
		case 1:
			err = os.Remove(files[0])
		case 2:
			elsewhere := filepath.Join(dir, "f")
			err = errors.Join(os.Rename(files[0], elsewhere), os.Symlink(elsewhere, files[0]))
		case 3:
			err = errors.Join(os.Remove(files[0]), unix.Mkfifo(files[0], 0o600)) // no process writes into it
		case 4:
			err = os.Truncate(files[0], 1<<40)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Content(t.Context(), "t", fmt.Sprint("f", n), 1)
		if got := faultOf(err); got != string(execution.StoreLost) {
			t.Errorf("%d: %s", n, got)
		}
		if err := s.Delete(t.Context(), "t", fmt.Sprint("f", n)); err != nil {
			t.Error(err)
		}
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// The content of one job that is lost keeps no other from running and from being taken over. The job runs once its
// content is there again.
func TestLostContents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *sqlitestate.Store {
		s, err := sqlitestate.Open(dir, sqlitestate.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	submit := func(id, code string) {
		t.Helper()
		job := execution.Job{ID: id, Tenant: "t", Status: execution.Queued, Request: execution.Request{Code: code}}
		if err := s.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "exec_0000000001", "exec_0000000002"
	submit(first, strings.Repeat("x", 1<<20))
	submit(second, "1")
	contents, aside := filepath.Join(dir, "contents"), filepath.Join(dir, "aside")
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	claim := func(when time.Time, fails error, want ...string) {
		t.Helper()
		jobs, err := s.ClaimSome(t.Context(), when, "", nil, 2)
		var got []string
		for _, job := range jobs {
			got = append(got, job.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || !errors.Is(err, fails) {
			t.Errorf("claimed %v, %v; want %v, %v", got, err, want, fails)
		}
	}
	move(contents, aside)
	if fault := faultOf(s.Ready(t.Context())); fault != "lost" {
		t.Errorf("without its contents, the state is ready: %q", fault)
	}
	claim(now, execution.ErrContentLost, second) // together with the others, and not instead of them
	claim(now, execution.ErrNotFound)
	claim(now.Add(2*time.Minute), execution.ErrContentLost)
	move(aside, contents)
	claim(now.Add(4*time.Minute), nil, first)
	move(contents, aside)
	shut(t, s)
	s = open()
	t.Cleanup(func() { shut(t, s) })
	orphans, err := s.Orphans(t.Context())
	if len(orphans) != 1 || orphans[0].ID != second || err == nil {
		t.Errorf("%d orphans, %v", len(orphans), err)
	}
	move(aside, contents)
	if orphans, err := s.Orphans(t.Context()); len(orphans) != 2 || err != nil {
		t.Errorf("%d orphans, %v", len(orphans), err)
	}
}

// A lost content stops its own execution only.
func TestLostRequest(t *testing.T) { withoutContents(t, statetest.TestLost) }

// Lost values of an execution that waits stop this execution only.
func TestLostValues(t *testing.T) { withoutContents(t, statetest.TestLostValues) }

// A lost snapshot stops its own execution only.
func TestLostSnapshot(t *testing.T) { withoutContents(t, statetest.TestLostSnapshot) }

func withoutContents(t *testing.T, test func(*testing.T, statetest.State, func(*testing.T))) {
	t.Helper()
	t.Parallel()
	f := folder{t.TempDir(), map[statetest.Store]bool{}}
	test(t, f, func(t *testing.T) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(f.dir, "contents")); err != nil {
			t.Fatal(err)
		}
	})
}
