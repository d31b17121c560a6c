package sandbox_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestEngineErrorsHaveV8Words checks the messages of errors that the engine throws. Programs in testdata/programs
// compare more of them with Node.
func TestEngineErrorsHaveV8Words(t *testing.T) {
	e := newEngine(t)
	tools := []sandbox.Tool{{Name: "crm:list", Call: echo}, {Name: "crm:find", Call: echo}}
	grants := sandbox.Grants{Eval: true, Tools: tools}
	for _, c := range []struct{ name, code, want string }{
		{"a tool that there is not", "crm.getInvoice(1)", "crm.getInvoice is not a function; crm has: find, list"},
		{"a member of a member", "const a = { b: {} }; a.b.c(1)", "a.b.c is not a function"},
		{"a key", "const a = {}, k = 'x'; a[k](1)", "a[k] is not a function"},
		{"a literal key", "const a = {}; a['x'](1)", "a.x is not a function"},
		{"a result of a call", "const f = () => ({}); f(1, 2).g(3)", "f(...).g is not a function"},
		{"an optional member", "const a = { b: {} }; a.b?.c(1)", "a.b?.c is not a function"},
		{"over two lines", "const a = {};\na\n  .b\n  .c()", "Cannot read properties of undefined (reading 'c')"},
		{"a chain over two lines", "const a = { b: {} };\na\n  .b\n  .c()", "a.b.c is not a function"},
		{"a callback", "let f; [1].map(f)", "f is not a function"},
		{"a constructor", "const A = {}; new A.B(1)", "A.B is not a constructor"},
		{"a loop", "const o = { a: 1 }; for (const x of o.a) ;", "o.a is not iterable"},
		{"a loop over a call", "const f = () => 1; for (const x of f()) ;",
			"f is not a function or its return value is not iterable"},
		{"a constant", "const c = 1; c += 2", "Assignment to constant variable."},
		{"a frozen object", "'use strict'; const o = Object.freeze({ a: 1 }); o.a = 2",
			"Cannot assign to read only property 'a' of object '#<Object>'"},
		{"a parameter", "function f(x, { id, name }) { return id } f(1)",
			"Cannot destructure property 'id' of 'undefined' as it is undefined."},
		{"for await of a number", "for await (const x of 5) ;", "object is not async iterable"},
		{"a private member", "class A { #x = 1; static of(o) { return o.#x } } A.of({})",
			"Cannot read private member #x from an object whose class did not declare it"},
		{"a private member that is set", "class A { #x = 1; static of(o) { o.#x = 2 } } A.of({})",
			"Cannot write private member #x to an object whose class did not declare it"},
		{"a pattern with escapes", "new RegExp('\\\\p{Foo}', 'u')",
			"Invalid regular expression: /\\p{Foo}/u: Invalid property name"},
		{"what a constructor returned", "class A {} class B extends A { constructor() { super(); return 1 } } new B()",
			"Derived constructors may only return object or undefined"},
		{"a comparator", "[2, 1].sort('up')", "The comparison function must be either a function or undefined"},
		{"no constructor", "new (() => {})", "(intermediate value) is not a constructor"},
		{"a typed array", "new Uint8Array(-1)", "Invalid typed array length: -1"},
		{"entries that are none", "new Map([1])", "Iterator value 1 is not an entry object"},
		{"a parameter that is null", "(({ id }) => id)(null)",
			"Cannot destructure property 'id' of 'object null' as it is null."},
		{"a value that the code does not show", "const n = -1; 'x'.repeat(n)", "Invalid count value"},
		{"a value that is computed", "'x'.repeat(-1 * 2)", "Invalid count value"},
		{"a class far away", "'use strict'; class P { " + strings.Repeat(" ", 600) +
			"constructor() { Object.freeze(this); this.x = 1 } } new P()", "Cannot add property x, object is not extensible"},
		{"a spread of undefined", "export default Math.max(...undefined)",
			"undefined is not iterable (cannot read property undefined)"},
		{"a loop over undefined", "export default 1; for (const x of undefined) ;", "undefined is not iterable"},
		{"eval of code that ends too soon", "eval('1 +')", "Unexpected end of input"},
		{"eval of a token that does not fit", "eval('2 + * 3')", "Unexpected token '*'"},
		{"eval of a character that is no token", "eval('1 + @')", "Invalid or unexpected token"},
		{"eval of an open string", "eval('\"abc')", "Invalid or unexpected token"},
		{"eval of a constant without a value", "eval('const x')", "Missing initializer in const declaration"},
		{"eval of an assignment to a number", "eval('1 = 2')", "Invalid left-hand side in assignment"},
		{"eval of return", "eval('return 1')", "Illegal return statement"},
		{"a function of code with one bracket", "new Function('return )')", "Unexpected token ')'"},
		{"a syntax error that the code makes", "throw new SyntaxError('return not in a function')",
			"return not in a function"},
		{"a getter of a class", "'use strict'; class P { get x() { return 1 } } const p = new P(); p.x = 2",
			"Cannot set property x of #<P> which has only a getter"},
		{"a frozen array", "'use strict'; const list = Object.freeze([1, 2]); list.push(3)",
			"Cannot add property 2, object is not extensible"},
		{"code behind a line of its own", "\n\n  null.x", "Cannot read properties of null (reading 'x')"},
		{"an error that the code makes", "throw new TypeError('not a function')", "not a function"},
		{"a text that looks like an error", "throw Object.assign(new Error(), { message: 'empty array' })", "empty array"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, e, sandbox.Script{Code: c.code}, grants)
			if _, message, _ := strings.Cut(r.Error, ": "); message != c.want {
				t.Errorf("%s\nfailed with %q, want %q", c.code, message, c.want)
			}
		})
	}
	typescript := run(t, e, sandbox.Script{Code: "const a: any = {};\na.b.c as number", TypeScript: true}, grants)
	if want := "TypeError: Cannot read properties of undefined (reading 'c')"; typescript.Error != want {
		t.Errorf("TypeScript: %q, want %q", typescript.Error, want)
	}
	files := map[string][]byte{
		"main.js": []byte("import { f } from './lib.js';\nexport default () => f();"),
		"lib.js":  []byte("const lib = {};\nexport const f = () => lib.run(1);"),
	}
	bundle := run(t, e, sandbox.Script{Files: files, Entry: "main.js"}, grants)
	if want := "TypeError: lib.run is not a function"; bundle.Error != want {
		t.Errorf("files: %q, want %q", bundle.Error, want)
	}
}
