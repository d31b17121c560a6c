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

// hashed are ids of scheduled runs as earlier releases made them, with the days that they were filed under.
var hashed = map[string]string{
	"exec_7293f1d0c4b5a6978877665544": "9849-01-08",
	"exec_0107abcdef0123456789abcdef": "2005-02-16",
	"exec_0107abcdef0123456789abcde0": "2005-02-16",
}

// misfiled returns a folder of ten records by one writer, of which three are filed as earlier releases filed them.
func misfiled(t *testing.T, now time.Time) (dir string, ids []string) {
	t.Helper()
	dir = t.TempDir()
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	odd := []string{"exec_7293f1d0c4b5a6978877665544", "exec_0107abcdef0123456789abcdef",
		"exec_0107abcdef0123456789abcde0"}
	for i := range 10 {
		r := recordstest.Sample(now.Add(time.Duration(i-10) * 5 * time.Hour))
		if i%3 == 2 {
			r.ID = odd[i/3]
		}
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
		if hashed[r.ID] != "" {
			misfile(t, dir, r.ID, r.Time.Format(time.DateOnly), hashed[r.ID])
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, ids
}

// misfile files a record under another day.
func misfile(t *testing.T, dir, id, from, to string) {
	t.Helper()
	folder := filepath.Join(dir, "executions", "dt="+to)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	name := id + ".json"
	if err := os.Rename(filepath.Join(dir, "executions", "dt="+from, name), filepath.Join(folder, name)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit-"+from+".jsonl")
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var stay []string
	for line := range strings.Lines(string(doc)) {
		if !strings.Contains(line, `"id":"`+id+`"`) {
			stay = append(stay, line)
			continue
		}
		f, err := os.OpenFile(filepath.Join(dir, "audit-"+to+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(stay, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func faults(t *testing.T, s *filerecords.Store) (all []audit.Fault) {
	t.Helper()
	report, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		all = append(all, p.Fault)
	}
	return all
}

func TestRepairDays(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	dir, ids := misfiled(t, now)
	reader, err := filerecords.OpenReader(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := faults(t, reader); !slices.Equal(got, []audit.Fault{audit.Misfiled, audit.Misfiled, audit.Misfiled}) {
		t.Errorf("before: %v", got)
	}
	if _, err := reader.RepairDays(t.Context()); err == nil {
		t.Error("a reader repaired")
	}
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.RepairDays(t.Context()); !errors.Is(err, filerecords.ErrInUse) {
		t.Errorf("beside another writer: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	moved, err := s.RepairDays(t.Context())
	if err != nil || len(moved) != 3 {
		t.Fatalf("moved %v, %v", moved, err)
	}
	for _, m := range moved {
		if m.From != hashed[m.ID] || m.To == m.From {
			t.Errorf("moved %+v", m)
		}
	}
	holds(t, reader)
	if err := s.Append(t.Context(), recordstest.Sample(now)); err != nil {
		t.Error(err)
	}
	holds(t, reader)
	page, err := reader.List(t.Context(), audit.Query{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, r := range page.Items[1:] {
		listed = append(listed, r.ID)
	}
	slices.Reverse(listed)
	if !slices.Equal(listed, ids) {
		t.Errorf("listed %v, want %v", listed, ids)
	}
	for _, id := range ids {
		if _, err := reader.Get(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, day := range []string{"9849-01-08", "2005-02-16"} {
		if left, err := filepath.Glob(filepath.Join(dir, "*", "*"+day+"*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	}
	if again, err := s.RepairDays(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("a second time: %v, %v", again, err)
	}
}

// Interrupted at any call, a repair continues the next time, and no record is lost meanwhile.
func TestRepairDaysInterrupted(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	errStop := errors.New("stop")
	for at := 1; ; at++ {
		dir, ids := misfiled(t, now)
		calls, armed := 0, false
		s, err := filerecords.Open(dir, filerecords.Config{Intercept: func(string, string, int) error {
			if armed {
				if calls++; calls >= at {
					return errStop
				}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		armed = true
		_, err = s.RepairDays(t.Context())
		armed = false
		for _, id := range ids {
			if _, err := s.Get(t.Context(), id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		if slices.Contains(faults(t, s), audit.Altered) {
			t.Error("a record was altered")
		}
		if _, err := s.RepairDays(t.Context()); err != nil {
			t.Fatal(err)
		}
		holds(t, s)
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
