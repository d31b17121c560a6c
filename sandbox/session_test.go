package sandbox_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// steps runs scripts as steps of one session and returns the result of the last.
func steps(t testing.TB, e *sandbox.Engine, grants sandbox.Grants, codes ...string) sandbox.Result {
	t.Helper()
	var session []byte
	var r sandbox.Result
	for i, code := range codes {
		var err error
		if r, err = e.Step(t.Context(), session, sandbox.Script{Code: code}, grants); err != nil {
			t.Fatal(err)
		}
		if i < len(codes)-1 && r.Snapshot == nil {
			t.Fatalf("step %d: %s %+v", i+1, r.Error, r.Exception)
		}
		session = r.Snapshot
	}
	return r
}

func TestSessionsKeepDeclarations(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"}, Eval: true}
	for _, c := range []struct {
		name string
		want string
		code []string
	}{
		{"let", "3", []string{"let a = 1", "a++; a++", "a"}},
		{"const", `[1,"Assignment to constant variable."]`,
			[]string{"const a = 1", "let m; try { a = 2 } catch (e) { m = e.message } [a, m]"}},
		{"var in a block", "7", []string{"if (true) { var a = 7 }", "a"}},
		{"destructuring", "[1,3,[4],{\"z\":5},2]", []string{
			"const {a, b: [, c, ...d], ...e} = {a: 1, b: [2, 3, 4], z: 5}; let [f = 2] = []", "[a, c, d, e, f]"}},
		{"a constant by destructuring", `"Assignment to constant variable."`,
			[]string{"const {a: [b]} = {a: [1]}", "let m; try { b = 2 } catch (e) { m = e.message } m"}},
		{"a function that stands alone", "6", []string{"function twice(n) { return 2 * n }", "twice(3)"}},
		{"an async function and a generator", "[1,2,3]",
			[]string{"async function a() { return 1 } function* g() { yield 2; yield 3 }", "[await a(), ...g()]"}},
		{"a class", `"A 1"`, []string{"class A { #x = 1; get x() { return this.#x } }",
			"class B extends A { toString() { return 'A ' + this.x } }", "`${new B()}`"}},
		{"a closure and a later step share a variable", "[2,2]",
			[]string{"let n = 0; const up = () => ++n", "up(); n++; [n, up() - 1]"}},
		{"a name again", "[2,1]", []string{"let a = 1; const old = () => a", "let a = 2", "[a, old()]"}},
		{"a constant again", "2", []string{"const a = 1", "const a = 2", "a"}},
		{"a global object", "[5,true]", []string{"globalThis.g = 5; let a", "[g, 'a' in globalThis]"}},
		{"import", `["/x/y","y"]`, []string{"import path, {basename as base} from 'node:path'",
			"[path.join('/x', 'y'), base('/x/y')]"}},
		{"import of a namespace", `"/x"`, []string{"import * as path from 'node:path'; let a = 1", "path.dirname('/x/y')"}},
		{"import that was computed", `"y"`, []string{"const {basename} = await import('node:path')", "basename('/x/y')"}},
		{"require", `"y"`, []string{"const path = require('path')", "path.basename('/x/y')"}},
		{"the last expression is the value", "42", []string{"let a = 40; a + 2"}},
		{"a lone function expression is called", "3", []string{"let a = 1", "() => a + 2"}},
		{"strict code stays strict", `["ReferenceError",1]`,
			[]string{"'use strict'; const a = 1; let m; try { undeclared = 1 } catch (e) { m = e.name }", "[m, a]"}},
		{"eval", "9", []string{"let a = 4", "eval('a + 5')"}},
		{"files", `"one two"`, []string{"const fs = require('fs'); fs.writeFileSync('/a', 'one')",
			"fs.appendFileSync('/a', ' two')", "fs.readFileSync('/a', 'utf8')"}},
		{"a class used before it is declared", `"ReferenceError"`,
			[]string{"let m; try { A } catch (e) { m = e.name }\nclass A {}\nm"}},
		{"no exit between steps", `["exit"]`, []string{"const seen = []; process.on('exit', () => seen.push('exit')); " +
			"process.on('beforeExit', () => seen.push('before'))", "seen.length", "process.emit('exit'); seen"}},
		{"what a promise will be", "5", []string{"let p = Promise.resolve(5)", "await p"}},
		{"a timer of an earlier step", `"late"`,
			[]string{"const p = new Promise((r) => setTimeout(() => r('late'), 20)); 1", "await p"}},
		{"a repeating timer of an earlier step does not hold a step", "null",
			[]string{"setInterval(() => {}, 1); 1", "console.log('done')"}},
		{"output is of one step", "null", []string{"output = 5", "let a"}},
		{"names of the wrapping", "1", []string{"let module = 1, exports = 2, $ = 3", "module"}},
		{"no declarations", "2", []string{"1", "2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := steps(t, e, grants, c.code...); string(r.Value) != c.want || r.Error != "" || r.Snapshot == nil {
				t.Errorf("got %s (%s %+v), want %s", r.Value, r.Error, r.Exception, c.want)
			}
		})
	}
}

