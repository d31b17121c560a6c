package records_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/auditindex"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/policy/audit"
)

// summary is what both DuckDB and the index know.
type summary struct {
	Records         int64            `json:"records"`
	DurationMs      float64          `json:"durationMs"`
	CPUMs           float64          `json:"cpuMs"`
	OutputBytes     int64            `json:"outputBytes"`
	APICalls        int64            `json:"apiCalls"`
	PeakMemoryBytes int64            `json:"peakMemoryBytes"`
	Oldest          int64            `json:"oldest"` // in Unix microseconds
	Newest          int64            `json:"newest"`
	ByStatus        map[string]int64 `json:"byStatus"`
	ByPolicy        map[string]int64 `json:"byPolicy"`
	ByTenant        map[string]int64 `json:"byTenant"`
}

// DuckDB reads the layouts of a folder and of a bucket, and computes what the index does.
func TestDuckDBAgreesWithTheIndex(t *testing.T) {
	modules := os.Getenv("DUCKDB_MODULES")
	if modules == "" {
		t.Skip("DUCKDB_MODULES is not set: make test-duckdb installs DuckDB and sets it")
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	fill := func(store records.Store) {
		t.Helper()
		for i := range 300 {
			r := recordstest.Sample(now.Add(-time.Duration(i) * 13 * time.Minute))
			r.Status = []string{"completed", "error", "timeout"}[i%3]
			r.Policy = []string{"standard", "strict"}[i%2]
			r.Caller.Tenant = "tenant " + strconv.Itoa(i%4)
			r.DurationMs, r.Usage.CPUMs, r.Usage.APICalls = float64(i)/8, 1.125, i%5 // sums of them are exact
			r.OutputBytes, r.Usage.MemoryBytes = int64(i), int64(i)<<10
			if err := store.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		store, err := records.Open(t.Context(), dir, records.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		fill(store)
		want := indexed(t, store)
		for _, files := range []string{"audit-*.jsonl", "executions/dt=*/*.json"} {
			if diff := cmp.Diff(want, duckDB(t, modules, filepath.Join(dir, files))); diff != "" {
				t.Errorf("%s: the index and DuckDB (-want +got):\n%s", files, diff)
			}
		}
	})
	t.Run("bucket", func(t *testing.T) {
		s3test.SetEnvironment()
		server, err := s3test.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		bucket := server.Bucket(t)
		store, err := records.Open(t.Context(), "s3://"+bucket+"/audit",
			records.Config{S3: s3records.Config{Endpoint: server.Endpoint}})
		if err != nil {
			t.Fatal(err)
		}
		fill(store)
		want := indexed(t, store)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		dir := download(t, server.Client(t), bucket)
		if diff := cmp.Diff(want, duckDB(t, modules, filepath.Join(dir, "audit/executions/dt=*/*.json"))); diff != "" {
			t.Errorf("the index and DuckDB (-want +got):\n%s", diff)
		}
	})
}

// indexed returns the summary of an index over a store.
func indexed(t *testing.T, store records.Store) summary {
	t.Helper()
	x, err := auditindex.Open(t.Context(), t.TempDir(), store, auditindex.Config{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := x.Summary(t.Context(), audit.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return summary{
		Records: sum.Records, DurationMs: sum.DurationMs, CPUMs: sum.CPUMs, OutputBytes: sum.OutputBytes,
		APICalls: sum.APICalls, PeakMemoryBytes: sum.PeakMemoryBytes, Oldest: sum.Oldest.UnixMicro(),
		Newest: sum.Newest.UnixMicro(), ByStatus: sum.ByStatus, ByPolicy: sum.ByPolicy, ByTenant: sum.ByTenant,
	}
}

// duckDB returns the summary that DuckDB computes from files.
func duckDB(t *testing.T, modules, files string) (sum summary) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "testdata/summary.mjs", files)
	cmd.Env = append(os.Environ(), "DUCKDB_MODULES="+modules)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &sum)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, failed.String(), out)
	}
	return sum
}

// download copies a bucket to a folder.
func download(t *testing.T, client *s3.Client, bucket string) string {
	t.Helper()
	dir := t.TempDir()
	pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: o.Key})
			if err != nil {
				t.Fatal(err)
			}
			doc, err := io.ReadAll(out.Body)
			if err != nil {
				t.Fatal(err)
			}
			if err := out.Body.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, filepath.FromSlash(aws.ToString(o.Key)))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, doc, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}
