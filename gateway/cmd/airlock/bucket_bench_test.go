package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/s3objects/s3test"
)

// putTakes is the time of a PUT of a bucket that is not on this machine.
const putTakes = 25 * time.Millisecond

// distantBucket stands in for S3 at a distance: every PUT takes a while and succeeds, and nothing can be read. It
// counts the PUTs of records, and of everything else.
type distantBucket struct{ records, others atomic.Int64 }

// ServeHTTP implements http.Handler.
func (s *distantBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPut:
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		put := &s.others
		if strings.Contains(r.URL.Path, "/executions/") {
			put = &s.records
		}
		put.Add(1)
		done := time.NewTimer(putTakes)
		<-done.C
	case r.URL.Query().Has("list-type"):
		_, _ = io.WriteString(w, `<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusNotFound)
	}
}

// BenchmarkExecute64 reports executions a second of 64 connections, from the request to the response, with function
// processes of this machine and 25 ms for each PUT of a record: of one code with different inputs, and of codes that
// nobody sent before. The gateway is a process of its own. The client and the stand-in for the bucket are this one, and
// share the processors.
func BenchmarkExecute64(b *testing.B) {
	bucket := &distantBucket{}
	server := httptest.NewServer(bucket)
	b.Cleanup(server.Close)
	p := start(b, append(s3test.Environment(), "AUDIT_STORE=s3://bucket/records", "S3_ENDPOINT="+server.URL,
		"FUNCTION_PROCESSES=2", "RATE_LIMIT_MAX_REQUESTS=100000000", "LOG_LEVEL=warn")...)
	var sent atomic.Int64
	for _, c := range []struct{ name, format string }{
		{"the same code", `{"code":"input * 2","input":%d}`},
		{"new code", `{"code":"input * %d","input":7}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			next := func() string { return fmt.Sprintf(c.format, sent.Add(1)) }
			p.from64(b, 640, next)
			records, others := bucket.records.Load(), bucket.others.Load()
			gateway, own := p.processorTime(b), ownProcessorTime(b)
			b.ResetTimer()
			took := p.from64(b, b.N, next)
			b.StopTimer()
			all := float64(len(took))
			records, others = bucket.records.Load()-records, bucket.others.Load()-others
			if int(records) != len(took) {
				b.Errorf("%d records of %d executions", records, len(took))
			}
			slices.Sort(took)
			b.ReportMetric(all/b.Elapsed().Seconds(), "executions/s")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(1000*(p.processorTime(b)-gateway)/all, "airlock-cpu-ms")
			b.ReportMetric(1000*(ownProcessorTime(b)-own)/all, "client-cpu-ms")
			b.ReportMetric(float64(records+others)/float64(records), "PUTs/record")
		})
	}
}

// from64 sends at least n requests from 64 connections and returns the time of each.
func (p *program) from64(b *testing.B, n int, next func() string) (took []time.Duration) {
	b.Helper()
	const connections = 64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	each := make([][]time.Duration, connections)
	var all sync.WaitGroup
	for c := range each {
		all.Go(func() {
			for range (n + connections - 1) / connections {
				began := time.Now()
				if status, err := p.send(b.Context(), client, "", next()); err != nil || status != 200 {
					b.Errorf("%d %v", status, err)
					return
				}
				each[c] = append(each[c], time.Since(began))
			}
		})
	}
	all.Wait()
	return slices.Concat(each...)
}

// ownProcessorTime returns the seconds of processor time that this process has had.
func ownProcessorTime(b *testing.B) float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}
