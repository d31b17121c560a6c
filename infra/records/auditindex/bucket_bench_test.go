package auditindex_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
	"github.com/airlock-run/airlock/policy/audit"
)

// far counts requests and delays each as long as a request to a remote bucket takes.
type far struct {
	client     http.Client
	lists, all atomic.Int64
}

const farDelay = 25 * time.Millisecond

func (f *far) Do(req *http.Request) (*http.Response, error) {
	f.all.Add(1)
	if req.URL.Query().Has("list-type") {
		f.lists.Add(1)
	}
	timer := time.NewTimer(farDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	return f.client.Do(req)
}

// report reports the requests of each operation since the last call.
func (f *far) report(b *testing.B) {
	b.Helper()
	lists, all := f.lists.Swap(0), f.all.Swap(0)
	b.ReportMetric(float64(lists)/float64(b.N), "LISTs/op")
	b.ReportMetric(float64(all-lists)/float64(b.N), "GETs/op")
}

// BenchmarkBucket measures what pages and summaries over a bucket cost, with 25 ms for each request: the store alone,
// as while the index is being built, and with the index.
func BenchmarkBucket(b *testing.B) {
	n := min(quantity(b), 20_000)
	needed.Store(true)
	server, err := started()
	if err != nil {
		b.Fatal(err)
	}
	name := server.Bucket(b)
	writer, err := s3records.Open(b.Context(), s3records.Config{Bucket: name, Endpoint: server.Endpoint})
	if err != nil {
		b.Fatal(err)
	}
	defer writer.Close()
	var group errgroup.Group
	group.SetLimit(64)
	now := time.Now()
	for i := range n {
		r := sample(i)
		r.Time = now.Add(-3 * 24 * time.Hour * time.Duration(i) / time.Duration(n))
		r.ID = recordstest.NewID(r.Time)
		group.Go(func() error { return writer.Append(b.Context(), r) })
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	requests := &far{client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	s, err := s3records.Open(b.Context(), s3records.Config{Bucket: name, Endpoint: server.Endpoint, HTTP: requests})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	list := func(store audit.Store, q audit.Query) func(*testing.B) {
		return func(b *testing.B) {
			requests.report(b)
			for b.Loop() {
				if page, err := store.List(b.Context(), q); err != nil || len(page.Items) == 0 {
					b.Fatal(len(page.Items), err)
				}
			}
			requests.report(b)
		}
	}
	b.Run("building/page", list(s, audit.Query{}))
	b.Run("building/function", list(s, audit.Query{Function: "report"}))
	b.Run("build", func(b *testing.B) {
		requests.report(b)
		for b.Loop() {
			rebuild(b, s, n)
		}
		requests.report(b)
	})
	x := built(b, s, n)
	defer x.Close()
	b.Run("page", list(x, audit.Query{}))
	b.Run("function", list(x, audit.Query{Function: "report"}))
	b.Run("summary", func(b *testing.B) {
		requests.report(b)
		for b.Loop() {
			if _, err := x.Summary(b.Context(), audit.Query{}); err != nil {
				b.Fatal(err)
			}
		}
		requests.report(b)
	})
}
