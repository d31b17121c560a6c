package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// bundleOf returns code of about n bytes as bundlers write it: modules of functions, classes and tables, and one
// export.
func bundleOf(n int) string {
	var out strings.Builder
	out.WriteString("const modules = {};\n")
	for i := 0; out.Len() < n; i++ {
		fmt.Fprintf(&out, `modules["m%[1]d"] = (() => {
  const table = Object.freeze({ name: "module %[1]d", weights: [%[1]d, %[1]d * 2, %[1]d * 3],
    nested: { a: { b: "%[1]d" } } });
  class Shape%[1]d { #area = %[1]d; constructor(side) { this.side = side; }
    get area() { return this.#area * this.side; } toString() { return `+"`shape ${this.side}`"+`; } }
  function score(input) { return table.weights.reduce((sum, w) => sum + w * (input?.n ?? 1), 0); }
  const cache = new Map(table.weights.map((w) => [w, new Shape%[1]d(w)]));
  return { table, Shape%[1]d, score, cache };
})();
`, i)
	}
	out.WriteString(`export default (input) => modules.m7.score(input);`)
	return out.String()
}

// BenchmarkWarm compares, in turn, a version of 500 KB, the same code evaluated by each run, and an empty script.
func BenchmarkWarm(b *testing.B) {
	e := newEngine(b)
	code := bundleOf(500_000)
	cases := []struct {
		name   string
		script sandbox.Script
		took   []time.Duration
	}{
		{name: "empty", script: sandbox.Script{Code: "0"}},
		{name: "warm", script: sandbox.Script{Version: "bench", Code: code, Input: []byte(`{"n":2}`)}},
		{name: "anew", script: sandbox.Script{Code: code, Input: []byte(`{"n":2}`)}},
	}
	for range 3 {
		for _, c := range cases {
			if r := run(b, e, c.script, sandbox.Grants{}); r.Error != "" || c.script.Version != "" && !r.Warm {
				b.Fatal(c.name, r.Error, r.Cold)
			}
		}
	}
	for b.Loop() {
		for i := range cases {
			c := &cases[i]
			if c.name == "anew" && len(c.took) >= 10 {
				continue
			}
			start := time.Now()
			run(b, e, c.script, sandbox.Grants{})
			c.took = append(c.took, time.Since(start))
		}
	}
	p50 := map[string]float64{}
	for _, c := range cases {
		slices.Sort(c.took)
		p50[c.name] = float64(c.took[len(c.took)/2].Microseconds())
		b.ReportMetric(p50[c.name], "µs-p50-"+c.name)
	}
	b.ReportMetric(p50["warm"]/p50["empty"], "warm/empty")
	b.ReportMetric(p50["anew"]/p50["empty"], "anew/empty")
}
