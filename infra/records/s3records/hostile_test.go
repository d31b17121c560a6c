package s3records_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// endless stands in for a bucket each of whose lists repeats one page forever.
type endless struct{}

func (endless) Do(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req}
	doc := ""
	switch prefix := q.Get("prefix"); {
	case q.Has("versioning"):
		doc = "<Status>Enabled</Status>"
	case q.Has("versions"):
		doc = fmt.Sprintf("<IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker>"+
			"<Version><Key>%sz</Key></Version><Version><Key>%sa</Key></Version>", prefix, prefix)
	case q.Has("list-type"):
		doc = "<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>"
		if q.Has("delimiter") {
			doc += fmt.Sprintf("<CommonPrefixes><Prefix>%s2026-01-02/</Prefix></CommonPrefixes>", prefix)
		} else {
			doc += fmt.Sprintf("<Contents><Key>%sa.json</Key></Contents>", prefix)
		}
	case req.Method != http.MethodHead:
		answer.StatusCode = http.StatusNotFound
	}
	answer.Body = io.NopCloser(strings.NewReader("<R>" + doc + "</R>"))
	return answer, nil
}

// Whatever is read of a bucket, a list that repeats itself ends with an error and not with the caller.
func TestListsWithoutEnd(t *testing.T) {
	t.Parallel()
	s, err := s3records.OpenReader(t.Context(), s3records.Config{
		Bucket: "b", Region: "us-east-1", Attempts: 1, AttemptTimeout: time.Minute, HTTP: endless{},
	})
	if err != nil {
		t.Fatal(err)
	}
	ignore := func([]string) error { return nil }
	for name, read := range map[string]func(ctx context.Context) error{
		"List":   func(ctx context.Context) error { _, err := s.List(ctx, audit.Query{}); return err },
		"Each":   func(ctx context.Context) error { return s.Each(ctx, time.Time{}, func([]byte) error { return nil }) },
		"Heads":  func(ctx context.Context) error { _, err := s.Heads(ctx); return err },
		"Verify": func(ctx context.Context) error { _, err := s.Verify(ctx); return err },
		"Days":   func(ctx context.Context) error { _, err := s.Days(ctx); return err },
		"Names": func(ctx context.Context) error {
			return s.Names(ctx, "2026-01-02", time.Time{}, ignore)
		},
		"Recent": func(ctx context.Context) error {
			since := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
			return s.Recent(ctx, since, func(string, []string) error { return nil })
		},
		"Get": func(ctx context.Context) error { _, err := s.Get(ctx, "exec_a"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := read(ctx); !errors.Is(err, s3objects.ErrList) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
