package filerecords_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// FuzzFolder replaces the store's own files by arbitrary bytes. The store may return an error and must not panic.
func FuzzFolder(f *testing.F) {
	dir := f.TempDir()
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		f.Fatal(err)
	}
	r := recordstest.Sample(time.Now())
	if err := s.Append(f.Context(), r); err != nil {
		f.Fatal(err)
	}
	day := audit.Day(r.ID, r.Time)
	heads, err := filepath.Glob(filepath.Join(dir, "writers", "*.head"))
	if err != nil || len(heads) != 1 {
		f.Fatal(heads, err)
	}
	read := func(path string) []byte {
		doc, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		return doc
	}
	line, head := read(filepath.Join(dir, "audit-"+day+".jsonl")), read(heads[0])
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	ledger := read(filepath.Join(dir, "writers", "ledger.jsonl"))
	f.Add(line, line, head, ledger, "eyJkIjoiMjAyNi0wMS0wMSIsImwiOjV9")
	f.Add([]byte("{}\n\n\n"), []byte{}, head[:1024], []byte("{\n"), "")
	f.Fuzz(func(t *testing.T, log, object, head, ledger []byte, cursor string) {
		dir := t.TempDir()
		for path, doc := range map[string][]byte{
			"audit-" + day + ".jsonl": log, "executions/dt=" + day + "/" + r.ID + ".json": object,
			"writers/" + filepath.Base(heads[0]): head, "writers/ledger.jsonl": ledger,
		} {
			path = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, doc, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := filerecords.Open(dir, filerecords.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.List(t.Context(), audit.Query{}); err != nil {
			t.Fatal(err)
		}
		_, _ = s.List(t.Context(), audit.Query{Cursor: cursor})
		_, _ = s.Get(t.Context(), r.ID)
		fresh := recordstest.Sample(time.Now())
		if err := s.Append(t.Context(), fresh); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), fresh.ID); err != nil {
			t.Fatal(err)
		}
	})
}
