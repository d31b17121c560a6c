package sandbox_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// TestCompiledOnce checks that code that is not compiled again runs as it would have alone, whatever earlier runs
// were granted, were given, or did.
func TestCompiledOnce(t *testing.T) {
	e := newEngine(t)
	seed := func(n int64) *int64 { return &n }
	for _, s := range []sandbox.Script{
		{Code: "return [Math.random(), Date.now(), performance.timeOrigin, input, typeof a, crypto.randomUUID()]"},
		{Code: "globalThis.n = (globalThis.n ?? 0) + 1; Object.prototype.x = n; Array.prototype.push = null; n"},
		{Code: "const f = () => f; f.n = (f.n ?? 0) + 1; `a${f.n}`.concat(((s, ...v) => (s.raw.n = (s.raw.n ?? 0) + 1, " +
			"s.raw.n))`t${1}`)"},
		{Code: "console.log(1);\n\nnull.x"},
		{Code: "function f(n) {\n  if (!n) throw new TypeError('deep');\n  f(n - 1);\n}\nf(3)"},
		{Code: "const a: number = 1;\nenum E { A = 3 }\nnull!.x + E.A + a", TypeScript: true},
		{Code: "eval('1 +\\n  2 +\\n null.x')"},
		{Code: "new Function('return 5')()"},
		{Code: "let s = 0; for (let i = 0; i < 3e5; i++) s += i % 7; [1, 2, 3].sort((a, b) => b - a).join() + s"},
		{Code: "for (;;) ;"},
		{Code: "const a = []; for (;;) a.push(new Array(1000).fill(1))"},
		{Code: "(function f() { f() })()"},
		{Code: "await new Promise((r) => setTimeout(r, 5)); import.meta.url"},
		{Code: "(await import('node:util')).inspect({ a: 1 })"},
		{Code: "async function main(n) { return [n, this === undefined, arguments.length] }"},
		{Code: "if (input) { 1 } else { 2 } ;} async () => {"},
		{Code: "const re = /(a+)+b/g; re.lastIndex = 3; re.test('aaab') + re.lastIndex"},
		{Code: "var " + longNames(400) + "; v399"},
	} {
		for i := range 6 {
			// Every other run has other grants, another seed and other data.
			g := sandbox.Grants{Limits: sandbox.Limits{Wall: 20 * time.Second, Ticks: 80, MemoryBytes: 16 << 20}, Eval: i%2 == 0}
			s.Seed, s.Input = seed(int64(i%2)), json.RawMessage(fmt.Sprint(i%2))
			if i%2 == 0 {
				g.Modules, g.Limits.MemoryBytes = []string{"*"}, 24<<20
				s.Context = map[string]json.RawMessage{"a": json.RawMessage(`1`)}
			} else {
				s.Context = nil
			}
			// A test of its own closes its engine at once.
			t.Run(fmt.Sprintf("%.30q/%d", s.Code, i), func(t *testing.T) {
				if d := same(run(t, newEngine(t), s, g), run(t, e, s, g)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

func longNames(n int) (names string) {
	for i := range n {
		names += fmt.Sprintf("v%d = %d, ", i, i)
	}
	return names[:len(names)-2]
}

// FuzzCompiled checks that the third run of a script, which does not compile it, equals the first.
func FuzzCompiled(f *testing.F) {
	for _, a := range attacks(f) {
		f.Add(a.code, false)
	}
	for _, code := range []string{"1 + 1", "a\n++b", "`${`${1}`}`", "<!-- x", "eval('1 + x')",
		"export default () => this", "const a: number = 1; a", "}); (async () => {"} {
		f.Add(code, false)
		f.Add(code, true)
	}
	e := newEngine(f)
	seed := int64(7)
	f.Fuzz(func(t *testing.T, code string, typescript bool) {
		s := sandbox.Script{Code: code, TypeScript: typescript, Seed: &seed}
		g := sandbox.Grants{Limits: sandbox.Limits{Wall: time.Second, Ticks: 12, MemoryBytes: 8 << 20}, Eval: true}
		first := run(t, e, s, g)
		if first.Limit == sandbox.LimitWall {
			return // it waits, or the machine is slow: where it ends differs
		}
		run(t, e, s, g)
		third := run(t, e, s, g)
		if !first.Pure { // what ends first, a timer or a request, decides what memory is used at once
			third.Usage.MemoryBytes = first.Usage.MemoryBytes
		}
		if third.Limit != sandbox.LimitWall && same(first, third) != "" {
			t.Fatal(same(first, third))
		}
	})
}
