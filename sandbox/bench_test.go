package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// tenLines is the script that all comparisons with other sandboxes run.
const tenLines = `const words = 'the quick brown fox jumps over the lazy dog'.split(' ');
const counts = {};
for (const word of words) {
  counts[word] = (counts[word] ?? 0) + 1;
}
const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));
const numbers = [1, 2, 3, 4, 5].map((n) => n * n).filter((n) => n % 2);
const text = JSON.stringify({ counts, numbers });
const sum = numbers.reduce((a, b) => a + b, 0);
({ sum, fib: fib(10), length: text.length, the: counts.the });`

func BenchmarkRun(b *testing.B) {
	e := newEngine(b)
	for name, code := range map[string]string{"empty": "0", "ten lines": tenLines, "log": "console.log(55)",
		"throw": "throw new Error('x')"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := run(b, e, sandbox.Script{Code: code}, sandbox.Grants{}); r.Usage.MemoryBytes == 0 {
					b.Fatal(r.Error)
				}
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if r := run(b, e, sandbox.Script{Code: tenLines}, sandbox.Grants{}); r.Error != "" {
					b.Error(r.Error)
				}
			}
		})
	})
}

// BenchmarkNewText measures runs of ten lines of which no cache has seen the text.
func BenchmarkNewText(b *testing.B) {
	e := newEngine(b)
	module := strings.Replace(tenLines, "({ sum", "export default ({ sum", 1)
	for _, c := range []struct{ name, code string }{
		{"script", tenLines}, {"export", module}, {"import", "import os from 'node:os'\n" + tenLines},
		{"dynamic import", "const os = await import('node:os')\n" + tenLines},
		{"CommonJS", strings.Replace(tenLines, "({ sum", "module.exports = ({ sum", 1)},
		{"TypeScript", "const n: number = 1\n" + tenLines}, {"TypeScript module", "const n: number = 1\n" + module},
	} {
		b.Run(c.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				s := sandbox.Script{Code: fmt.Sprintf("// %d\n%s", i, c.code), TypeScript: strings.HasPrefix(c.name, "Type")}
				if r := run(b, e, s, sandbox.Grants{Modules: []string{"*"}}); r.Error != "" {
					b.Fatal(r.Error)
				}
			}
		})
	}
}

// BenchmarkNew measures the start of a process whose compiled code is cached, with and without the self-test.
func BenchmarkNew(b *testing.B) {
	for _, skip := range []bool{true, false} {
		b.Run(fmt.Sprintf("selftest=%v", !skip), func(b *testing.B) {
			for b.Loop() {
				e, err := sandbox.New(b.Context(),
					sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache"), SkipSelfTest: skip})
				if err != nil {
					b.Fatal(err)
				}
				if err := e.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMapKeys measures reads from maps of 1,000 entries, whose keys are numbers, texts and objects.
func BenchmarkMapKeys(b *testing.B) {
	e := newEngine(b)
	for _, key := range []string{"i", "i + 0.5", "BigInt(i)", "'key ' + i", "({ i })"} {
		b.Run(key, func(b *testing.B) {
			const reads = 100_000
			code := "const map = new Map(), keys = []; for (let i = 0; i < 1000; i++) { keys.push(" + key +
				"); map.set(keys[i], i) } let n = 0; for (let i = 0; i < 100000; i++) n += map.get(keys[i % 1000]); n"
			for b.Loop() {
				if r := run(b, e, sandbox.Script{Code: code}, sandbox.Grants{}); string(r.Value) != "49950000" {
					b.Fatal(string(r.Value), r.Error)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/reads, "ns/read")
		})
	}
}
