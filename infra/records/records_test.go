package records_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/recordstest"
	"github.com/airlock-run/airlock/infra/s3records"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	spaced := filepath.Join(dir, "with space")
	for store, want := range map[string]string{
		"file://" + dir + "/a":                            dir + "/a",
		(&url.URL{Scheme: "file", Path: spaced}).String(): spaced,
		"b":                      dir + "/b",
		"file://./c":             dir + "/c",
		dir + "/100%":            dir + "/100%",
		"file://" + dir + "/50%": dir + "/50%",
	} {
		s, err := records.Open(t.Context(), store, records.Config{})
		if err != nil {
			t.Errorf("%s: %v", store, err)
			continue
		}
		if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
			t.Errorf("%s: %v", store, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(want, "executions")); err != nil {
			t.Errorf("%s: %v", store, err)
		}
		r, err := records.OpenReader(t.Context(), store, records.Config{})
		if err != nil {
			t.Errorf("%s: %v", store, err)
			continue
		}
		if report, err := r.Verify(t.Context()); err != nil || !report.OK() || report.Records != 1 {
			t.Errorf("%s: %v %v", store, report, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	cfg := records.Config{S3: s3records.Config{Endpoint: "http://127.0.0.1:1", Attempts: 1}}
	for store, why := range map[string]string{
		"": "no folder", "file://": "no folder", "s3://": "no bucket", "s3:///x": "no bucket", "ftp://x/y": "are supported",
		"s3://bucket/pre//fix": "cannot be part of a key", "s3://bucket/prefix": "cannot be used",
	} {
		if _, err := records.Open(t.Context(), store, cfg); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", store, err, why)
		}
	}
}
