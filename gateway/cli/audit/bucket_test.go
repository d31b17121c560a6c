package audit_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

// Over a bucket, too, verify names the record that was removed or altered, and export prints the rest.
func TestAuditVerifyOverABucket(t *testing.T) {
	server, err := s3test.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	for _, v := range s3test.Environment() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	bucket, client := server.Bucket(t), server.Client(t)
	store, err := s3records.Open(t.Context(), s3records.Config{Bucket: bucket, Prefix: "audit", Endpoint: server.Endpoint})
	if err != nil {
		t.Fatal(err)
	}
	var ids, keys []string
	for range 4 {
		r := recordstest.Sample(time.Now())
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
		keys = append(keys, "audit/executions/dt="+time.Now().UTC().Format(time.DateOnly)+"/"+r.ID+".json")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AUDIT_STORE": "s3://" + bucket + "/audit", "S3_ENDPOINT": server.Endpoint}
	expect := func(code int, contains string, args ...string) {
		t.Helper()
		out, got := auditRun(t, env, args...)
		if got != code || !strings.Contains(out, contains) {
			t.Errorf("%v: exit %d, want %d with %q\n%s", args, got, code, contains, out)
		}
	}
	expect(0, "ok: 4 records by 1 writers", "verify")
	object, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &keys[1]})
	if err != nil {
		t.Fatal(err)
	}
	var line bytes.Buffer
	if _, err := line.ReadFrom(object.Body); err != nil {
		t.Fatal(err)
	}
	evil := bytes.Replace(line.Bytes(), []byte("acme"), []byte("evil"), 1)
	if _, err := client.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &bucket, Key: &keys[1], Body: bytes.NewReader(evil)}); err != nil {
		t.Fatal(err)
	}
	expect(1, "altered "+ids[1], "verify")
	if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &keys[3]}); err != nil {
		t.Fatal(err)
	}
	expect(1, "truncated "+ids[3], "verify")
	expect(0, ids[2], "export", "--since", "1h")
}
