package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

// With a spool no caller waits for a bucket that cannot be reached: the record of a locked-down function process is
// on this machine's disk, and the response is sent.
func TestServeWithSpool(t *testing.T) {
	t.Parallel()
	s3, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			s3.Stop()
		}
	})
	spool := filepath.Join(t.TempDir(), "spool")
	p := start(t, append(s3test.Environment(), "S3_ENDPOINT="+s3.Endpoint,
		"AUDIT_STORE=s3://"+s3.Bucket(t)+"/audit?spool="+spool)...)
	if status, v := p.post(t.Context(), t, "/api/execute", `{"code":"1"}`); status != 200 {
		t.Fatalf("%d %v", status, v)
	}
	s3.Stop()
	stopped = true
	status, v := p.post(t.Context(), t, "/api/execute", `{"code":"6 * 7"}`)
	if status != 200 || v["result"] != 42.0 {
		t.Fatalf("without the bucket: %d %v", status, v)
	}
	entries, err := os.ReadDir(spool)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range entries {
		found = found || strings.Contains(e.Name(), v["id"].(string))
	}
	if !found {
		t.Errorf("the spool holds %v", entries)
	}
}
