package filerecords_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// Whoever reads a folder that somebody else has made neither fills the memory with a line without end nor waits until
// all of it is read.
func TestListOfEndlessLines(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"finished": "\n", "unfinished": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := filerecords.Open(dir, filerecords.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%v, %v", files, err)
			}
			const size = 1 << 40
			if err := os.Truncate(files[0], size); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(files[0], os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt([]byte(end), size); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := filerecords.OpenReader(dir, filerecords.Config{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.List(context.Background(), audit.Query{})
			if err == nil || !strings.Contains(err.Error(), "bytes") {
				t.Errorf("it lists with %v", err)
			}
		})
	}
}
