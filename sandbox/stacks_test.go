package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestStacksThatGuestsRead checks that error.stack holds what other engines have there, in terms of the guest's own
// source.
func TestStacksThatGuestsRead(t *testing.T) {
	e := newEngine(t)
	agent := sandbox.Grants{Eval: true, Modules: []string{"*"}, Files: sandbox.FilesWrite}
	for _, c := range []struct{ code, want string }{
		{"function f() {\n  return new Error('m');\n}\nreturn f().stack;",
			"Error: m\n    at f (script.js:2:14)\n    at <anonymous> (script.js:4:8)"},
		{"try { null.x } catch (e) { return e.stack }",
			"TypeError: Cannot read properties of null (reading 'x')\n    at <anonymous> (script.js:1:7)"},
		{"return new Error('two\\nlines').stack", "Error: two\nlines\n    at <anonymous> (script.js:1:12)"},
		{"return new Error().stack", "Error\n    at <anonymous> (script.js:1:12)"},
		{"class A extends TypeError { get name() { return 'A' } }\nreturn new A('m').stack",
			"A: m\n    at A (script.js:1:1)\n    at <anonymous> (script.js:2:12)"},
		{"class A extends Error { get name() { throw 1 } }\nreturn new A('m').stack",
			"\n    at A (script.js:1:1)\n    at <anonymous> (script.js:2:12)"},
		{"class A extends Error { constructor(m) { super(m); Error.captureStackTrace(this, A) } }\nreturn new A('m').stack",
			"Error: m\n    at <anonymous> (script.js:2:12)"},
		{"const o = {};\nError.captureStackTrace(o);\nreturn o.stack", "Error\n    at <anonymous> (script.js:2:7)"},
		{"Error.stackTraceLimit = 0; return new Error('m').stack", "Error: m"},
		{"try { (function f() { f() })() } catch (e) { return e.stack.slice(0, 70) }",
			"RangeError: Maximum call stack size exceeded\n    at f (script.js:1:23)"},
		{"try { JSON.parse('{') } catch (e) { return e.stack.split('\\n').slice(1).join() }",
			"    at <anonymous> (script.js:1:12)"},
		{"try { [1].map(() => { throw new Error('m') }) } catch (e) { return e.stack }",
			"Error: m\n    at <anonymous> (script.js:1:33)\n    at <anonymous> (script.js:1:11)"},
		{"await null; return new Error('m').stack", "Error: m\n    at <anonymous> (script.js:1:24)"},
		{"return await new Promise((r) => setTimeout(() => r(new Error('m').stack)))",
			"Error: m\n    at <anonymous> (script.js:1:56)"},
		{"return new DOMException('m', 'AbortError').stack", "AbortError: m\n    at <anonymous> (script.js:1:12)"},
		{"try { Buffer.from(5) } catch (e) { return e.stack.split('\\n')[0].slice(0, 36) }",
			"TypeError [ERR_INVALID_ARG_TYPE]: Th"},
		{"try { require('assert').equal(1, 2) } catch (e) { return e.stack }",
			"AssertionError [ERR_ASSERTION]: 1 == 2\n    at <anonymous> (script.js:1:25)"},
		{"try { eval('null.x') } catch (e) { return e.stack.split('\\n').at(-1) }", "    at <anonymous> (script.js:1:7)"},
	} {
		r := run(t, e, sandbox.Script{Code: c.code}, agent)
		var got string
		if err := json.Unmarshal(r.Value, &got); err != nil || got != c.want {
			t.Errorf("%s\n got %q (%s)\nwant %q", c.code, got, r.Error, c.want)
		}
	}
	typescript := run(t, e,
		sandbox.Script{
			Code: "interface A {\n  a: number\n}\nenum B { C }\nconst f = (a: A): string => new Error('m').stack!;\nf({ a: " +
				"B.C })", TypeScript: true,
		}, agent)
	if !strings.Contains(string(typescript.Value), `(script.ts:5:`) ||
		!strings.Contains(string(typescript.Value), `(script.ts:6:`) {
		t.Errorf("TypeScript: %s %s", typescript.Value, typescript.Error)
	}
	bundle := run(t, e, sandbox.Script{Files: map[string][]byte{
		"main.js":     []byte("import { f } from './lib/deep.ts';\nexport default () => f();"),
		"lib/deep.ts": []byte("type A = string;\nexport const f = (): A => new Error('m').stack!;"),
	}, Entry: "main.js"}, agent)
	if want := `(lib/deep.ts:2:`; !strings.Contains(string(bundle.Value), want) ||
		!strings.Contains(string(bundle.Value), "(main.js:2:") {
		t.Errorf("files: %s %s", bundle.Value, bundle.Error)
	}
}

