package endtoend_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// BenchmarkSoak sends 100,000 executions, each of another text, through a gateway and a function process. It reports
// how the resident memory of each at the end relates to what it was after 1,000. The gateway's process is this one, and
// includes its client.
func BenchmarkSoak(b *testing.B) {
	for b.Loop() {
		s := serve(b, "on", 1)
		texts := 0
		execute := func(count int) {
			for range count {
				texts++
				code := fmt.Sprintf("const a = Array.from({ length: 100 }, (_, i) => ({ i })); a.length + %d", texts)
				if r := s.execute(b, map[string]any{"code": code}); r.Status != execution.Completed {
					b.Fatalf("%+v", r)
				}
			}
		}
		execute(1_000)
		gateway, function := residentOf(b, os.Getpid()), residentOf(b, s.pool.Stats().Processes[0].PID)
		execute(99_000)
		for _, p := range []struct {
			name       string
			pid, early int
		}{{"gateway", os.Getpid(), gateway}, {"function", s.pool.Stats().Processes[0].PID, function}} {
			b.ReportMetric(float64(residentOf(b, p.pid))/float64(p.early), p.name+"-ratio")
			b.ReportMetric(float64(p.early)/(1<<20), p.name+"-MiB-after-1000")
		}
	}
}

// residentOf returns the resident memory of a process in bytes.
func residentOf(b *testing.B, pid int) int {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		b.Skip("resident memory cannot be read here: ", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(statm))[1])
	if err != nil {
		b.Fatal(err)
	}
	return pages * os.Getpagesize()
}
