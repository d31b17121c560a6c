package sandbox_test

import (
	"fmt"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// BenchmarkResultOfObjects measures results of many objects, whose depth is bounded while they are written.
func BenchmarkResultOfObjects(b *testing.B) {
	e := newEngine(b)
	for _, n := range []int{1000, 4000, 10_000, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := sandbox.Script{Code: fmt.Sprintf("Array.from({ length: %d }, (_, i) => ({ i }))", n)}
			for b.Loop() {
				if r, err := e.Run(b.Context(), s, sandbox.Grants{}); err != nil || r.Error != "" {
					b.Fatal(r.Error, err)
				}
			}
		})
	}
}
