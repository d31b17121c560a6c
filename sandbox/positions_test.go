package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestPositionsOfErrors checks that errors are reported where they happened, in all kinds of code, and frames at the
// position of their call.
func TestPositionsOfErrors(t *testing.T) {
	e := newEngine(t)
	const before = "const none = null; let some = {};\nfunction thrower() { throw new Error('x') }\n"
	for _, c := range []struct{ code, at string }{
		{"const b = none.x;", "3:11"},
		{"let a = 1,\n  b = none.x;", "4:7"},
		{"some = none.x;", "3:8"},
		{"none.x;", "3:1"},
		{"none.x = 1;", "3:8"}, // as in V8
		{"some.x = none.x = some;", "3:17"},
		{"none.x +=\n  some.y;", "3:1"},
		{"return none.x;", "3:8"},
		{"if (none.x) {}", "3:5"},
		{"while (none.x) {}", "3:8"},
		{"do {} while (none.x)", "3:14"},
		{"for (let i = none.x; ;) {}", "3:14"},
		{"for (;none.x;) {}", "3:7"},
		{"for (const z of none) {}", "3:17"},
		{"for (const z of [1]) {\n  const y = none.x;\n}", "4:13"},
		{"switch (none.x) {}", "3:9"},
		{"switch (1) {\n  case none.x:\n}", "4:8"},
		{"const f = () => none.x; f();", "3:17"},
		{"const f = () => {\n  return none.x;\n};\nf();", "4:10"},
		{"function f(a = none.x) {}\nf();", "3:16"},
		{"const z = some ? none.x : 1;", "3:18"},
		{"const z = [\n  1,\n  none.x,\n];", "5:3"},
		{"const z = {\n  k: 1,\n  l: none.x,\n};", "5:6"},
		{"const z = `a\n${none.x}`;", "4:3"},
		{"const { x } = none;", "3:1"},
		{"const z = later; const later = 1;", "3:11"},
		{"const z = missing;", "3:11"},
		{"const z = missing();", "3:11"},
		{"const z = some.foo.bar;", "3:11"},
		{"const z = await none.x;", "3:11"},
		{"class K { static z = none.x; }", "3:22"},
		{"class K {\n  y = none.x;\n}\nnew K();", "4:7"},
		{"const o = { get g() { return none.x } };\nconst z = o.g;", "3:30"},
		{"const z = [1].map((v) => none.x);", "3:26"},
		{"thrower(\n  1,\n  some,\n);", "2:32"},
		{"some.missing(\n  some,\n  { a: some });", "3:6"},
		{"throw new Error(\n  'a' +\n  some.b);", "3:11"},
		{"try { none.x } finally { some = 1 }", "3:7"},
		{"label: { const z = none.x; }", "3:20"},
		{"const z = 1 +\n  missing;", "4:3"},
	} {
		for _, typescript := range []bool{false, true} {
			r := run(t, e, sandbox.Script{Code: before + c.code, TypeScript: typescript}, sandbox.Grants{})
			if r.Exception == nil {
				t.Errorf("%s: no exception: %s %s", c.code, r.Value, r.Error)
				continue
			}
			line, _, _ := strings.Cut(c.at, ":")
			got, want := fmt.Sprintf("%d:%d", r.Exception.Line, r.Exception.Column), c.at
			if typescript {
				got, want = fmt.Sprint(r.Exception.Line), line
			}
			if got != want {
				t.Errorf("%s (TypeScript: %v)\n%s, want %s: %s", c.code, typescript, got, want, r.Error)
			}
		}
	}
	r := run(t, e,
		sandbox.Script{Code: before + "const wrap = (f, ...rest) => f(...rest);\nwrap(\n  thrower,\n  1,\n);"},
		sandbox.Grants{})
	if r.Exception == nil {
		t.Fatal("there is no exception")
	}
	for _, frame := range []string{
		"thrower (script.js:2:32)", "wrap (script.js:3:30)", "<anonymous> (script.js:4:1)",
	} {
		if !strings.Contains(r.Exception.Stack, frame) {
			t.Errorf("%s is not in %s", frame, r.Exception.Stack)
		}
	}
	own := run(t, e, sandbox.Script{Code: "let at;\ntry {\n  null.x;\n} catch (e) {\n  at = e.stack;\n}\nat"},
		sandbox.Grants{})
	if !strings.Contains(string(own.Value), "(script.js:3:3)") {
		t.Errorf("the guest reads %s", own.Value)
	}
}
