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
		{"a callback", "let f; [1].map(f)", "undefined is not a function"},
		{"a constructor", "const A = {}; new A.B(1)", "A.B is not a constructor"},
		{"a loop", "const o = { a: 1 }; for (const x of o.a) ;", "o.a is not iterable"},
		{"a loop over a call", "const f = () => 1; for (const x of f()) ;",
			"f is not a function or its return value is not iterable"},
		{"a constant", "const c = 1; c += 2", "Assignment to constant variable."},
		{"a constant at the end", "const x = 1; x = 2", "Assignment to constant variable."},
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
		{"a value that the code does not show", "let n = 1; n -= 2; 'x'.repeat(n)", "Invalid count value"},
		{"a value that is computed", "'x'.repeat(-1 * 2)", "Invalid count value"},
		{"a class far away", "'use strict'; class P { " + strings.Repeat(" ", 600) +
			"constructor() { Object.freeze(this); this.x = 1 } } new P()", "Cannot add property x, object is not extensible"},
		{"a spread of undefined", "export default Math.max(...undefined)",
			"undefined is not iterable (cannot read property undefined)"},
		{"a loop over undefined", "export default 1; for (const x of undefined) ;", "undefined is not iterable"},
		{"eval of code that ends too soon", "eval('1 +')", "Unexpected end of input"},
		{"eval of a token that does not fit", "eval('2 + * 3')", "Unexpected token '*'"},
		{"eval of a character that is no token", "eval('1 + @')", "Invalid or unexpected token"},
		{"eval of a name that does not fit", "eval('foo bar')", "Unexpected identifier 'bar'"},
		{"eval of arguments that do not end", "eval('f(1, 2')", "missing ) after argument list"},
		{"eval of names that are declared twice", "eval('let a = 1; let a = 2')", "Identifier 'a' has already been declared"},
		{"eval of a variable", "const code = 'if (x {'; eval(code)", "Unexpected token '{'"},
		{"eval of lines", "eval(`let x = 1;\nlet y z`)", "Unexpected identifier 'z'"},
		{"eval of an import", "eval('import x from \"y\"')", "Cannot use import statement outside a module"},
		{"eval that awaits", "eval('await x')", "await is only valid in async functions and the top level bodies of modules"},
		{"a function that is refused", "new Function('a', 'return a +')", "Unexpected token '}'"},
		{"a function of a body only", "new Function('return [1, 2')", "Unexpected token '}'"},
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

// TestSyntaxErrorsHaveV8Words checks the messages of code that does not parse: they are those of Node 20.
func TestSyntaxErrorsHaveV8Words(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, want string }{
		{"const a = 1;\nconst a = 2;", "Identifier 'a' has already been declared"},
		{"let b = 1; var b = 2;", "Identifier 'b' has already been declared"},
		{"function f(x) { let x = 1; }", "Identifier 'x' has already been declared"},
		{"let c; function c() {}", "Identifier 'c' has already been declared"},
		{"class K {} class K {}", "Identifier 'K' has already been declared"},
		{"const { d } = {}; let d;", "Identifier 'd' has already been declared"},
		{"for (const x of [1]) { let x; const x = 2; }", "Identifier 'x' has already been declared"},
		{"const h;", "Missing initializer in const declaration"},
		{"foo(", "Unexpected end of input"},
		{"foo(1, 2", "missing ) after argument list"},
		{"if (true) {", "Unexpected end of input"},
		{"const o = { a: 1, b: 2", "Unexpected end of input"},
		{"let arr = [1, 2", "Unexpected end of input"},
		{"const s = 'abc", "Invalid or unexpected token"},
		{"const t = `abc", "Unexpected end of input"},
		{"let x y;", "Unexpected identifier 'y'"},
		{"x = ;", "Unexpected token ';'"},
		{"if x > 5 {}", "Unexpected identifier 'x'"},
		{"for (let i = 0; i < 5; i++ {}", "Unexpected token '{'"},
		{"let q = 5 5;", "Unexpected number"},
		{"function u() { await x; }", "await is only valid in async functions and the top level bodies of modules"},
		{"() => { await x; }", "await is only valid in async functions and the top level bodies of modules"},
		{"label: { break nolabel; }", "Undefined label 'nolabel'"},
		{"super();", "'super' keyword unexpected here"},
		{"class A { constructor() { super(); } }", "'super' keyword unexpected here"},
		{"class A { constructor() {} constructor() {} }", "A class may only have one constructor"},
		{"class B { #x; #x; }", "Identifier '#x' has already been declared"},
		{"class B { m() { this.#y; } }", "Private field '#y' must be declared in an enclosing class"},
		{"'use strict'; delete xx;", "Delete of an unqualified identifier in strict mode."},
		{"'use strict'; with (a) {}", "Strict mode code may not include a with statement"},
		{"let let = 1;", "let is disallowed as a lexically bound name"},
		{"a => { } ()", "Unexpected token '('"},
		{"switch (1) { case 1: default: default: }", "More than one default clause in switch statement"},
		{"switch (1) { foo }", "Unexpected identifier 'foo'"},
		{"var v = /(/;", "Invalid regular expression: /(/: Unterminated group"},
		{"var v = /[/;", "Invalid regular expression: missing /"},
		{"var v = /a(b/g.test('x');", "Invalid regular expression: /a(b/g: Unterminated group"},
		{`"a" "b"`, "Unexpected string"},
		{"const x = 1 const y = 2", "Unexpected token 'const'"},
		{"foo)", "Unexpected token ')'"},
		{"const enum = 1;", "Unexpected reserved word"},
		{"throw\nnew Error('x')", "Illegal newline after throw"},
		{"if (1) let y = 1;", "Lexical declaration cannot appear in a single-statement context"},
		{"-1 ** 2",
			"Unary operator used immediately before exponentiation expression. Parenthesis must be used to disambiguate " +
				"operator precedence"},
		{"int x = 5;", "Unexpected identifier 'x'"},
		{`print "hi"`, "Unexpected string"},
		{"def f(): pass", "Unexpected identifier 'f'"},
		{"console.log('a'", "missing ) after argument list"},
		{"console.log('it's');", "missing ) after argument list"},
		{"f(1 2)", "missing ) after argument list"},
		{"f(a b)", "missing ) after argument list"},
		{"let z = [1 2]", "Unexpected number"},
		{"if (a { b }", "Unexpected token '{'"},
		{"function k(a b) {}", "Unexpected identifier 'b'"},
		{"while true {}", "Unexpected token 'true'"},
		{"let async x = 1", "Unexpected identifier 'x'"},
		{"x = {a: }", "Unexpected token '}'"},
		{"let y = (1 + 2;", "Unexpected token ';'"},
		{"new Foo(1, 2;", "missing ) after argument list"},
		{"foo(function () {\n  return 1;\n};", "missing ) after argument list"},
		{"[1, 2].map((x) => {\n  return x * 2;\n};", "missing ) after argument list"},
		{"const t2 = {a: 1 b: 2}", "Unexpected identifier 'b'"},
		{"a b c", "Unexpected identifier 'b'"},
		{"const r = 5 @;", "Invalid or unexpected token"},
	} {
		r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{})
		if r.Error != "SyntaxError: "+c.want {
			t.Errorf("%s\nfailed with %q, want %q", c.code, r.Error, c.want)
		}
	}
}
