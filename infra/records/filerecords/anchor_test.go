package filerecords_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// appended opens a folder, appends n records and closes it; before is called while it is open.
func appended(t *testing.T, dir string, n int, before func(*filerecords.Store)) {
	t.Helper()
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
			t.Fatal(err)
		}
	}
	if before != nil {
		before(s)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func headsOf(t *testing.T, dir string) []audit.Head {
	t.Helper()
	s, err := filerecords.OpenReader(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	heads, err := s.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return heads
}

// against verifies a folder against heads.
func against(t *testing.T, dir string, heads []audit.Head) audit.Report {
	t.Helper()
	s, err := filerecords.OpenReader(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	since := time.Now().Add(-12 * time.Hour).UTC().Format(time.DateOnly)
	report, err := s.VerifyAgainst(t.Context(), []audit.Anchor{{Source: "the anchor", Since: since, Heads: heads}})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Each of these folders is consistent in itself, so Verify without an anchor finds nothing.
func TestAnchorFindsWhatAgreesWithItself(t *testing.T) {
	for name, attack := range map[string]func(t *testing.T, dir, old string){
		"the whole store is put back": func(t *testing.T, dir, old string) {
			replaceFolder(t, dir, old)
		},
		"the store is emptied": func(t *testing.T, dir, _ string) {
			replaceFolder(t, dir, t.TempDir())
		},
		"the store is recreated, with as many records": func(t *testing.T, dir, _ string) {
			replaceFolder(t, dir, t.TempDir())
			appended(t, dir, 5, nil)
		},
		"the writers' accounts go with the records": func(t *testing.T, dir, _ string) {
			for _, path := range []string{"writers", "executions"} {
				if err := os.RemoveAll(filepath.Join(dir, path)); err != nil {
					t.Fatal(err)
				}
			}
			logs, _ := filepath.Glob(filepath.Join(dir, "audit-*"))
			for _, path := range logs {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		},
		"the ledger says that retention took today's": func(t *testing.T, dir, _ string) {
			forgeRetention(t, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, old := t.TempDir(), t.TempDir()
			appended(t, dir, 2, nil)
			replaceFolder(t, old, dir)
			appended(t, dir, 3, nil)
			heads := headsOf(t, dir)
			if report := against(t, dir, heads); !report.OK() || report.Anchors[0].Writers != 2 {
				t.Fatalf("untouched: %+v", report)
			}
			attack(t, dir, old)
			s, err := filerecords.OpenReader(dir, filerecords.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if report, err := s.Verify(t.Context()); err != nil || !report.OK() || len(report.Anchors) != 0 {
				t.Errorf("without an anchor: %+v %v", report, err)
			}
			report := against(t, dir, heads)
			if report.OK() || !strings.Contains(report.Problems[0].String(), "the anchor names") {
				t.Errorf("with the anchor: %+v", report)
			}
		})
	}
}

// replaceFolder replaces the content of dir by that of from.
func replaceFolder(t *testing.T, dir, from string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// forgeRetention removes every record and enters into the ledger that retention did so, some days in the future, as
// retention would have to.
func forgeRetention(t *testing.T, dir string) {
	t.Helper()
	later := time.Now().Add(5 * 24 * time.Hour)
	s, err := filerecords.Open(dir, filerecords.Config{Now: func() time.Time { return later }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), filerecords.Retention{MaxAge: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnchorAllowsRetention(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	dir := t.TempDir()
	filled(t, dir, now, 3, 10)
	heads := headsOf(t, dir)
	s, err := filerecords.Open(dir, filerecords.Config{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var early []audit.Head
	err = s.Each(t.Context(), time.Time{}, func(line []byte) error {
		r, err := audit.Unseal(line, nil)
		if r.Chain.Seq == 1 {
			early = append(early, audit.Head{Writer: r.Chain.Writer, Seq: 1, Hash: r.Chain.Hash, ID: r.ID})
		}
		return err
	})
	if err != nil || len(early) != len(heads) {
		t.Fatal(early, err)
	}
	pruned, err := s.Prune(t.Context(), filerecords.Retention{MaxAge: time.Hour})
	if err != nil || len(pruned.Days) != 9 {
		t.Fatal(pruned, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if report := against(t, dir, heads); !report.OK() {
		t.Errorf("%+v", report)
	}
	if report := against(t, dir, early); !report.OK() || report.Anchors[0].Pruned != len(early) {
		t.Errorf("records in the middle of what retention took: %+v", report)
	}
	later := now.Add(30 * 24 * time.Hour)
	if s, err = filerecords.Open(dir, filerecords.Config{Now: func() time.Time { return later }}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), filerecords.Retention{MaxAge: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := headsOf(t, dir); len(left) != 0 {
		t.Errorf("chains of which nothing is left are anchored: %v", left)
	}
}

// An anchor that was taken while records are written names no record that a crash could undo.
func TestAnchorOfAnOpenStore(t *testing.T) {
	dir := t.TempDir()
	var heads []audit.Head
	appended(t, dir, 3, func(s *filerecords.Store) {
		var err error
		if heads, err = s.Heads(t.Context()); err != nil || len(heads) != 1 || heads[0].Seq != 3 {
			t.Errorf("%v %v", heads, err)
		}
		if report := against(t, dir, heads); !report.OK() {
			t.Errorf("while it is open: %+v", report)
		}
		if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
			t.Fatal(err)
		}
	})
	appended(t, dir, 2, nil)
	if report := against(t, dir, heads); !report.OK() {
		t.Errorf("an anchor that lags behind: %+v", report)
	}
	other := []audit.Head{{Writer: heads[0].Writer, Seq: 2, Hash: heads[0].Hash}}
	if report := against(t, dir, other); report.OK() {
		t.Error("a record that the anchor names otherwise is taken")
	}
}
