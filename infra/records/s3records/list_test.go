package s3records_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// listed stands in for a bucket whose listed records are gone when they are read. It counts the reads.
type listed struct {
	keys  []string
	reads chan struct{}
}

func (l *listed) Do(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: req}
	var doc strings.Builder
	switch {
	case req.Method == http.MethodHead:
	case !q.Has("list-type"):
		l.reads <- struct{}{}
		answer.StatusCode = http.StatusNotFound
	case q.Has("delimiter"):
		doc.WriteString("<CommonPrefixes><Prefix>executions/dt=2026-01-02/</Prefix></CommonPrefixes>")
	default:
		after, _ := slices.BinarySearch(l.keys, max(q.Get("start-after"), q.Get("continuation-token"))+"\x00")
		end := min(after+1000, len(l.keys))
		for _, key := range l.keys[after:end] {
			fmt.Fprintf(&doc, "<Contents><Key>%s</Key></Contents>", key)
		}
		fmt.Fprintf(&doc, "<IsTruncated>%t</IsTruncated>", end < len(l.keys))
		if end < len(l.keys) {
			fmt.Fprintf(&doc, "<NextContinuationToken>%s</NextContinuationToken>", l.keys[end-1])
		}
	}
	answer.Body = io.NopCloser(strings.NewReader("<ListBucketResult>" + doc.String() + "</ListBucketResult>"))
	return answer, nil
}

// However rare the records are that a query selects, a page costs a bounded number of reads, and says that there may be
// more.
func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	l := &listed{reads: make(chan struct{}, 10_000)}
	for i := range 3000 {
		var id ulid.ULID
		if err := id.SetTime(ulid.Timestamp(now.Add(time.Duration(i-3001) * time.Second))); err != nil {
			t.Fatal(err)
		}
		l.keys = append(l.keys, "executions/dt=2026-01-02/exec_"+id.String()+".json")
	}
	s, err := s3records.Open(t.Context(), s3records.Config{Bucket: "b", Region: "us-east-1", HTTP: l,
		Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), audit.Query{Status: "error"})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%d records, %v", len(page.Items), err)
	}
	if len(l.reads) > 1100 {
		t.Errorf("%d reads", len(l.reads))
	}
	if page.Next == "" {
		t.Error("the page does not say that there may be more")
	}
	for pages := 1; page.Next != ""; pages++ {
		if page, err = s.List(t.Context(), audit.Query{Status: "error", Cursor: page.Next}); err != nil || pages > 3 {
			t.Fatalf("page %d: %v", pages, err)
		}
	}
	if len(l.reads) < 3000 {
		t.Errorf("%d reads of 3,000 records", len(l.reads))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
