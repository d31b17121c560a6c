package records_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
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
		"": "no folder", "file://": "no folder", "s3://": "no bucket", "s3:///x": "no bucket", "ftp://x/y": "must be file",
		"s3://bucket/pre//fix": "cannot be part of a key", "s3://bucket/prefix": "cannot be used",
		"s3://bucket/p?lok=x": "\"lok\" is unknown; accepted are kms", "s3://bucket?spool=spool": "absolute path",
		"s3://bucket?retain=long":         "90d or 36h",
		"s3://bucket?retain=90d":          "both a mode and a retention",
		"s3://bucket?lock=some&retain=1d": "must be GOVERNANCE or COMPLIANCE",
		"s3://bucket?kms=":                "has no value", "s3://bucket?kms=a&kms=b": "more than once",
		"s3://bucket?tag=x":      "name:value",
		"s3://bucket?class=GOLD": "storage class", "s3://bucket?spool-bytes=many": "number of bytes",
		"s3://bucket?%zz": "store options",
	} {
		if _, err := records.Open(t.Context(), store, cfg); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", store, err, why)
		}
	}
}

func TestFolder(t *testing.T) {
	for store, want := range map[string]string{
		"file:///var/audit": "/var/audit", "s3://bucket/prefix": "",
		"s3://bucket?kms=aws&lock=governance&retain=36h&class=STANDARD_IA&tag=keep:long&tag=a:b": "",
		"s3://bucket/p?spool=/var/spool/airlock&spool-bytes=1000":                                "/var/spool/airlock",
	} {
		if got, err := records.Folder(store); got != want || err != nil {
			t.Errorf("%s: %q %v", store, got, err)
		}
	}
	for _, store := range []string{"", "s3://", "ftp://x", "s3://b?nothing=x"} {
		if _, err := records.Folder(store); err == nil {
			t.Errorf("%q has a folder", store)
		}
	}
}

func FuzzFolder(f *testing.F) {
	for _, store := range []string{"file:///a", "s3://b/p?kms=k&lock=compliance&retain=9d&tag=a:b&spool=/s", "s3://b?%",
		"x"} {
		f.Add(store)
	}
	f.Fuzz(func(t *testing.T, store string) {
		if dir, err := records.Folder(store); err == nil && dir != "" && !filepath.IsAbs(dir) {
			t.Fatalf("%q gives the folder %q", store, dir)
		}
	})
}
