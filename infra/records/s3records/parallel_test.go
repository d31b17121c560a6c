package s3records_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/infra/records/s3records"
)

// distant stands in for S3 at a distance: every PUT takes a while, and succeeds. It counts.
type distant struct {
	takes time.Duration

	mu             sync.Mutex
	records, heads int
	now, most      int // PUTs of records at once
}

func (s *distant) Do(req *http.Request) (*http.Response, error) {
	record := strings.Contains(req.URL.Path, "/executions/")
	if req.Method == http.MethodPut {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		s.begin(record)
		done := time.NewTimer(s.takes)
		<-done.C
		if record {
			s.mu.Lock()
			s.now--
			s.mu.Unlock()
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func (s *distant) begin(record bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !record {
		s.heads++
		return
	}
	s.records++
	s.now++
	s.most = max(s.most, s.now)
}

// append64 appends records from 64 goroutines.
func append64(t testing.TB, s *s3records.Store, each int) {
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range each {
				if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func openDistant(t testing.TB, s3 *distant) *s3records.Store {
	t.Helper()
	s, err := s3records.Open(t.Context(), s3records.Config{Bucket: "b", Region: "us-east-1", HTTP: s3})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With 25 ms for a PUT, 64 callers get 64 records written at once, and heads are few.
func TestAppendsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s3 := &distant{takes: 25 * time.Millisecond}
		s := openDistant(t, s3)
		began := time.Now()
		append64(t, s, 100)
		rate := 6400 / time.Since(began).Seconds()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s3.records != 6400 || s3.most != 64 || rate < 2500 {
			t.Errorf("%d records, %d at once, %.0f a second", s3.records, s3.most, rate)
		}
		if s3.heads < 64 || s3.heads > 320 {
			t.Errorf("%d heads", s3.heads)
		}
		t.Logf("%d records at once, %.0f a second, %.3f PUTs for each", s3.most, rate,
			float64(s3.records+s3.heads)/float64(s3.records))
	})
}

// One caller has one chain, and a head a second.
func TestHeadsOfOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s3 := &distant{takes: 25 * time.Millisecond}
		s := openDistant(t, s3)
		for range 400 { // ten seconds
			if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s3.most != 1 || s3.heads < 9 || s3.heads > 12 {
			t.Errorf("%d records at once, %d heads", s3.most, s3.heads)
		}
	})
}

// BenchmarkAppend64 measures what 64 callers write on this machine with 25 ms for a PUT.
func BenchmarkAppend64(b *testing.B) {
	s3 := &distant{takes: 25 * time.Millisecond}
	s := openDistant(b, s3)
	b.ResetTimer()
	append64(b, s, (b.N+63)/64)
	b.StopTimer()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(s3.records)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(s3.records+s3.heads)/float64(s3.records), "PUTs/record")
}
