package s3records_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// vault is a bucket as somebody with write access can change it.
type vault struct {
	t      *testing.T
	s3     *s3.Client
	bucket string
	ids    []string
}

func (v vault) key(i int) *string {
	at, _ := audit.IDTime(v.ids[i])
	return aws.String("audit/executions/dt=" + at.Format(time.DateOnly) + "/" + v.ids[i] + ".json")
}

func (v vault) get(i int) []byte {
	v.t.Helper()
	out, err := v.s3.GetObject(v.t.Context(), &s3.GetObjectInput{Bucket: &v.bucket, Key: v.key(i)})
	if err != nil {
		v.t.Fatal(err)
	}
	defer out.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(out.Body); err != nil {
		v.t.Fatal(err)
	}
	return b.Bytes()
}

func (v vault) put(key *string, doc []byte) {
	v.t.Helper()
	if _, err := v.s3.PutObject(v.t.Context(),
		&s3.PutObjectInput{Bucket: &v.bucket, Key: key, Body: bytes.NewReader(doc)}); err != nil {
		v.t.Fatal(err)
	}
}

func (v vault) remove(key *string) {
	v.t.Helper()
	if _, err := v.s3.DeleteObject(v.t.Context(), &s3.DeleteObjectInput{Bucket: &v.bucket, Key: key}); err != nil {
		v.t.Fatal(err)
	}
}

