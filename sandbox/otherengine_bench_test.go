package sandbox_test

import (
	"bytes"
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/otherengine"
)

// BenchmarkOtherEngine runs a small script in a process of its own: one run at a time, each with a ready process, and
// eight at a time, which wait for new processes.
func BenchmarkOtherEngine(b *testing.B) {
	script := sandbox.Script{Code: "const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2); fib(10)"}
	for _, k := range otherengine.Kinds() {
		script.Engine = k.Name
		b.Run(k.Name+"/ready", func(b *testing.B) {
			e, pool := otherEngine(b, k)
			var cpu, wall []float64
			for b.Loop() {
				for pool.Ready() == 0 {
					time.Sleep(time.Millisecond)
				}
				usage := runOtherEngine(b, e, script)
				cpu, wall = append(cpu, usage.CPUMs), append(wall, usage.WallMs)
			}
			slices.Sort(cpu)
			slices.Sort(wall)
			b.ReportMetric(cpu[len(cpu)/2], "cpu-p50-ms")
			b.ReportMetric(wall[len(wall)/2], "wall-p50-ms")
		})
		b.Run(k.Name+"/sustained", func(b *testing.B) {
			e, _ := otherEngine(b, k)
			b.SetParallelism(8 / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					runOtherEngine(b, e, script)
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		})
	}
	b.Run("v8/fib27", func(b *testing.B) {
		e, _ := otherEngine(b, otherengine.V8)
		const code = "const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2); fib(27); " +
			"const t = performance.now(); fib(27); performance.now() - t"
		var guest, plain []float64
		for b.Loop() {
			r, err := e.Run(b.Context(), sandbox.Script{Engine: otherengine.V8.Name, Code: code}, sandbox.Grants{})
			guest = append(guest, milliseconds(b, r.Value, err))
			out, err := exec.CommandContext(b.Context(), "node", "--jitless", "--no-expose-wasm", "-p", code).Output()
			plain = append(plain, milliseconds(b, bytes.TrimSpace(out), err))
		}
		slices.Sort(guest)
		slices.Sort(plain)
		b.ReportMetric(guest[len(guest)/2], "guest-p50-ms")
		b.ReportMetric(guest[len(guest)/2]/plain[len(plain)/2], "times-plain-node")
	})
}

func milliseconds(b *testing.B, text []byte, err error) float64 {
	n, bad := strconv.ParseFloat(string(text), 64)
	if err := errors.Join(err, bad); err != nil {
		b.Fatal(err)
	}
	return n
}

func runOtherEngine(b *testing.B, e *sandbox.Engine, script sandbox.Script) sandbox.Usage {
	r, err := e.Run(b.Context(), script, sandbox.Grants{})
	if err != nil || string(r.Value) != "55" {
		b.Error(err, r.Error)
	}
	return r.Usage
}
