package filerecords_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/policy/audit"
)

// Ready returns an error while the folder cannot store records, and nil when it can again.
func TestReady(t *testing.T) {
	full, now, calls := false, time.Unix(1_800_000_000, 0), 0
	dir := t.TempDir()
	s, err := filerecords.Open(dir, filerecords.Config{Now: func() time.Time { return now },
		Intercept: func(call, _ string, _ int) error {
			if calls++; full && (call == "write" || call == "pwrite") {
				return unix.ENOSPC
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		full  bool
		later time.Duration
		ready bool
	}{{false, 0, true}, {true, time.Millisecond, true}, {true, time.Second, false}, {true, time.Millisecond, false},
		{false, time.Millisecond, true}} {
		full, now = c.full, now.Add(c.later)
		if err := s.Ready(t.Context()); (err == nil) != c.ready || !c.ready && !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	before := calls
	if err := s.Ready(t.Context()); err != nil || calls != before {
		t.Errorf("%v; asked at once again, it made %d calls", err, calls-before)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "writers", "*.new")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, filerecords.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	reader, err := filerecords.OpenReader(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := reader.Ready(t.Context()); err == nil {
		t.Error("a reader says that it takes records")
	}
}

func TestAppendGetList(t *testing.T) {
	dir := t.TempDir()
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for range 120 {
		r := sample()
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), r); !errors.Is(err, audit.ErrExists) {
			t.Fatalf("second append: %v", err)
		}
		got, err := s.Get(t.Context(), r.ID)
		if err != nil || got.ID != r.ID || got.Status != r.Status {
			t.Fatalf("get: %v %+v", err, got)
		}
		want[r.ID] = true
	}
	cursor, last := "", ""
	for {
		p, err := s.List(t.Context(), audit.Query{Limit: 7, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Items {
			if !want[r.ID] || last != "" && r.ID >= last {
				t.Fatalf("%s after %s", r.ID, last)
			}
			delete(want, r.ID)
			last = r.ID
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	if len(want) != 0 {
		t.Fatalf("%d records not listed", len(want))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