// TestSessionsStacks checks positions: those of the step that runs are in its own code.
func TestSessionsStacks(t *testing.T) {
	e := newEngine(t)
	r := steps(t, e, sandbox.Grants{}, "let a = 1;\nfunction boom() { null.x }", "let b = 2, c = 3;\n  boom()")
	if x := r.Exception; x == nil || x.Line != 2 || x.Column != 3 {
		t.Errorf("%+v", x)
	} else if x.Stack != "    at boom (step 1)\n    at <anonymous> (script.js:2:3)" {
		t.Errorf("the stack is %s", x.Stack)
	}
	for code, column := range map[string]int{"let b = 2; null.x": 12, "let b = ;": 9} {
		if r := steps(t, e, sandbox.Grants{}, "1", code); r.Exception == nil || r.Exception.Column != column {
			t.Errorf("%s: %+v", code, r.Exception)
		}
	}
}

func TestSessionsOfTypeScript(t *testing.T) {
	e := newEngine(t)
	var session []byte
	for i, code := range []string{
		"import { basename } from 'node:path';\nenum Colour { Red, Green }\nconst n: number = 1; interface I { a: string }",
		"const i: I = {a: basename('/x/y')};\n[Colour.Green, n, i.a] as const",
	} {
		r, err := e.Step(t.Context(), session, sandbox.Script{Code: code, TypeScript: true},
			sandbox.Grants{Modules: []string{"*"}})
		if err != nil || r.Snapshot == nil {
			t.Fatal(err, r.Error)
		}
		if session = r.Snapshot; i == 1 && string(r.Value) != `[1,1,"y"]` {
			t.Errorf("%s", r.Value)
		}
	}
}

