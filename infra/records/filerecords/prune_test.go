package filerecords_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// filled writes records of some days into a folder, by several writers whose chains span the days, some out of order.
// The records are of one day more.
func filled(t *testing.T, dir string, now time.Time, writers, days int) (ids []string) {
	t.Helper()
	for w := range writers {
		s, err := filerecords.Open(dir, filerecords.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for age := days - 1; age >= 0; age-- {
			for _, shift := range []int{0, 1, 0} { // one of three belongs to the day before: it ran over midnight
				r := recordstest.Sample(now.AddDate(0, 0, -age-shift))
				if err := s.Append(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, r.ID)
			}
		}
		if w > 0 { // one writer stays open
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return ids
}

func holds(t *testing.T, s *filerecords.Store) {
	t.Helper()
	report, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("%s", p)
	}
}

func dayOf(id string) string { return audit.Day(id, time.Time{}) }

func TestPrune(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	for name, c := range map[string]struct {
		keep filerecords.Retention
		gone int // days, counted from the oldest of eleven
	}{
		"no limit":         {filerecords.Retention{}, 0},
		"young enough":     {filerecords.Retention{MaxAge: 30 * 24 * time.Hour}, 0},
		"five days":        {filerecords.Retention{MaxAge: 5 * 24 * time.Hour}, 5},
		"an hour":          {filerecords.Retention{MaxAge: time.Hour}, 9}, // today and yesterday stay
		"one byte":         {filerecords.Retention{MaxBytes: 1}, 9},
		"room enough":      {filerecords.Retention{MaxBytes: 1 << 40}, 0},
		"age within bytes": {filerecords.Retention{MaxBytes: 1 << 40, MaxAge: 8 * 24 * time.Hour}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ids := filled(t, dir, now, 3, 10)
			s, err := filerecords.Open(dir, filerecords.Config{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			before, err := s.Days(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			pruned, err := s.Prune(t.Context(), c.keep)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(pruned.Days, before[:c.gone]) && c.gone > 0 || len(pruned.Days) != c.gone {
				t.Errorf("pruned %v, want the first %d of %v", pruned.Days, c.gone, before)
			}
			for _, id := range ids {
				_, err := s.Get(t.Context(), id)
				if gone := slices.Contains(pruned.Days, dayOf(id)); gone != errors.Is(err, audit.ErrNotFound) ||
					!gone && err != nil {
					t.Errorf("%s of %s: %v", id, dayOf(id), err)
				}
			}
			holds(t, s)
			if again, err := s.Prune(t.Context(), c.keep); err != nil || len(again.Days) != 0 {
				t.Errorf("a second time: %v %v", again, err)
			}
			if err := s.Append(t.Context(), recordstest.Sample(now.AddDate(0, 0, -9))); err != nil {
				t.Errorf("a straggler: %v", err)
			}
			holds(t, s)
		})
	}
}

// Interrupted at any call, retention leaves a folder that verifies, and continues the next time.
func TestPruneInterrupted(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	errStop := errors.New("stop")
	keep := filerecords.Retention{MaxAge: 2 * 24 * time.Hour}
	for at := 1; ; at++ {
		dir := t.TempDir()
		filled(t, dir, now, 2, 4)
		calls, armed := 0, false
		cfg := filerecords.Config{Now: func() time.Time { return now }, Intercept: func(string, string, int) error {
			if armed {
				if calls++; calls >= at {
					return errStop
				}
			}
			return nil
		}}
		s, err := filerecords.Open(dir, cfg)
		if err != nil {
			t.Fatal(err)
		}
		armed = true
		_, err = s.Prune(t.Context(), keep)
		armed = false
		holds(t, s)
		if _, err := s.Prune(t.Context(), keep); err != nil {
			t.Fatal(err)
		}
		holds(t, s)
		if days, err := s.Days(t.Context()); err != nil || len(days) != 3 {
			t.Errorf("days left: %v %v", days, err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "executions", "*")); err != nil || len(left) != 3 {
			t.Errorf("folders left: %v %v", left, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatalf("interrupted at call %d", at)
		}
		if err == nil {
			t.Logf("interrupted at each of %d calls", at-1)
			return
		}
	}
}

// If retention removes a day while a writer has it open, that writer's next record is not lost.
func TestPruneUnderAnOpenWriter(t *testing.T) {
	now := time.Now().UTC()
	dir := t.TempDir()
	old := func() audit.Record { return recordstest.Sample(now.AddDate(0, 0, -40)) }
	writer, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	pruner, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer pruner.Close()
	for range 3 {
		r := old()
		if err := writer.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if _, err := pruner.Get(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		holds(t, pruner)
		if _, err := pruner.Prune(t.Context(), filerecords.Retention{MaxAge: 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		holds(t, pruner)
	}
}

// Another writer may move a late record into a folder that is being removed.
func TestPruneBesideLateRecord(t *testing.T) {
	dir, appeared := t.TempDir(), false
	s, err := filerecords.Open(dir, filerecords.Config{Intercept: func(call, path string, _ int) error {
		if call != "unlink" || appeared || !strings.HasPrefix(path, "dt=") || strings.Contains(path, "/") {
			return nil
		}
		appeared = true
		folders, err := filepath.Glob(filepath.Join(dir, "*", path))
		if err != nil || len(folders) != 1 {
			t.Errorf("folders of %s: %v, %v", path, folders, err)
			return err
		}
		return os.WriteFile(filepath.Join(folders[0], "late.json"), nil, 0o600)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Append(t.Context(), recordstest.Sample(time.Now().UTC().AddDate(0, 0, -40))); err != nil {
		t.Fatal(err)
	}
	pruned, err := s.Prune(t.Context(), filerecords.Retention{MaxAge: 24 * time.Hour})
	if err != nil || pruned.Records != 1 || !appeared {
		t.Errorf("pruned %+v, %v; a record appeared: %v", pruned, err, appeared)
	}
	holds(t, s)
}

func TestReaderAndBadFolders(t *testing.T) {
	dir := t.TempDir()
	if _, err := filerecords.OpenReader(filepath.Join(dir, "none"), filerecords.Config{}); err == nil {
		t.Error("a folder that is not there was opened for reading")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", file, filepath.Join(file, "below"), "/proc/airlock"} {
		if _, err := filerecords.Open(bad, filerecords.Config{}); err == nil {
			t.Errorf("%q was opened", bad)
		}
	}
	if _, err := filerecords.Open(dir, filerecords.Config{Key: []byte("short")}); err == nil {
		t.Error("a short key was taken")
	}
	reader, err := filerecords.OpenReader(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	holds(t, reader)
	if err := reader.Append(t.Context(), recordstest.Sample(time.Now())); err == nil {
		t.Error("a reader wrote")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("a reader left something: %v %v", entries, err)
	}
}
