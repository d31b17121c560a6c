package sandbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestConsolePrintsAsNode compares console.log with what Node 20 printed for the same arguments. testdata/console.txt
// has them, each after ">>> ".
func TestConsolePrintsAsNode(t *testing.T) {
	b, err := os.ReadFile("testdata/console.txt")
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	for block := range strings.SplitSeq(strings.TrimPrefix(string(b), ">>> "), "\n>>> ") {
		args, want, _ := strings.Cut(block, "\n")
		code := "console.log(" + args + ")"
		if !strings.HasPrefix(args, "...") {
			code = "const v = " + args + "; console.log(v)"
		}
		r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{})
		if got := strings.TrimSuffix(r.Output, "\n"); r.Error != "" || got != strings.TrimSuffix(want, "\n") {
			t.Errorf("console.log(%s) printed\n%s\n(%s) and Node\n%s", args, got, r.Error, want)
		}
	}
}

func TestConsoleMethods(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, want string }{
		{
			"console.group('a'); console.log('b\\nc'); console.group(); console.warn({d: 1}); console.groupEnd(); " +
				"console.groupEnd(); console.groupEnd(); console.log('e')", "a\n  b\n  c\n    { d: 1 }\ne\n",
		},
		{
			"console.count(); console.count('x'); console.count(); console.countReset(); console.count(); " +
				"console.countReset('y')", "default: 1\nx: 1\ndefault: 2\ndefault: 1\nWarning: Count for 'y' does not exist\n",
		},
		{"console.assert(1 === 1, 'no'); console.assert(false, 'n %d', 1); console.assert(0, {a: 1}); console.assert()",
			"Assertion failed: n 1\nAssertion failed: { a: 1 }\nAssertion failed\n"},
		{"console.dir({a: {b: {c: {}}}}, {depth: 0}); console.dirxml([1]); console.clear()", "{ a: [Object] }\n[ 1 ]\n"},
		{"console.time('t'); console.timeLog('t', 'so far', {n: 1}); console.timeEnd('t'); console.timeEnd('t')",
			"t: 0ms so far { n: 1 }\nt: 0ms\nWarning: No such label 't' for console.timeEnd()\n"},
		{"console.table([{a: 1, b: 'x'}, {a: 2, c: true}])",
			"┌─────────┬───┬─────┬──────┐\n│ (index) │ a │ b   │ c    │\n├─────────┼───┼─────┼──────┤\n│ 0       │ 1 │ 'x' " +
				"│      │\n│ 1       │ 2 │     │ true │\n└─────────┴───┴─────┴──────┘\n"},
		{"console.table(new Map([['k', 1]])); console.table(5)",
			"┌───────────────────┬─────┬────────┐\n│ (iteration index) │ Key │ Values │\n" +
				"├───────────────────┼─────┼────────┤\n│ 0                 │ 'k' │ 1      │\n" +
				"└───────────────────┴─────┴────────┘\n5\n"},
		{"function f() { console.trace('here', 1) }\nf()",
			"Trace: here 1\n    at f (script.js:1:24)\n    at <anonymous> (script.js:2:1)\n"},
		{"Error.prepareStackTrace = () => 'prepared'; console.trace('here')",
			"Trace: here\n    at <anonymous> (script.js:1:53)\n"},
		{"console.log(new TypeError('bad'))", "TypeError: bad\n    at <anonymous> (script.js:1:17)\n"},
	} {
		seed := int64(1)
		r := run(t, e, sandbox.Script{Code: c.code, Seed: &seed}, sandbox.Grants{})
		if r.Output != c.want || r.Error != "" {
			t.Errorf("%s printed\n%s(%s), want\n%s", c.code, r.Output, r.Error, c.want)
		}
	}
}