// TestPrintedErrorsHaveTheirNames checks that an error is printed with the name from its constructor, and an error
// whose stack was set as that stack says.
func TestPrintedErrorsHaveTheirNames(t *testing.T) {
	e := newEngine(t)
	r := run(t, e, sandbox.Script{Code: `class A extends Error { constructor(m) { super(m); this.name = 'Named' } }
console.log(new A('m'));
const more = new Error('m'); more.message = 'more: m';
console.log(more);
const own = new A('m'); own.stack = 'Error: m\n    at elsewhere (other.js:1:1)';
console.log(own);`}, sandbox.Grants{})
	want := "Named: m\n    at A (script.js:1:48)\n    at <anonymous> (script.js:2:17)\nError: more: m\n    at " +
		"<anonymous> (script.js:3:18)\n" +
		"Error: m\n    at elsewhere (other.js:1:1) {\n  name: 'Named'\n}\n"
	if r.Output != want {
		t.Errorf("printed\n%s(%s), want\n%s", r.Output, r.Error, want)
	}
}

// FuzzThrownStack checks that the run ends with the guest's error, whatever the guest puts into a stack.
func FuzzThrownStack(f *testing.F) {
	f.Add("Error: m\n    at f (script.js:1:2)")
	f.Add("    at <input>:1:1\n    at f (a:b:9999999999999999999:1)\n\n")
	f.Add("\n    at (native)\x00    at airlock:start.js:1:1")
	e := newEngine(f)
	f.Fuzz(func(t *testing.T, stack string) {
		input, err := json.Marshal(stack)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, e,
			sandbox.Script{Code: "const e = new Error('m'); e.stack = input; console.log(e); throw e", Input: input},
			sandbox.Grants{})
		if r.Error != "Error: m" || r.Exception == nil {
			t.Fatalf("%q: %s", stack, r.Error)
		}
	})
}

// TestCausesAreReported checks that the cause of an error is in its stack.
func TestCausesAreReported(t *testing.T) {
	e := newEngine(t)
	r := run(t, e, sandbox.Script{Code: "try {\n  null.x;\n} catch (e) {\n  throw new Error('outer', { cause: e });\n}"},
		sandbox.Grants{})
	want := "    at <anonymous> (script.js:4:13)\nCaused by: TypeError: Cannot read properties of null (reading 'x')\n" +
		"    at <anonymous> (script.js:2:3)"
	if r.Error != "Error: outer" {
		t.Errorf("the error is %s", r.Error)
	}
	if r.Exception == nil || r.Exception.Stack != want || r.Exception.Line != 4 {
		t.Errorf("%+v", r.Exception)
	}
	for code, want := range map[string]string{
		"const e = new Error('m'); e.cause = e; throw e":                                              "Error: m",
		"throw Object.assign(new Error('m'), { get cause() { throw 1 } })":                            "1",
		"const e = new Error('m'); Object.defineProperty(e, 'cause', { get() { throw 1 } }); throw e": "Error: m",
		"await Promise.any([Promise.reject(1)])": "AggregateError: " +
			"All promises were rejected",
		"Array.prototype.with.call({ length: 2 ** 31 }, 0, " +
			"0)": "Error: an array is too long",
	} {
		if !oldBuild() {
			want = strings.Replace(want, "Error: an array is too long", "RangeError: Invalid array length", 1)
		}
		if r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{}); !strings.HasSuffix(r.Error, want) {
			t.Errorf("%s: %s, want %s", code, r.Error, want)
		}
	}
}
