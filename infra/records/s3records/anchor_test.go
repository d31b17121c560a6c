package s3records_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/airlock-run/airlock/infra/records/anchors"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// A bucket that was emptied together with its writers' heads is consistent in itself, but not with an anchor. A bucket
// whose oldest days lifecycle rules removed is consistent with both. The anchor is in a bucket too.
func TestAnchoredBucket(t *testing.T) {
	now := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
	v := vault{t: t, s3: client(t), bucket: newBucket(t)}
	for range 2 {
		s := opened(t, s3records.Config{Bucket: v.bucket, Prefix: "audit"})
		for _, age := range []int{5, 4, 0} {
			r := recordstest.Sample(now.AddDate(0, 0, -age))
			if err := s.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			v.ids = append(v.ids, r.ID)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	reader := func(keeps time.Duration, at time.Time) *s3records.Store {
		s, err := s3records.OpenReader(t.Context(), s3records.Config{
			Bucket: v.bucket, Prefix: "audit", Endpoint: endpoint, Keeps: keeps, Now: func() time.Time { return at },
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	heads, err := reader(0, now).Heads(t.Context())
	if err != nil || len(heads) != 2 {
		t.Fatalf("%v %v", heads, err)
	}
	if heads[0].Seq != 3 || heads[0].ID != v.ids[2] {
		t.Fatalf("the first head is %d, %s", heads[0].Seq, heads[0].ID)
	}
	anchor, err := anchors.Open(t.Context(), "s3://"+v.bucket+"/state", "s3://"+v.bucket+"/audit",
		anchors.Config{Access: s3objects.Access{Endpoint: endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := anchor.Raise(t.Context(), heads); err != nil {
			t.Fatal(err)
		}
	}
	against := func(s *s3records.Store) audit.Report {
		t.Helper()
		known, there, err := anchor.Read(t.Context())
		if err != nil || !there {
			t.Fatal(there, err)
		}
		report, err := s.VerifyAgainst(t.Context(), []audit.Anchor{known})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	if report := against(reader(0, now)); !report.OK() || report.Anchors[0].Writers != 2 {
		t.Errorf("untouched: %+v", report)
	}
	const keeps = 3 * 24 * time.Hour
	for _, i := range []int{0, 1, 3, 4} {
		v.remove(v.key(i))
	}
	if report := against(reader(keeps, now)); !report.OK() {
		t.Errorf("after lifecycle rules: %+v", report)
	}
	if report := against(reader(0, now)); report.OK() {
		t.Error("without lifecycle rules nothing is missed")
	}
	for _, i := range []int{2, 5} {
		v.remove(v.key(i))
	}
	out, err := v.s3.ListObjectsV2(t.Context(),
		&s3.ListObjectsV2Input{Bucket: &v.bucket, Prefix: aws.String("audit/writers/")})
	if err != nil || len(out.Contents) != 2 {
		t.Fatal(len(out.Contents), err)
	}
	for _, o := range out.Contents {
		v.remove(o.Key)
	}
	if report, err := reader(keeps, now).Verify(t.Context()); err != nil || !report.OK() {
		t.Errorf("emptied, without an anchor: %+v %v", report, err)
	}
	if report := against(reader(keeps, now)); len(report.Problems) != 2 || report.Problems[0].Fault != audit.Truncated {
		t.Errorf("emptied: %+v", report)
	}
	if report := against(reader(keeps, now.AddDate(0, 0, 30))); !report.OK() || report.Anchors[0].Pruned != 2 {
		t.Errorf("when lifecycle rules may have deleted all of it: %+v", report)
	}
}
