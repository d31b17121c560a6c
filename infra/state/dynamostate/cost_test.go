package dynamostate_test

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkLargeVersion reports the processor time of this process for storing a version of 16 MiB. Its bucket is
// reached over plain HTTP, so the SDK hashes the object, which it does not over TLS.
func BenchmarkLargeVersion(b *testing.B) {
	s := newFleet(b).open(b, server.Endpoint, 4)
	for _, files := range []int{4, 1000} {
		b.Run(fmt.Sprint(files, " files"), func(b *testing.B) {
			r := execution.Request{Code: "1", Files: map[string]execution.File{}}
			for n := range files {
				r.Files[fmt.Sprint(n)] = bytes.Repeat([]byte{byte(n), 1}, 8<<20/files)
			}
			total, least, n := time.Duration(0), time.Hour, 0
			for b.Loop() {
				name := fmt.Sprint("f", n)
				r.Files["0"] = append(execution.File(name), r.Files["0"][:100]...)
				n++
				before := processorTime()
				err := s.Change(b.Context(), "t", name, func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
					f.Versions = append(f.Versions, execution.FunctionVersion{Version: 1})
					return &execution.FunctionContent{Request: r}, nil
				})
				took := processorTime() - before
				total, least = total+took, min(least, took)
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Delete(b.Context(), "t", name); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-own-cpu-ms/op")
			b.ReportMetric(float64(total.Microseconds())/1000/float64(n), "own-cpu-ms/op")
		})
	}
}
