package endtoend_test

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/functions/execution"
)

// BenchmarkSoak sends 100,000 executions through two function processes and reports how their resident memory at the
// end relates to what it was after 1,000.
func BenchmarkSoak(b *testing.B) {
	for b.Loop() {
		s := serve(b, "on", 2)
		execute := func(count int) {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					for range count / 2 {
						inv := execution.Invocation{
							Airlock: execution.InvocationVersion, ID: "exec_" + ulid.MustNew(ulid.Now(), rand.Reader).String(),
							Via:        execution.ViaHTTP,
							ReceivedAt: time.Now(), Request: execution.Request{Code: "const a = Array.from({ length: 100 }, (_, i) => ({ " +
								"i })); a.length"},
						}
						if r, err := s.pool.Invoke(b.Context(), inv, nil); err != nil || r.Result.Status != execution.Completed {
							b.Errorf("%+v %v", r, err)
							return
						}
					}
				})
			}
			wg.Wait()
		}
		execute(1_000)
		early := residentOf(b, s)
		execute(99_000)
		b.ReportMetric(float64(residentOf(b, s))/float64(early), "resident-ratio")
		b.ReportMetric(float64(early)/(1<<20), "MiB-after-1000")
	}
}

// residentOf sums the resident memory of the function processes.
func residentOf(b *testing.B, s *service) int {
	sum := 0
	for _, p := range s.pool.Stats().Processes {
		statm, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/statm")
		if err != nil {
			b.Skip("resident memory is not to be had here: ", err)
		}
		pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
		if err != nil {
			b.Fatal(err)
		}
		sum += pages * os.Getpagesize()
	}
	return sum
}
