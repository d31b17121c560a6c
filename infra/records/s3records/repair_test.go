package s3records_test

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// Records that earlier releases filed by the hash in their IDs move to the day of their time. They verify before and
// after lifecycle rules removed some of them.
func TestRepairDays(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	for _, versioned := range []bool{false, true} {
		client, bucket := client(t), newBucket(t)
		s := opened(t, s3records.Config{Bucket: bucket, Prefix: "audit"})
		wrong := map[string]string{"exec_7293f1d0c4b5a6978877665544": "9849-01-08",
			"exec_0107abcdef0123456789abcdef": "2005-02-16"}
		var ids []string
		for i, id := range []string{"", "exec_7293f1d0c4b5a6978877665544", "", "exec_0107abcdef0123456789abcdef", ""} {
			r := recordstest.Sample(now.AddDate(0, 0, i-4))
			if id != "" {
				r.ID = id
			}
			ids = append(ids, r.ID)
			if err := s.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if id != "" {
				move(t, client, bucket, "audit/executions/dt="+r.Time.Format(time.DateOnly)+"/"+id+".json",
					"audit/executions/dt="+wrong[id]+"/"+id+".json")
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if versioned {
			if _, err := client.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: &bucket,
				VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
				t.Fatal(err)
			}
		}
		faults := func(keeps time.Duration) (all []audit.Fault) {
			t.Helper()
			reader, err := s3records.OpenReader(t.Context(), s3records.Config{
				Bucket: bucket, Prefix: "audit", Endpoint: endpoint, Keeps: keeps, Now: func() time.Time { return now },
			})
			if err != nil {
				t.Fatal(err)
			}
			report, err := reader.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range report.Problems {
				all = append(all, p.Fault)
			}
			return all
		}
		if got := faults(0); !slices.Equal(got, []audit.Fault{audit.Misfiled, audit.Misfiled}) {
			t.Errorf("before: %v", got)
		}
		repair := opened(t, s3records.Config{Bucket: bucket, Prefix: "audit"})
		moved, err := repair.RepairDays(t.Context())
		if err != nil || len(moved) != 2 {
			t.Fatalf("moved %v, %v", moved, err)
		}
		if got := faults(0); len(got) != 0 {
			t.Errorf("after: %v", got)
		}
		if again, err := repair.RepairDays(t.Context()); err != nil || len(again) != 0 {
			t.Errorf("a second time: %v, %v", again, err)
		}
		// The test server lists a folder that has nothing but delete markers.
		if days, err := repair.Days(t.Context()); !versioned && (err != nil || len(days) != 5) {
			t.Errorf("days: %v, %v", days, err)
		}
		for i := range 2 { // lifecycle rules remove the oldest days, with a moved record
			key := "audit/executions/dt=" + now.AddDate(0, 0, i-4).Format(time.DateOnly) + "/" + ids[i] + ".json"
			if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &key}); err != nil {
				t.Fatal(err)
			}
		}
		if got := faults(24 * time.Hour); len(got) != 0 {
			t.Errorf("after lifecycle rules: %v", got)
		}
		if got := faults(60 * 24 * time.Hour); !slices.Contains(got, audit.Missing) {
			t.Errorf("without lifecycle rules: %v", got)
		}
	}
}

// move copies an object and deletes it.
func move(t *testing.T, client *s3.Client, bucket, from, to string) {
	t.Helper()
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &from})
	if err != nil {
		t.Fatal(err)
	}
	line, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: aws.String(to),
		Body: bytes.NewReader(line)}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &from}); err != nil {
		t.Fatal(err)
	}
}
