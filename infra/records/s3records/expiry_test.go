package s3records_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// Chains over several days verify after lifecycle rules removed the oldest; any other missing record is named.
func TestVerifyAfterLifecycleRules(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	for _, versioned := range []bool{false, true} {
		v := vault{t: t, s3: client(t), bucket: newBucket(t)}
		if versioned {
			if _, err := v.s3.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: &v.bucket,
				VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}); err != nil {
				t.Fatal(err)
			}
		}
		s := opened(t, s3records.Config{Bucket: v.bucket, Prefix: "audit"})
		// Days of the records, one of which ran over midnight.
		for _, age := range []int{5, 5, 4, 5, 4, 2, 1, 0, 0} {
			r := recordstest.Sample(now.AddDate(0, 0, -age))
			if err := s.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			v.ids = append(v.ids, r.ID)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		faults := func(keeps time.Duration) (all []audit.Fault) {
			t.Helper()
			reader, err := s3records.OpenReader(t.Context(), s3records.Config{
				Bucket: v.bucket, Prefix: "audit", Endpoint: endpoint, Keeps: keeps, Now: func() time.Time { return now },
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
		const keeps = 3 * 24 * time.Hour
		if got := faults(keeps); len(got) != 0 {
			t.Errorf("before: %v", got)
		}
		for i := range 4 { // the rules are not finished: one record of those days is still there
			v.remove(v.key(i))
		}
		if got := faults(keeps); len(got) != 0 {
			t.Errorf("on the way: %v", got)
		}
		v.remove(v.key(4))
		if got := faults(keeps); len(got) != 0 {
			t.Errorf("after: %v", got)
		}
		if got := faults(0); len(got) < 5 {
			t.Errorf("without rules: %v", got)
		}
		if got := faults(10 * 24 * time.Hour); len(got) < 5 {
			t.Errorf("with rules that keep more: %v", got)
		}
		v.remove(v.key(5)) // of a day that the rules keep
		if got := faults(keeps); len(got) == 0 || got[0] != audit.Missing {
			t.Errorf("one too many: %v", got)
		}
		v.remove(v.key(8))
		if got := faults(keeps); len(got) == 0 || got[len(got)-1] != audit.Truncated {
			t.Errorf("the newest: %v", got)
		}
	}
}
