package sandbox_test

import (
	"encoding/json"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// newEngine returns an engine. All tests of this machine share its compiled code.
func newEngine(t testing.TB) *sandbox.Engine {
	t.Helper()
	return engineOf(t, testBuild)
}

func run(t testing.TB, e *sandbox.Engine, s sandbox.Script, g sandbox.Grants) sandbox.Result {
	t.Helper()
	r, err := e.Run(t.Context(), s, g)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// codeShapes are the forms that code may have, with their values.
var codeShapes = []struct{ code, want string }{
	{"1 + 1", "2"},
	{"'hello'", `"hello"`},
	{"(x) => 5;", "5"},
	{"async () => { await null; return 6 }", "6"},
	{"function () { return 7 }", "7"},
	{"async function main(given) { return given }", `{"n":3}`},
	{"class A {}", "null"},
	{"const mail = { push() { return true } }; mail.push(1)", "true"},
	{"const bus = new EventTarget(); bus.dispatchEvent(new Event('x'))", "null"},
	{"{a: 1}", `{"a":1}`},
	{"{ a: 1, b: [2] }.b", "[2]"},
	{"{ const a = 1 }", "null"},
	{"const a = 1; a + 1", "2"},
	{"const a = 1; `x${a}`", `"x1"`},
	{"const a = 1\n;[1, 2].map((x) => x * 2)", "[2,4]"},
	{"const s = `\n;nope`; s.length", "6"},
	{"let i = 0; while (i < 3) i++\ni", "3"},
	{"do { } while (0) 5", "5"},
	{"label: for (;;) { break label }\n9", "9"},
	{"var re = /[/]}/g; re.test('}')", "false"},
	{"if (true) return 1; 2 + 2", "1"},
	{"if (false) return 1; 2 + 2", "4"},
	{"return await Promise.resolve(6)", "6"},
	{"x = 1;\n(async () => { return 3 })()", "3"},
	{"output = 8", "8"},
	{"for (const x of [1]) { output = x }", "1"},
	{"output = 1; return 2", "2"},
	{"setTimeout(() => { output = 'late' }, 1)", `"late"`},
	{"setTimeout(() => { output = 'never' }, 1e6); return 1", "1"},
	{"new Promise((done) => setTimeout(() => done('t'), 2))", `"t"`},
	{"const f = () => 4; f", "null"},
	{"Math.max", "null"},
	{"// only a comment", "null"},
	{"", "null"},
	{"#!/usr/bin/env node\n5", "5"},
	{"```js\n5\n```", "5"},
	{"\n  ```typescript\nconst a = 5\na\n```  \n", "5"},
	{"'use strict'; 5", "5"},
	{"input.n", "3"},
	{"given.n + extra", `"3!"`},
	{"undefined", "null"},
}

func TestShapes(t *testing.T) {
	e := newEngine(t)
	for _, c := range codeShapes {
		if got := shapeOf(t, e, "", c.code); got != c.want {
			t.Errorf("%q gave %s, want %s", c.code, got, c.want)
		}
	}
}

// shapeOf returns the value of code on an engine, or its error.
func shapeOf(t *testing.T, e *sandbox.Engine, engine, code string) string {
	t.Helper()
	r := run(t, e, sandbox.Script{
		Engine: engine, Code: code, Input: json.RawMessage(`{"n":3}`),
		Context: map[string]json.RawMessage{"given": json.RawMessage(`{"n":3}`), "extra": json.RawMessage(`"!"`)},
	}, sandbox.Grants{})
	if r.Error != "" {
		return r.Error
	}
	return string(r.Value)
}

func TestExceptions(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		code         string
		typescript   bool
		error        string
		line, column int
	}{
		{"\n  foo.bar", false, "ReferenceError: foo is not defined", 2, 3},
		{"const a = 1\na+", false, "SyntaxError: Unexpected end of input", 2, 3},
		{"let 5x", false, "SyntaxError: Invalid or unexpected token", 1, 6},
		{"const x = 1;\nfunction f() {\n  null.x\n}\nf()", false,
			"TypeError: Cannot read properties of null (reading 'x')", 3, 3},
		{"```js\nlet a = 1\n  foo(a)\n```", false, "ReferenceError: foo is not defined", 3, 3},
		{"'日本'; oops()", false, "ReferenceError: oops is not defined", 1, 7},
		{"}); (async () => {", false, "SyntaxError: ", 1, 2},
		{"a\x00b", false, "SyntaxError: a NUL byte is not allowed in code", 1, 2},
		{"1;\n'\xff'", false, "SyntaxError: code is not valid UTF-8", 2, 2},
		{"const n: number = 1", false,
			"SyntaxError: Missing initializer in const declaration; as TypeScript it is correct: set language to typescript",
			1, 8},
		{"throw 'text'", false, "Error: text", 0, 0},
		{"type A = { x: number };\n\nfunction f(a: A) {\n  const é = 1; throw new Error('ts');\n}\nf({ x: 1 })", true,
			"Error: ts", 4, 26},
		{"const a: number = f(1", true, "SyntaxError: Unexpected end of input", 1, 22},
		{"'日本'; let x: = 1", true, `SyntaxError: Unexpected "="`, 1, 14},
		{"let x: = 1", true, `SyntaxError: Unexpected "="`, 1, 8},
		{"await new Promise(() => {})", false, "the promise returned by the code never settles", 0, 0},
	} {
		r := run(t, e, sandbox.Script{Code: c.code, TypeScript: c.typescript}, sandbox.Grants{})
		if len(r.Error) < len(c.error) || r.Error[:len(c.error)] != c.error || c.error == "" {
			t.Errorf("%q failed with %q, want %q", c.code, r.Error, c.error)
		}
		if r.Exception == nil {
			if c.line != 0 {
				t.Errorf("%q has no exception", c.code)
			}
			continue
		}
		if r.Exception.Line != c.line || r.Exception.Column != c.column {
			t.Errorf("%q failed at %d:%d, want %d:%d", c.code, r.Exception.Line, r.Exception.Column, c.line, c.column)
		}
	}
}

func TestTypeScript(t *testing.T) {
	e := newEngine(t)
	for code, want := range map[string]string{
		"enum E { A, B }; E.B":                                                   "1",
		"const f = <T,>(x: T): T => x; f<number>(3)":                             "3",
		"(x?: number): number => 8":                                              "8",
		"interface P { a: number }\nconst p: P = { a: 1 }; return p.a as number": "1",
		"{ a: 1 as number }":                                                     `{"a":1}`,
		"function (x: number) { return 9 }":                                      "9",
		"namespace N { export const a = 4 } N.a":                                 "4",
		"#!/usr/bin/env ts\nconst n: number = 5; n":                              "5",
		"import { sep } from 'path'\nnamespace N { export const a = sep } N.a":   `"/"`,
	} {
		grants := sandbox.Grants{Modules: []string{"path"}}
		if r := run(t, e, sandbox.Script{Code: code, TypeScript: true}, grants); string(r.Value) != want {
			t.Errorf("%q gave %s (%s), want %s", code, r.Value, r.Error, want)
		}
	}
}

func TestSeedRepeatsARun(t *testing.T) {
	e := newEngine(t)
	seed := int64(42)
	code := "const a = [Math.random(), Date.now(), performance.now()]; await new Promise((r) => setTimeout(r, 3)); " +
		"return [a, Math.random(), Date.now()]"
	first := run(t, e, sandbox.Script{Code: code, Seed: &seed}, sandbox.Grants{})
	second := run(t, e, sandbox.Script{Code: code, Seed: &seed}, sandbox.Grants{})
	if first.Error != "" || string(first.Value) != string(second.Value) || first.Usage.Ticks != second.Usage.Ticks {
		t.Errorf("the same seed gave %s and %s (%s)", first.Value, second.Value, first.Error)
	}
	other := int64(43)
	if third := run(t, e, sandbox.Script{Code: code, Seed: &other}, sandbox.Grants{}); string(third.Value) ==
		string(first.Value) {
		t.Errorf("another seed gave the same %s", third.Value)
	}
}

func TestPurity(t *testing.T) {
	e := newEngine(t)
	for code, want := range map[string]bool{
		"[3, 1, 2].sort()":             true,
		"console.log(1); new Date(0)":  true,
		"Math.random()":                false,
		"Date.now()":                   false,
		"new Date()":                   false,
		"performance.now()":            false,
		"setTimeout(() => {}, 0); 'x'": false,
	} {
		if r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{}); r.Pure != want || r.Error != "" {
			t.Errorf("%q is pure: %v, want %v (%s)", code, r.Pure, want, r.Error)
		}
	}
}
