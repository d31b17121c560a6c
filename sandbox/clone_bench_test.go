package sandbox_test

import (
	"strconv"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// BenchmarkStructuredClone measures structuredClone by the kind of its value. It reports the time of the guest's clock
// for each element: of the array of numbers a number, of the others an object or an entry.
func BenchmarkStructuredClone(b *testing.B) {
	e := newEngine(b)
	for _, c := range []struct{ name, value string }{
		{"numbers", "Array.from({length: 10000}, (_, i) => i)"},
		{"objects", "Array.from({length: 2000}, (_, i) => ({id: i, name: 'n', price: 2.5, tag: null, ok: true}))"},
		{"dates", "Array.from({length: 2000}, (_, i) => new Date(i))"},
		{"map", "new Map(Array.from({length: 2000}, (_, i) => [i, 'n' + i]))"},
	} {
		b.Run(c.name, func(b *testing.B) {
			code := "const v = " + c.value + "; const n = v.length ?? v.size; const t = performance.now(); " +
				"for (let i = 0; i < 5; i++) structuredClone(v); return (performance.now() - t) * 1e6 / 5 / n"
			best := 0.0
			for b.Loop() {
				r, err := e.Run(b.Context(), sandbox.Script{Code: code}, sandbox.Grants{})
				if err != nil {
					b.Fatal(err)
				}
				ns, err := strconv.ParseFloat(string(r.Value), 64)
				if err != nil {
					b.Fatal(err, r.Error)
				}
				if best == 0 || ns < best {
					best = ns
				}
			}
			b.ReportMetric(best, "ns/element")
		})
	}
}