func TestSessionsForkAndFail(t *testing.T) {
	e := newEngine(t)
	step := func(from []byte, code string) sandbox.Result {
		t.Helper()
		r, err := e.Step(t.Context(), from, sandbox.Script{Code: code},
			sandbox.Grants{Limits: sandbox.Limits{Ticks: 2000, OutputBytes: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := step(nil, "const list = [1]; console.log('x'.repeat(600))").Snapshot
	left, right := step(first, "list.push(2); list"), step(first, "list.push(3); list")
	if string(left.Value) != "[1,2]" || string(right.Value) != "[1,3]" {
		t.Errorf("forks: %s and %s", left.Value, right.Value)
	}
	if r := step(left.Snapshot, "console.log('x'.repeat(600)); list"); string(r.Value) != "[1,2]" || len(r.Output) != 601 {
		t.Errorf("limits are not those of a step: %s %s, %d bytes", r.Value, r.Error, len(r.Output))
	}
	for _, code := range []string{"list.push(9); throw new Error('no')", "list.push(9); for (;;) {}", "list.push(9); }",
		"list.push(9); await new Promise(() => {})", "list.push(9); process.exit(0)", "list.push(9); Promise.reject(1)"} {
		if r := step(first, code); r.Snapshot != nil {
			t.Errorf("%s: the step has a snapshot", code)
		}
	}
	if r := step(first, "list"); string(r.Value) != "[1]" {
		t.Errorf("after failed steps: %s", r.Value)
	}
	for name, from := range map[string][]byte{"no snapshot": []byte("x"), "half": first[:len(first)/2]} {
		_, err := e.Step(t.Context(), from, sandbox.Script{Code: "1"}, sandbox.Grants{})
		if !errors.Is(err, sandbox.ErrSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSessionsWait parks a step of a session.
func TestSessionsWait(t *testing.T) {
	e := newEngine(t)
	first := steps(t, e, waitGrants, "let n = 1; const late = airlock.sleep('1 day').catch((e) => e.name); n")
	script := sandbox.Script{Code: "n += await airlock.waitForEvent('more'); let m = n * 2; m"}
	r, err := e.Step(t.Context(), first.Snapshot, script, waitGrants)
	if err != nil || r.Parked == nil || r.Snapshot != nil {
		t.Fatal(err, r.Error)
	}
	parked := r.Parked.Snapshot
	if _, err := e.Step(t.Context(), parked, script, waitGrants); !errors.Is(err, sandbox.ErrSnapshot) {
		t.Errorf("a step that waits was continued by another: %v", err)
	}
	r = resume(t, e, r, script, waitGrants, sandbox.Answer{Seq: 1, Value: json.RawMessage("4")})
	if string(r.Value) != "10" || r.Snapshot == nil {
		t.Fatalf("%s %s", r.Value, r.Error)
	}
	if _, err := e.Resume(t.Context(), r.Snapshot, nil, script, waitGrants); !errors.Is(err, sandbox.ErrSnapshot) {
		t.Errorf("a session between two steps was resumed: %v", err)
	}
	last, err := e.Step(t.Context(), r.Snapshot, sandbox.Script{Code: "[n, m, await late]"}, waitGrants)
	if err != nil || string(last.Value) != `[5,10,"AbortError"]` {
		t.Errorf("%s %s %v", last.Value, last.Error, err)
	}
}

// TestSessionsOfGrants checks that each step has its own grants.
func TestSessionsOfGrants(t *testing.T) {
	e := newEngine(t)
	tool := refund
	tool.Approval = false
	with := sandbox.Grants{Tools: []sandbox.Tool{tool}, Eval: true, Files: sandbox.FilesWrite, Modules: []string{"fs"}}
	first := steps(t, e, with,
		"const fs = require('fs'); fs.writeFileSync('/a', 'x'); eval('1')", "const f = payments.refund")
	for code, want := range map[string]string{
		"f({order: 1}).catch((e) => e.message)":                                              "payments:refund",
		"(() => { try { eval('1') } catch (e) { return e.message } })()":                     "eval",
		"(() => { try { fs.readFileSync('/a', 'utf8') } catch (e) { return e.message } })()": "fs.",
	} {
		r, err := e.Step(t.Context(), first.Snapshot, sandbox.Script{Code: code}, sandbox.Grants{})
		if err != nil || !strings.Contains(string(r.Value), want) {
			t.Errorf("%s: %s %s %v", code, r.Value, r.Error, err)
		}
	}
	none := steps(t, e, sandbox.Grants{}, "let a = 1")
	code := "[(await payments.refund({order: a})).params, eval('a')]"
	r, err := e.Step(t.Context(), none.Snapshot, sandbox.Script{Code: code}, with)
	if err != nil || string(r.Value) != `[{"order":1},1]` {
		t.Errorf("%s %s %v", r.Value, r.Error, err)
	}
}

// Standard input is the input of the step.
func TestInputOfSteps(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesRead, Modules: []string{"fs"}}
	const twice = "[fs.readFileSync(0, 'utf8'), fs.readFileSync(0, 'utf8')]"
	var from []byte
	for _, c := range []struct{ name, code, input, want string }{
		{"first", "const fs = require('fs'), fd = fs.openSync('/dev/stdin'); " + twice, `"one"`, `["one",""]`},
		{"another", twice, `"two"`, `["two",""]`},
		{"none", twice, "", `["",""]`},
		{"a descriptor that was opened", "fs.readFileSync(fd, 'utf8')", `"three"`, `"three"`},
		{"a descriptor that was read", "fs.readFileSync(fd, 'utf8')", `"four"`, `"four"`},
	} {
		result, err := e.Step(t.Context(), from, sandbox.Script{Code: c.code, Input: []byte(c.input)}, grants)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(result.Value); got != c.want {
			t.Errorf("%s: got %s (%s), want %s", c.name, got, result.Error, c.want)
		}
		from = result.Snapshot
	}
}

// The arguments of a program are those of its step.
func TestArgumentsOfSteps(t *testing.T) {
	e := newEngine(t)
	var from []byte
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "b"}, `["a","b"]`}, {nil, `[]`}, {[]string{"c"}, `["c"]`}, {nil, `[]`},
	} {
		result, err := e.Step(t.Context(), from, sandbox.Script{Code: "process.argv.slice(2)", Args: c.args},
			sandbox.Grants{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(result.Value); got != c.want {
			t.Errorf("with %q: got %s, want %s", c.args, got, c.want)
		}
		from = result.Snapshot
	}
}

// TestSessionsShareModules checks that the modules of packages which the first step imports are those of later steps,
// and that a step evaluates what the first did not import.
func TestSessionsShareModules(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Packages: somePackages(), Modules: []string{"path"}}
	grants.Packages[0] = packageOf("plain", "index.js",
		"let n = 0; exports.count = () => ++n; exports.room = new Uint8Array(2 << 20).fill(1)") // large enough for an image
	for _, c := range []struct {
		name, want string
		code       []string
	}{
		{"the same module", "[2,true,true]", []string{"import p, { count } from 'plain'; count()",
			"import again, * as all from 'plain'; [again.count(), p === again, all.count === count]"}},
		{"require", "[2,true]", []string{"const p = require('plain'); p.count()",
			"const again = require('plain'); [again.count(), p === again]"}},
		{"one that is evaluated by each run", "[true,true]", []string{"import 'plain'; import { id } from 'random'",
			"import * as r from 'random'; [id, r.id]"}},
		{"another package later", `[1,"default",3]`, []string{"import { count } from 'plain'; count()",
			"import f from '@s/es'", "import { count as own } from 'plain'; [own() - 1, f(), count()]"}},
		{"a small package", "[2,1]", []string{"import { year, list } from 'computes'; list.push(1)",
			"import { list as own } from 'computes'; own.push(1); [own.push(1), list.length]"}},
		{"the first import in the second step", "[1,2]", []string{"let a = 1", "import { count } from 'plain'; count()",
			"[a, count()]"}},
		{"the clock", "true", []string{"import 'plain'; import k from 'keeps'", "Math.abs(Date.now() - k.start) < 60000"}},
		{"declarations", "[3,2]", []string{"import { count as c } from 'plain'; let n = c() + 1; const up = () => ++n",
			"up(); [n, c()]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := steps(t, e, grants, c.code...); string(r.Value) != c.want {
				t.Errorf("%s, %s; want %s", r.Value, r.Error, c.want)
			}
		})
	}
	first, err := e.Step(t.Context(), nil, sandbox.Script{Code: "import { count } from 'plain'; count()"}, grants)
	if err != nil || len(first.Packages) != 1 {
		t.Fatalf("%v: %+v", err, first)
	}
	other := grants
	other.Packages = []sandbox.Package{packageOf("plain", "index.js", "exports.count = () => 'new'")}
	const code = "import { count as c } from 'plain'; [c(), count()]"
	r, err := e.Step(t.Context(), first.Snapshot, sandbox.Script{Code: code}, other)
	if err != nil || string(r.Value) != `["new",2]` {
		t.Errorf("after a change of the package: %s, %s, %v", r.Value, r.Error, err)
	}
}
