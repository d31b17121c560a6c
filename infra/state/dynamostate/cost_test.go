package dynamostate_test

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects/s3test"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
)

func processorTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkLargeVersion reports the processor time of this process for storing a version of 16 MiB, with a bucket that
// is reached over TLS, as AWS's are, and over plain HTTP, where the SDK hashes the object.
func BenchmarkLargeVersion(b *testing.B) {
	newFleet(b) // skips without a server
	secured, err := s3test.StartTLS()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(secured.Stop)
	for over, bucket := range map[string]*s3test.Server{"https": secured, "http": bucket} {
		url := "dynamodb://" + server.Table(b) + "?contents=s3://" + bucket.Bucket(b) + "/state"
		s, err := dynamostate.Open(b.Context(), url, dynamostate.Config{MaxJobsPerTenant: 50, DeadAfter: deadAfter,
			Access: dynamostate.Access{Endpoint: server.Endpoint, Attempts: 4, Objects: bucket.Access()}})
		if err != nil {
			b.Fatal(err)
		}
		for _, files := range []int{4, 1000} {
			b.Run(fmt.Sprint(over, "/", files, " files"), func(b *testing.B) { storeLarge(b, s, files) })
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func storeLarge(b *testing.B, s *dynamostate.Store, files int) {
	r := execution.Request{Code: "1", Files: map[string]execution.File{}}
	for n := range files {
		r.Files[fmt.Sprint(n)] = bytes.Repeat([]byte{byte(n), 1}, 8<<20/files)
	}
	total, least, n := time.Duration(0), time.Hour, 0
	for b.Loop() {
		name := fmt.Sprint("f", n)
		r.Files["0"] = append(execution.File(name), r.Files["0"][len(name):]...)
		n++
		sum := r.Sources().Sum() // the gateway has it from its decision
		before := processorTime()
		err := s.Change(b.Context(), "t", name, func(f *execution.SavedFunction) (*execution.FunctionContent, error) {
			f.Versions = append(f.Versions, execution.FunctionVersion{Version: 1})
			return &execution.FunctionContent{Request: r, Sum: sum}, nil
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
}
