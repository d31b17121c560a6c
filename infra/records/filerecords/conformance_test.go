package filerecords_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
)

func suite(cfg filerecords.Config) recordstest.Suite {
	return recordstest.Suite{
		New: func(t *testing.T) string {
			dir := t.TempDir()
			t.Cleanup(func() { leavesNothing(t, dir) })
			return dir
		},
		Open: func(place string, fault recordstest.Fault) (recordstest.Store, error) {
			cfg.Intercept = filerecords.Interceptor(fault)
			return filerecords.Open(place, cfg)
		},
		Short: func(n int, err error) error { return &filerecords.ShortWrite{N: n, Err: err} },
		Full:  syscall.ENOSPC,
	}
}

// leavesNothing checks that the next opening removes what killed writers left, and its closing what it made itself.
func leavesNothing(t *testing.T, dir string) {
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "writers"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != "ledger.jsonl" {
			t.Errorf("left behind: writers/%s", f.Name())
		}
	}
}

func TestMain(m *testing.M) { recordstest.Main(m, suite(filerecords.Config{})) }

func TestConformance(t *testing.T) { recordstest.Run(t, suite(filerecords.Config{})) }
