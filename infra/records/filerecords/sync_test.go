package filerecords_test

import (
	"errors"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// With Sync every part of a record is flushed before Append returns, the announcement before the record has its name.
func TestSyncFlushesEverything(t *testing.T) {
	var calls []string
	s, err := filerecords.Open(t.TempDir(), filerecords.Config{Sync: true,
		Intercept: func(call, path string, _ int) error {
			if call == "sync" || call == "rename" {
				calls = append(calls, call)
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		calls = nil
		if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"sync", "sync", "rename", "sync", "sync"} // head, object; its name, its line
	if len(calls) != len(want) {
		t.Fatalf("%v, want %v", calls, want)
	}
	for i := range want {
		if calls[i] != want[i] {
			t.Fatalf("%v, want %v", calls, want)
		}
	}
}

// A disk that fails to flush may have dropped data: the store refuses records until it is opened again, and then it
// verifies.
func TestSyncFailure(t *testing.T) {
	errDisk := errors.New("disk failure")
	for at := 1; ; at++ {
		dir, syncs := t.TempDir(), -1
		s, err := filerecords.Open(dir, filerecords.Config{Sync: true, Intercept: func(call, _ string, _ int) error {
			if call == "sync" && syncs >= 0 {
				if syncs++; syncs == at {
					return errDisk
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		first, second := recordstest.Sample(time.Now()), recordstest.Sample(time.Now())
		if err := s.Append(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		syncs = 0
		err = s.Append(t.Context(), second)
		syncs = -1
		if err == nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if at < 3 {
				t.Errorf("only %d flushes", at-1)
			}
			return
		}
		if !errors.Is(err, errDisk) {
			t.Errorf("flush %d: %v", at, err)
		}
		if err := s.Append(t.Context(), recordstest.Sample(time.Now())); !errors.Is(err, errDisk) {
			t.Errorf("after flush %d had failed: %v", at, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		again, err := filerecords.Open(dir, filerecords.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Get(t.Context(), first.ID); err != nil {
			t.Error(err)
		}
		if err := again.Append(t.Context(), second); err != nil && !errors.Is(err, audit.ErrExists) {
			t.Error(err)
		}
		holds(t, again)
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}
