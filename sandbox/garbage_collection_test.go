package sandbox_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestGarbageInCyclesIsCollected checks that cyclic garbage does not fill the memory of a run, however large its
// pieces are.
func TestGarbageInCyclesIsCollected(t *testing.T) {
	e := newEngine(t)
	for _, code := range []string{
		"for (let i = 0; i < 100; i++) { const a = {b: new Uint8Array(1 << 20).fill(i)}; a.self = a } 'done'",
		"for (let i = 0; i < 400; i++) { const a = {b: 'x'.repeat(100000) + i}; a.self = a } 'done'",
		"for (let i = 0; i < 300000; i++) { const a = {i}; a.self = a } 'done'",
		"for (let i = 0; i < 60; i++) { const f = () => f; f.rows = Array.from({length: 1000}, (_, k) => ({k, f})) } 'done'",
	} {
		r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{Limits: sandbox.Limits{MemoryBytes: 16 << 20}})
		if string(r.Value) != `"done"` || r.Usage.MemoryBytes > 16<<20 {
			t.Errorf("%s\n%s %q: %d bytes", code, r.Value, r.Error, r.Usage.MemoryBytes)
		}
	}
}
