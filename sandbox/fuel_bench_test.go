package sandbox

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// interruptible are loops of the kinds that scripts spend their time in.
var interruptible = map[string]string{
	"calls":      "const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2)); f(24)",
	"arithmetic": "let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; s",
	"json": "const o = Array.from({ length: 5000 }, (_, i) => ({ i, s: 'x' + i })); " +
		"JSON.stringify(JSON.parse(JSON.stringify(o))).length",
	"sort":    "Array.from({ length: 3e4 }, (_, i) => (i * 7919) % 1000003).sort((a, b) => a - b).length",
	"strings": "'abc '.repeat(3e4).split(' ').map((s) => s.toUpperCase()).join('-').length",
}

// BenchmarkFuel measures the price of stopping loops inside the engine: each workload in turn with and without fuel,
// the ratio of the medians, and the geometric mean of the ratios.
func BenchmarkFuel(b *testing.B) {
	dir := filepath.Join(os.TempDir(), "airlock-test-cache")
	engines := [2]*Engine{}
	for i, without := range []bool{false, true} {
		e, err := New(b.Context(), Config{CacheDir: dir, withoutFuel: without})
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close(context.WithoutCancel(b.Context()))
		engines[i] = e
	}
	for b.Loop() {
		product := 1.0
		for name, code := range interruptible {
			var times [2][]time.Duration
			for range 15 {
				for i, e := range engines {
					start := time.Now()
					r, err := e.Run(b.Context(), Script{Code: code}, Grants{})
					if err != nil || !r.Completed() {
						b.Fatal(r.Error, err)
					}
					times[i] = append(times[i], time.Since(start))
				}
			}
			slices.Sort(times[0])
			slices.Sort(times[1])
			ratio := float64(times[0][7]) / float64(times[1][7])
			product *= ratio
			b.ReportMetric(ratio, name+"-ratio")
		}
		b.ReportMetric(math.Pow(product, 1/float64(len(interruptible))), "geomean-ratio")
	}
}

// BenchmarkDeadline measures how long after its deadline each hostile guest is stopped.
func BenchmarkDeadline(b *testing.B) {
	e, err := New(b.Context(), Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(context.WithoutCancel(b.Context()))
	files, err := filepath.Glob("testdata/hostile/*.js")
	if err != nil {
		b.Fatal(err)
	}
	const wall = 100 * time.Millisecond
	for b.Loop() {
		var worst time.Duration
		var who string
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			r, err := e.Run(b.Context(), Script{Code: string(code)}, Grants{Eval: true, Limits: Limits{Wall: wall}})
			if err != nil {
				b.Fatal(err)
			}
			if late := time.Since(start) - wall; r.Limit == LimitWall && late > worst {
				worst, who = late, strings.TrimSuffix(filepath.Base(file), ".js")
			}
		}
		b.ReportMetric(float64(worst.Microseconds())/1000, "ms-late-at-worst")
		b.Log("the latest:", who)
	}
}
