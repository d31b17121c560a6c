package sqlitestate_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

// faultOf returns the fault of an error, or a description of any other error.
func faultOf(err error) string {
	var fault *execution.StoreError
	switch {
	case err == nil:
		return "none"
	case errors.As(err, &fault):
		return string(fault.Fault)
	}
	return "other: " + err.Error()
}

// changes are all kinds of changes; each returns its error.
func changes(t *testing.T, s *sqlitestate.Store) map[string]func() error {
	t.Helper()
	ctx, now, n := t.Context(), time.Now(), 0
	large := strings.Repeat("x", 64<<10)
	return map[string]func() error{
		"save": func() error { return s.Change(ctx, "t", "f", add(large)) },
		"submit": func() error {
			n++
			return s.Submit(ctx, execution.Job{ID: fmt.Sprintf("exec_%010d", n), Tenant: "t", Status: execution.Queued,
				Request: execution.Request{Code: large}})
		},
		"begin": func() error {
			_, _, _, err := s.Begin(ctx, execution.Key{Name: large}, "m", now, now.Add(time.Hour))
			return err
		},
		"event": func() error { return s.KeepEvent(ctx, "t", "f", "exec_0", []byte(large), now) },
	}
}

// clock is put forward by hand.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(1e9, 0).Add(time.Duration(c.ahead.Load())) }

// forward moves the clock so that all cached results of checks expire.
func (c *clock) forward() { c.ahead.Add(int64(time.Hour)) }

// While the disk is full or cannot be written to, every change fails with that error and changes nothing, and Ready
// returns it too. Everything works again as soon as the disk does.
func TestDiskFaults(t *testing.T) {
	disk := statetest.NewDisk(t, 4<<20)
	if disk == nil {
		return
	}
	var time clock
	s, err := sqlitestate.Open(disk.Dir, sqlitestate.Config{Now: time.now})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, s)
	all := changes(t, s)
	every := func(want string) {
		t.Helper()
		for name, change := range all {
			if got := faultOf(change()); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		time.forward()
		if got := faultOf(s.Ready(t.Context())); got != want {
			t.Errorf("ready: %s, want %s", got, want)
		}
	}
	every("none")
	if err := s.Prune(t.Context(), time.now(), time.now()); err != nil { // the journal has no reserved space
		t.Fatal(err)
	}
	disk.Fill()
	every("full")
	if _, err := s.Function(t.Context(), "t", "f"); err != nil {
		t.Errorf("reading while the disk is full: %v", err)
	}
	disk.Free()
	every("none")
	f, err := s.Function(t.Context(), "t", "f")
	if err != nil || len(f.Versions) != 2 {
		t.Errorf("%d versions, want one for each time that saving worked; %v", len(f.Versions), err)
	}
}

// The kernel refuses to make a file system read-only while a state has a file there open for writing. On a read-only
// file system no state opens.
func TestReadOnlyFileSystem(t *testing.T) {
	disk := statetest.NewDisk(t, 4<<20)
	if disk == nil {
		return
	}
	s, err := sqlitestate.Open(disk.Dir, sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Remount(true); !errors.Is(err, unix.EBUSY) {
		t.Errorf("below an open state: %v", err)
	}
	for name, change := range changes(t, s) {
		if err := change(); err != nil {
			t.Errorf("%s after the refused remount: %v", name, err)
		}
	}
	shut(t, s)
	if err := disk.Remount(true); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlitestate.Open(disk.Dir, sqlitestate.Config{}); err == nil {
		shut(t, s)
		t.Error("a state on a read-only file system was opened")
	}
}

// A folder that became read-only is not ready, and cannot be opened.
func TestReadOnlyFolder(t *testing.T) {
	disk := statetest.NewDisk(t, 4<<20)
	if disk == nil {
		return
	}
	var time clock
	s, err := sqlitestate.Open(disk.Dir, sqlitestate.Config{Now: time.now})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	disk.ReadOnly()
	time.forward()
	if got := faultOf(s.Ready(t.Context())); got != "read_only" {
		t.Errorf("ready: %s", got)
	}
	if another, err := sqlitestate.Open(disk.Dir, sqlitestate.Config{}); err == nil ||
		!strings.Contains(err.Error(), "read-only") {
		t.Errorf("opened: %v, %v", another, err)
	}
	disk.Writable()
	time.forward()
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	shut(t, s)
}

// Callers behind a lock of another process wait together: one after the other, they would take 70 seconds.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := sqlitestate.Open(dir, sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, s)
	other, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "state.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	type outcome struct {
		fault string
		took  time.Duration
	}
	const callers = 100
	done := make(chan outcome, callers)
	for n := range callers {
		go func() {
			began := time.Now()
			err := s.Submit(t.Context(), execution.Job{ID: fmt.Sprintf("exec_%010d", n), Tenant: "t", Status: execution.Queued})
			done <- outcome{faultOf(err), time.Since(began)}
		}()
	}
	for range callers {
		if o := <-done; o.fault != "busy" || o.took > 30*time.Second {
			t.Errorf("%s after %s", o.fault, o.took)
		}
	}
	if got := faultOf(s.Ready(t.Context())); got != "busy" {
		t.Errorf("ready: %s", got)
	}
	if _, err := s.Functions(t.Context(), "t", "", 10); err != nil {
		t.Errorf("reading waits for the lock: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// overwrite overwrites pages of the file with garbage, from a given page on.
func overwrite(t *testing.T, dir string, first, pages int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "state.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("\xa5rubbish", pages*4096/8)), int64(first)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A damaged file is found when it is opened, and while it is in use. Nothing is written to it from then on.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		first, pages int
		inUse        bool
	}{
		{"found when it is opened", 30, 30, false},
		{"found while it is in use", 30, 30, true},
		{"one page, when it is opened", 3, 1, false},
		{"the first page but for its head", 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var clock clock
			dir := t.TempDir()
			s, err := sqlitestate.Open(dir, sqlitestate.Config{Now: clock.now, CheckTime: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 200 {
				if err := s.Submit(t.Context(), execution.Job{ID: fmt.Sprintf("exec_%010d", n), Tenant: "t",
					Status: execution.Queued, Request: execution.Request{Code: strings.Repeat("c", 3000)}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Prune(t.Context(), time.Now(), time.Now()); err != nil { // all of it is in the file
				t.Fatal(err)
			}
			if !c.inUse {
				shut(t, s)
			}
			if overwrite(t, dir, c.first, c.pages); c.pages == 0 {
				scrawl(t, dir)
			}
			if !c.inUse {
				if s, err = sqlitestate.Open(dir, sqlitestate.Config{Now: clock.now, CheckTime: time.Hour}); err != nil {
					t.Fatal(err)
				}
			}
			defer shut(t, s)
			clock.forward()
			if got := faultOf(s.Ready(t.Context())); got != "corrupt" {
				t.Errorf("ready: %s", got)
			}
			before, err := os.ReadFile(filepath.Join(dir, "state.db"))
			if err != nil {
				t.Fatal(err)
			}
			for name, change := range changes(t, s) {
				if got := faultOf(change()); got != "corrupt" {
					t.Errorf("%s: %s", name, got)
				}
			}
			after, err := os.ReadFile(filepath.Join(dir, "state.db"))
			if err != nil || string(before) != string(after) {
				t.Errorf("a damaged file was written to, %v", err)
			}
			if _, err := s.Functions(t.Context(), "t", "", 10); faultOf(err) != "corrupt" {
				t.Errorf("reading: %v", err)
			}
		})
	}
}

// scrawl damages the first page except for the header that marks the file as a database.
func scrawl(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "state.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("\xa5", 3900)), 110); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
