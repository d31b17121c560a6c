package sandbox_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestDecoratorsAndUsing checks that decorators and using are lowered, in JavaScript and TypeScript, and that errors
// keep their positions.
func TestDecoratorsAndUsing(t *testing.T) {
	e := newEngine(t)
	const decorated = "function twice(f) {\n  return function (...a) { return 2 * f.apply(this, a) };\n}\nclass A {\n" +
		"  @twice m() { return 21 }\n}\nreturn new A().m();"
	const used = "const out = [];\n{\n  using a = { [Symbol.dispose]() { out.push('a') } };\n  await using b = { " +
		"async [Symbol.asyncDispose]() { out.push('b') } };\n}\nout"
	const failing = "const log = () => {};\nclass A {\n  @log m() {}\n}\nnull.x"
	for _, c := range []struct {
		script sandbox.Script
		value  string
	}{
		{sandbox.Script{Code: decorated}, "42"},
		{sandbox.Script{Code: decorated, TypeScript: true}, "42"},
		{sandbox.Script{Code: "import { sep } from 'path';\n" + decorated}, "42"},
		{sandbox.Script{Code: used}, `["b","a"]`},
		{sandbox.Script{Code: used, TypeScript: true}, `["b","a"]`},
	} {
		r := run(t, e, c.script, sandbox.Grants{Modules: []string{"*"}})
		if string(r.Value) != c.value || r.Error != "" {
			t.Errorf("%s\n(TypeScript: %t) %s %s, want %s", c.script.Code, c.script.TypeScript, r.Value, r.Error, c.value)
		}
	}
	for _, typescript := range []bool{false, true} {
		r := run(t, e, sandbox.Script{Code: failing, TypeScript: typescript}, sandbox.Grants{})
		if r.Exception == nil || r.Exception.Line != 5 || r.Exception.Column != 1 {
			t.Errorf("TypeScript: %t, %+v", typescript, r.Exception)
		}
	}
	r := run(t, e, sandbox.Script{Code: "class A {\n  @ }"}, sandbox.Grants{})
	if r.Exception == nil || r.Exception.Name != "SyntaxError" || r.Exception.Line != 2 {
		t.Errorf("%s %+v", r.Error, r.Exception)
	}
}

// TestPrintedIterators checks that printing an iterator of a map or set shows the entries that it has not returned yet,
// and leaves it unchanged.
func TestPrintedIterators(t *testing.T) {
	e := newEngine(t)
	r := run(t, e,
		sandbox.Script{Code: `const m = new Map([['a', 1], ['b', { c: [2] }], ['d', 3]]), s = new Set([1, 2, 3]);
const keys = m.keys(); keys.next(); m.delete('a');
const rest = s.values(); rest.next(); s.delete(1); s.delete(2); s.add(4);
console.log(keys, m.values(), m.entries());
console.log(rest);
console.log(rest, s.entries(), new Map().keys(), [...rest], rest);`}, sandbox.Grants{})
	want := "[Map Iterator] { 'b', 'd' } [Map Iterator] { { c: [ 2 ] }, 3 } [Map Entries] { [ 'b', { c: [ 2 ] } ], [ " +
		"'d', 3 ] }\n" +
		"[Set Iterator] { 3, 4 }\n[Set Iterator] {  } [Set Entries] { [ 3, 3 ], [ 4, 4 ] } [Map Iterator] {  } [ 3, 4 ] " +
		"[Set Iterator] {  }\n"
	if r.Output != want || r.Error != "" {
		t.Errorf("printed\n%s(%s), want\n%s", r.Output, r.Error, want)
	}
}

// TestForAwaitReturn checks that for await calls return when the body leaves the loop, and not when the iteration ends
// by itself.
func TestForAwaitReturn(t *testing.T) {
	e := newEngine(t)
	const iterator = "const log = [];\nconst it = { [Symbol.asyncIterator]() { let i = 0; return {\n" +
		"  next() { return Promise.resolve({ value: i, done: i++ > 1 }) },\n" +
		"  return() { log.push('return'); return Promise.resolve({}) } } } };\n"
	for _, c := range []struct{ name, loop, value string }{
		{"to its end", "for await (const x of it) log.push(x)", `[0,1]`},
		{"break", "for await (const x of it) { log.push(x); break }", `[0,"return"]`},
		{"throw", "try { for await (const x of it) throw x } catch (e) { log.push(e) }", `["return",0]`},
		{"return", "await (async () => { for await (const x of it) return })()", `["return"]`},
		{"of promises", "for await (const x of [Promise.resolve(1), 2]) log.push(x)", `[1,2]`},
		{"continue of a label", "a: for (const k of [1, 2]) for await (const x of it) { log.push(k); continue a }",
			`[1,"return",2,"return"]`},
	} {
		for form, code := range map[string]string{
			"a script": iterator + c.loop + "\nlog", "a module": "import 'path';\n" + iterator + c.loop + "\nlog",
		} {
			for _, typescript := range []bool{false, true} {
				r := run(t, e, sandbox.Script{Code: code, TypeScript: typescript}, sandbox.Grants{Modules: []string{"*"}})
				if string(r.Value) != c.value || r.Error != "" {
					t.Errorf("%s in %s (TypeScript: %t): %s %s, want %s", c.name, form, typescript, r.Value, r.Error, c.value)
				}
			}
		}
	}
	r := run(t, e, sandbox.Script{Code: "for await (const x of [1]) {\n  null.x\n}"}, sandbox.Grants{})
	if r.Exception == nil || r.Exception.Line != 2 || r.Exception.Column != 3 {
		t.Errorf("%+v", r.Exception)
	}
}
