package compress_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/hostops/compress"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/opstest"
)

// A stream that is compressed and decompressed is the same; damaged input is an error that the guest sees.
func TestOps(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"there and back", `(() => {
			const z = op('zip.open', 'gzip'), packed = op('zip.write', z, bytes(1, 2, 3, 3, 3), 1);
			const u = op('unzip.open', 'gzip'), out = [];
			for (let b = op('unzip.step', u, packed, 1); b !== null; b = op('unzip.step', u, null, 1)) out.push(...list(b));
			op('zip.drop', 1, z), op('zip.drop', 0, u);
			return out;
		})()`,
			`[1,2,3,3,3]`},
		{"damaged input", `(() => {
			const u = op('unzip.open', 'gzip');
			try { return op('unzip.step', u, bytes(1, 2, 3), 1); } finally { op('zip.drop', 0, u); }
		})()`,
			`TypeError: the compressed data is not valid, or not complete`},
		{"unknown format", `op('zip.open', 'nope')`, `TypeError: invalid arguments`},
		{"unknown stream", `op('zip.write', 99, bytes(1), 1)`, `TypeError: invalid arguments`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := opstest.Eval(t, compress.Ops, c.expression); got != c.want {
				t.Errorf("%s is %s, want %s", c.expression, got, c.want)
			}
		})
	}
}
