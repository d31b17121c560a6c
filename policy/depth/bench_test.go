package depth_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy/depth"
)

// BenchmarkOver measures the text of a result of 16,000 objects.
func BenchmarkOver(b *testing.B) {
	var text strings.Builder
	for i := range 16_000 {
		fmt.Fprintf(&text, `,{"i":%d,"name":"object %[1]d"}`, i)
	}
	result := []byte("[" + text.String()[1:] + "]")
	b.SetBytes(int64(len(result)))
	for b.Loop() {
		if depth.Over(result, "result", 512) != "" {
			b.Fatal("too deep")
		}
	}
}