func TestVerifyNamesWhatWasDone(t *testing.T) {
	for _, c := range []struct {
		name  string
		act   func(v vault)
		fault audit.Fault
		who   int // -1 if the record's name is lost
		twice bool
	}{
		{"nothing", func(vault) {}, "", 0, false},
		{"removed", func(v vault) { v.remove(v.key(2)) }, audit.Missing, 2, false},
		{"newest removed", func(v vault) { v.remove(v.key(4)) }, audit.Truncated, 4, false},
		{"altered", func(v vault) {
			v.put(v.key(2), bytes.Replace(v.get(2), []byte("acme"), []byte("evil"), 1))
		}, audit.Altered, 2, false},
		{"forged", func(v vault) {
			r, err := audit.Decode(v.get(2))
			if err != nil {
				v.t.Fatal(err)
			}
			prev := audit.Head{Writer: r.Chain.Writer, Seq: r.Chain.Seq - 1, Hash: r.Chain.Prev}
			r.Status = "blocked"
			s, err := audit.Seal(r, prev, nil)
			if err != nil {
				v.t.Fatal(err)
			}
			v.put(v.key(2), s.Line)
		}, audit.Altered, 2, false},
		{"exchanged", func(v vault) {
			a, b := v.get(1), v.get(2)
			v.put(v.key(1), b)
			v.put(v.key(2), a)
		}, audit.Altered, 2, true},
		{"copied", func(v vault) {
			v.put(aws.String("audit/executions/dt=2020-01-01/"+v.ids[2]+".json"), v.get(2))
		}, audit.Duplicated, 2, true},
		{"invented", func(v vault) {
			v.put(aws.String("audit/executions/dt=2020-01-01/note.txt"), nil)
		}, audit.Unknown, -1, false},
	} {
		for _, versioned := range []bool{false, true} {
			t.Run(c.name+map[bool]string{true: ", versions kept"}[versioned], func(t *testing.T) {
				v := vault{t: t, s3: client(t), bucket: newBucket(t)}
				if versioned {
					_, err := v.s3.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: &v.bucket,
						VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
					if err != nil {
						t.Fatal(err)
					}
				}
				s := opened(t, s3records.Config{Bucket: v.bucket, Prefix: "audit"})
				for range 5 {
					r := recordstest.Sample(time.Now())
					if err := s.Append(t.Context(), r); err != nil {
						t.Fatal(err)
					}
					v.ids = append(v.ids, r.ID)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				c.act(v)
				reader, err := s3records.OpenReader(t.Context(),
					s3records.Config{Bucket: v.bucket, Prefix: "audit", Endpoint: endpoint})
				if err != nil {
					t.Fatal(err)
				}
				report, err := reader.Verify(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				named, recorded := c.fault == "", false
				for _, p := range report.Problems {
					named = named || p.Fault == c.fault && (c.who < 0 || p.ID == v.ids[c.who])
					recorded = recorded || strings.Contains(p.Detail, "earlier version") || strings.Contains(p.Detail, "was deleted")
				}
				inPlace := c.fault != "" && c.name != "copied" && c.name != "invented"
				if !named {
					t.Errorf("no problem is %s of record %d", c.fault, c.who)
				}
				if recorded != (versioned && inPlace) {
					t.Errorf("a problem tells of an earlier version or a deletion: %v", recorded)
				}
				n, want := len(report.Problems), 1
				if c.fault == "" {
					want = 0
				}
				if once := !versioned && !c.twice || want == 0; once && n != want {
					t.Errorf("%d problems, want %d", n, want)
				}
				if t.Failed() {
					for _, p := range report.Problems {
						t.Log(p)
					}
				}
			})
		}
	}
}

func TestSettingsOfObjects(t *testing.T) {
	p := newProxy(t)
	bucket := newBucket(t, func(in *s3.CreateBucketInput) { in.ObjectLockEnabledForBucket = aws.Bool(true) })
	sent := make(chan http.Header, 8)
	p.set(func(r *http.Request, _ int) damage {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/executions/") {
			sent <- r.Header.Clone()
		}
		return pass
	})
	until := time.Now().Add(time.Hour)
	s := opened(t, s3records.Config{
		Bucket: bucket, Endpoint: p.URL, Lock: "GOVERNANCE", Retain: time.Hour,
		Tags: map[string]string{"kind": "audit", "a b": "c=d"},
	})
	r := recordstest.Sample(time.Now())
	if err := s.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	head := <-sent
	for name, want := range map[string]string{"If-None-Match": "*", "Content-Type": "application/json",
		"X-Amz-Tagging": "a+b=c%3Dd&kind=audit"} {
		if got := head.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if head.Get("X-Amz-Checksum-Crc32") == "" && head.Get("X-Amz-Trailer") != "x-amz-checksum-crc32" {
		t.Errorf("no CRC32 was sent: %v", head)
	}
	key := aws.String("executions/dt=" + audit.Day(r.ID, r.Time) + "/" + r.ID + ".json")
	kept, err := client(t).GetObjectRetention(t.Context(), &s3.GetObjectRetentionInput{Bucket: &bucket, Key: key})
	if err != nil || kept.Retention.Mode != types.ObjectLockRetentionModeGovernance ||
		kept.Retention.RetainUntilDate.Before(until.Add(-time.Minute)) {
		t.Errorf("retention: %v %+v", err, kept)
	}
	tags, err := client(t).GetObjectTagging(t.Context(), &s3.GetObjectTaggingInput{Bucket: &bucket, Key: key})
	if err != nil || len(tags.TagSet) != 2 {
		t.Errorf("tags: %v %+v", err, tags)
	}
	// The test server has neither KMS nor storage classes; the test checks that requests ask for them.
	for kms, want := range map[string]string{"alias/records": "alias/records", "aws": ""} {
		s := opened(t, s3records.Config{Bucket: bucket, Endpoint: p.URL, KMSKey: kms, StorageClass: "STANDARD_IA",
			Attempts: 1})
		_ = s.Append(t.Context(), recordstest.Sample(time.Now()))
		head := <-sent
		if head.Get("X-Amz-Server-Side-Encryption") != "aws:kms" ||
			head.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") != want || head.Get("X-Amz-Storage-Class") != "STANDARD_IA" {
			t.Errorf("kms %q: %v", kms, head)
		}
	}
}

func FuzzCursor(f *testing.F) {
	s, err := s3records.OpenReader(f.Context(), s3records.Config{Bucket: "b", Endpoint: "http://127.0.0.1:1", Attempts: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("eyJkIjoiMjAyNi0wMS0wMSIsImIiOiJleGVjXzEifQ")
	f.Add("")
	f.Fuzz(func(t *testing.T, cursor string) {
		if _, err := s.List(t.Context(), audit.Query{Cursor: cursor}); err == nil {
			t.Error("without callers there is a list")
		}
	})
}
