package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

func files(pairs ...string) map[string][]byte {
	out := make(map[string][]byte, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = []byte(pairs[i+1])
	}
	return out
}

func TestModules(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		name   string
		script sandbox.Script
		want   string
	}{
		{"default export", sandbox.Script{Code: "export default 41 + 1"}, "42"},
		{"default function",
			sandbox.Script{Code: "export default async (input, context) => ({input, context})", Input: []byte("7")},
			`{"input":7,"context":{}}`},
		{"default class is no handler", sandbox.Script{Code: "export default {a: 1}"}, `{"a":1}`},
		{"a default class is not called", sandbox.Script{Code: "export default class { static n = 1 }"}, "null"},
		{"a default function that begins like a class",
			sandbox.Script{Code: "const f = classes => 1; export default f"}, "1"},
		{"a module is strict",
			sandbox.Script{Code: "import 'node:events'; let e; try { Object.freeze({a: 1}).a = 2 } catch (x) { e = x }\n" +
				"return [e.name, (function () { return this === undefined })()]"}, `["TypeError",true]`},
		{"a module with modules is strict", sandbox.Script{Code: "import {f} from './a.js'; f()",
			Files: files("a.js", "export const f = () => { try { late = 1 } catch (e) { return e.name } }")},
			`"ReferenceError"`},
		{"a module may assign to output", sandbox.Script{Code: "import 'node:events'; output = 5"}, "5"},
		{"CommonJS of old libraries is not strict", sandbox.Script{Code: "import f from './a.cjs'; f()",
			Files: files("a.cjs", "module.exports = function () { undeclared = 1; return typeof arguments.callee }")},
			`"function"`},
		{"await at the top", sandbox.Script{Code: "const x = await Promise.resolve(5);\nexport default x"}, "5"},
		{"module.exports", sandbox.Script{Code: "module.exports = (input) => input * 2", Input: []byte("21")}, "42"},
		{"exports.x", sandbox.Script{Code: "exports.a = 1; exports.b = 2"}, `{"a":1,"b":2}`},
		{"file",
			sandbox.Script{Code: "import {a} from './lib/a.js'\na + 1", Files: files("lib/a.js", "export const a = 1")}, "2"},
		{"imports and return",
			sandbox.Script{Code: "import {a} from './a'; if (a) return a; 5", Files: files("a.js", "export const a = 1")}, "1"},
		{"imports around a comment",
			sandbox.Script{
				Code: "import {\n  a, // one\n  b as c /* two */\n} from './a.js'; import j from './j.json' with {type: " +
					"'json'};\n[a, c, j.k]", Files: files("a.js", "export const a = 1, b = 2", "j.json", `{"k": [3]}`),
			}, "[1,2,[3]]"},
		{"typescript imports",
			sandbox.Script{TypeScript: true,
				Code:  "import type {T} from './t';\nimport {U, v} from './t'\nconst x: U = v as U;\nx",
				Files: files("t.ts", "export interface T {a: number}\nexport type U = number;\nexport const v: U = 9")}, "9"},
		{"typescript export",
			sandbox.Script{TypeScript: true, Code: "interface In {n: number}\nexport default (input: In): number => input.n",
				Input: []byte(`{"n":3}`)}, "3"},
		{"entry",
			sandbox.Script{Entry: "src/main.ts",
				Files: files("src/main.ts", "import {f} from '../lib/f.js';\nf(2 as number)", "lib/f.ts",
					"export const f = (n: number): number => n * n")}, "4"},
		{"entry that is a script", sandbox.Script{Entry: "main.js", Files: files("main.js", "const x = 1; x + 1")}, "2"},
		{"require of a file",
			sandbox.Script{Code: "const {a} = require('./a'); a", Files: files("a.js", "module.exports = {a: 3}")}, "3"},
		{"dynamic import of a file",
			sandbox.Script{Code: "(await import('./a.js')).default", Files: files("a.js", "export default 4")}, "4"},
		{"computed names",
			sandbox.Script{
				Code: "const out = []; for (const n of ['a', 'b']) out.push((await import('./' + n + '.js')).default, " +
					"require('/' + n).default); out", Files: files("a.js", "export default 1", "b.js", "export default 2"),
			}, "[1,1,2,2]"},
		{"package",
			sandbox.Script{Code: "import x from 'left'; import {y} from '@s/p/sub.js'; [x, y]",
				Files: files("node_modules/left/package.json", `{"main": "lib/index.js"}`, "node_modules/left/lib/index.js",
					"module.exports = 'L'", "node_modules/@s/p/package.json",
					`{"exports": {".": "./i.js", "./*.js": {"import": "./src/*.mjs"}}}`, "node_modules/@s/p/src/sub.mjs",
					"export const y = 'Y'")}, `["L","Y"]`},
		{"a package with alternatives",
			sandbox.Script{Code: "import x from 'a'; import y from 'a/b'; [x, y]",
				Files: files("node_modules/a/package.json",
					`{"exports": {".": [{"browser": "./no.js"}, {"default": "./i.js"}], "./b": [{"browser": "./no.js"}, "./b.js"]}}`,
					"node_modules/a/i.js", "export default 1", "node_modules/a/b.js", "export default 2")}, "[1,2]"},
		{"a package's conditions in their order",
			sandbox.Script{Code: "import x from 'a'; import y from 'b'; [x, y, require('a')]",
				Files: files("node_modules/a/package.json",
					`{"main": false, "exports": {".": {"require": "./r.cjs", "default": "./d.mjs"}}}`,
					"node_modules/a/r.cjs", "module.exports = 'r'", "node_modules/a/d.mjs", "export default 'd'",
					"node_modules/b/package.json", `{"exports": {"node": "./n.js", "import": "./i.mjs"}}`,
					"node_modules/b/n.js", "module.exports = 'n'", "node_modules/b/i.mjs", "export default 'i'")},
			`["d","n","r"]`},
		{"a package that requires one with two forms",
			sandbox.Script{Code: "import make from 'a'; make()",
				Files: files("node_modules/a/index.js",
					"const B = require('b'); module.exports = () => [new B().is, require('c').default]",
					"node_modules/b/package.json",
					`{"exports": {".": {"import": {"default": "./b.mjs"}, "require": {"default": "./b.js"}}}}`,
					"node_modules/b/b.js", "module.exports = class B { is = 'required' }",
					"node_modules/b/b.mjs", "export default class B { is = 'imported' }",
					"node_modules/c/package.json", `{"exports": {"import": "./c.mjs", "require": "./absent.js"}}`,
					"node_modules/c/c.mjs", "export default 'c'")}, `["required","c"]`},
		{"the folder of a package from within",
			sandbox.Script{Code: "import x from 'a/lib/n/x.js'; x",
				Files: files("node_modules/a/package.json", `{"main": "lib/main"}`, "node_modules/a/lib/main.js",
					"module.exports = 'main'", "node_modules/a/index.js", "module.exports = 'index'",
					"node_modules/a/lib/n/x.js", "module.exports = [require('../..'), require('../../')]")}, `["main","main"]`},
		{"functions of one name",
			sandbox.Script{Code: "import { of, Point, Node } from './a'; function Big() {} " +
				"class Point3 {} function name2() { return 'own' } " +
				"[Big.name, of(), new Point().constructor.name, Node(), name2(), Point3.name]",
				Files: files("a.js", "function name() { return name.name } function Big() {} class P {} "+
					"export const of = () => name() + Big.name; export function Point() {} export const Node = "+
					"() => { function Big() {} function Point() {} return new Big().constructor.name + Point.name }")},
			`["Big","nameBig","Point","BigPoint","own","Point3"]`},
		{"functions of one name in variables",
			sandbox.Script{Entry: "m.js", Files: files(
				"m.js", "import { fs } from './a'; import { gs } from './b'; const f = () => 1, g = async (x) => x; class C {}\n"+
					"const n = function () { return null }(), b = function () {}.bind(1), k = class {\n};\n"+
					"export default () => [f, g, C, b, k, ...fs, ...gs].map((x) => x.name).concat(n)",
				"a.js", "const f = (x) => {\n return x }; const g = function* () {}; class C { static x = C.name }\n"+
					"const n = 1, b = 2, k = class {}; export const fs = [f, g, C, k, { name: C.x }]",
				"b.js", "const f = x => x, g = function named() {}; class C extends Array {}; const n = 1, b = 2;\n"+
					"const k = class { static name = 'own' }; export const gs = [f, g, C, k]")},
			`["f","g","C","bound ","k","f","g","C","k","C","f","named","C","own",null]`},
		{"imports of a package's own",
			sandbox.Script{Code: "import x from 'a'; x",
				Files: files("node_modules/a/package.json",
					`{"imports": {"#x": {"browser": "./no.js", "node": "./n.js"}, "#y/*": "./lib/*.js", "#z": "b"}}`,
					"node_modules/a/index.js",
					"import n from '#x'; import {y} from '#y/z'; import z from '#z'; export default [n, y, z]",
					"node_modules/a/n.js", "export default 'n'", "node_modules/a/lib/z.js", "export const y = 'y'",
					"node_modules/b/index.js", "module.exports = 'b'")}, `["n","y","b"]`},
		{"the default of a module without one",
			sandbox.Script{Code: "import a from './a.cjs'; import b from './b.cjs'; [a.f(), b]",
				Files: files("a.cjs", "Object.defineProperty(exports, '__esModule', {value: true}); exports.f = () => 1",
					"b.cjs", "exports.__esModule = true; exports.default = 2")}, `[1,{"__esModule":true,"default":2}]`},
		{"the default of a module that was an ES module, in TypeScript",
			sandbox.Script{Code: "import b, * as n from './b.cjs'; const x: number = b; [x, n.a]", TypeScript: true,
				Files: files("b.cjs", "exports.__esModule = true; exports.default = 2; exports.a = 3")}, "[2,3]"},
		{"defaults in packages of both types",
			sandbox.Script{Code: "import a from 'a'; import b from 'b'; [a, b]",
				Files: files("node_modules/a/package.json", `{"type": "module", "main": "i.js"}`,
					"node_modules/a/i.js", "import c from 'c'; export default c",
					"node_modules/b/package.json", `{"module": "i.js"}`,
					"node_modules/b/i.js", "import c from 'c'; export default c",
					"node_modules/c/index.js", "exports.__esModule = true; exports.default = 2")},
			`[{"__esModule":true,"default":2},2]`},
		{"import.meta of each file",
			sandbox.Script{Entry: "src/m.mjs", Files: files("src/m.mjs", "import n from '../lib/n.mjs'; "+
				"const { url, filename, dirname } = import.meta; export default [url, filename, dirname, ...n, "+
				"import.meta.resolve('p'), process.argv[1]]",
				"lib/n.mjs", "export default [import.meta.url, import.meta.dirname, import.meta.resolve('./x.js'), "+
					"import.meta.resolve('fs')]", "node_modules/p/index.js", "")},
			`["file:///src/m.mjs","/src/m.mjs","/src","file:///lib/n.mjs","/lib","file:///lib/x.js","node:fs",` +
				`"file:///node_modules/p/index.js","/src/m.mjs"]`},
		{"an entry that only imports when it runs",
			sandbox.Script{Entry: "m.mjs", Files: files("m.mjs", "const { a } = await import('./a.mjs'); a",
				"a.mjs", "export const a = 4")}, "4"},
		{"the main module among files",
			sandbox.Script{Entry: "m.js", Files: files("m.js", "const l = require('./l.js'); const list = [...l]; "+
				"if (require.main === module) list.push(module.id); if (!module.parent) list.push(__filename); list",
				"l.js", "module.exports = [require.main === module, !module.parent, module.filename]")},
			`[false,false,"/l.js",".","/m.js"]`},
		{"a require of another name",
			sandbox.Script{Code: "import { createRequire } from 'node:module'; const load = createRequire(import.meta.url); " +
				"const n = './b.json'; [load('./a.cjs'), load(n).b, load.resolve('./a.cjs'), " +
				"createRequire(import.meta.url)('./a.cjs')]",
				Files: files("a.cjs", "module.exports = 1", "b.json", `{"b": 2}`)}, `[1,2,"/a.cjs",1]`},
		{"async functions beside a file that is not imported",
			sandbox.Script{Code: "import b from './b.js'; b(async () => {})",
				Files: files("a.js", "require('async_hooks')", "b.js", "export default (f) => f[Symbol.toStringTag]")},
			`"AsyncFunction"`},
		{"a package that imports itself",
			sandbox.Script{Code: "import a from 'a'; a",
				Files: files("node_modules/a/package.json", `{"name": "a", "exports": {".": "./i.mjs", "./x/*": "./lib/*.mjs"}}`,
					"node_modules/a/i.mjs", "import x from 'a/x/y'; export default x",
					"node_modules/a/lib/y.mjs", "export default 5")}, "5"},
		{"a path that a package does not export",
			sandbox.Script{Code: "await import('a/y.js').catch((e) => e.code)",
				Files: files("node_modules/a/package.json", `{"exports": "./x.js"}`, "node_modules/a/x.js", "",
					"node_modules/a/y.js", "")}, `"ERR_PACKAGE_PATH_NOT_EXPORTED"`},
		{"the main module of a package that has another form for bundlers",
			sandbox.Script{Code: "import a, { f } from 'a'; import b from 'b'; [a.f === f, f(), a === require('a'), b]",
				Files: files("node_modules/a/package.json", `{"main": "main.js", "module": "module.js"}`,
					"node_modules/a/main.js", "Object.defineProperty(exports, '__esModule', {value: true}); exports.f = () => 1",
					"node_modules/a/module.js", "export const f = () => 2",
					"node_modules/b/package.json", `{"module": "module.js"}`,
					"node_modules/b/module.js", "export default 'b'")}, `[true,1,true,"b"]`},
		{"names of classes that mention themselves",
			sandbox.Script{Code: "import {A} from './a.js'; class B extends A { static make() { return new B } } " +
				"class C { static name() { return C } } [A.name, B.make().constructor.name, C.name() === C]",
				Files: files("a.js", "export class A { static of() { return new A } }")}, `["A","B",true]`},
		{"names of classes that mention themselves and whose names are taken",
			sandbox.Script{Code: "import {a} from './a.js'; import {b} from './b.js'; [a(), b()]",
				Files: files("a.js", "class A { static of() { return new A } }; export const a = () => A.of().constructor.name",
					"b.js", "class A { static of() { return new A } }; class V2 { static of() { return new V2 } }; "+
						"export const b = () => [A.of().constructor.name, V2.of().constructor.name]")},
			`["A",["A","V2"]]`},
		{"names of decorated classes",
			sandbox.Script{TypeScript: true,
				Code: "const d = (v: any, c: any) => v; @d class A { static n = A.name } " +
					"class B { static m() { return B } @d f() {} } [A.name, B.name]"}, `["A","B"]`},
		{"older decorators",
			sandbox.Script{TypeScript: true,
				Code: "function twice(target: any, key: string, d: PropertyDescriptor) { const f = d.value; " +
					"d.value = function () { return key + 2 * f.call(this) } }\n" +
					"class A { @twice f() { return 4 } }\nnew A().f()"}, `"f8"`},
		{"decorated parameters",
			sandbox.Script{TypeScript: true,
				Code: "const seen: string[] = []; const P = (n: string) => (t: object, k: string, " +
					"i: number) => { seen.push(n + k + i) };\nclass A { f(@P('p') a: number, b: number) {} }\nseen"},
			`["pf0"]`},
		{"older decorators that a file states",
			sandbox.Script{Entry: "m.ts", Files: files(
				"m.ts", "import { a } from './a'; export class A { @a f() {} }\nexport default () => [...A.names, '']",
				"a.ts", "export const a = (t: any, k: any) => { (t.constructor.names ??= []).push(k) }",
				"tsconfig.json", `{"compilerOptions": {"experimentalDecorators": true}}`)}, `["f",""]`},
		{"names that begin with an underscore",
			sandbox.Script{Code: "import './a.js'; const A = class _A { static m() { return _A } }; A.name",
				Files: files("a.js", "")}, `"_A"`},
		{"continue with the outer of two labels, in a file",
			sandbox.Script{Code: "import n from './a.js'; n",
				Files: files("a.js", "let n = 0; a: b: for (const i of [1, 2, 3]) for (;;) { n++; continue a } export default n")},
			"3"},
		{"codes of what is missing",
			sandbox.Script{Code: "const code = (e) => e.code; let r; try { require('left') } catch (e) { r = code(e) } " +
				"[r, await import('left').catch(code), await import('./a.js').catch(code)]"},
			`["MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND"]`},
		{"codes of what is missing under a computed name",
			sandbox.Script{Code: "const code = (e) => e.code, n = ['left', './a.js']; let r; try { require(n[0]) } " +
				"catch (e) { r = code(e) } [r, await import(n[0]).catch(code), await import(n[1]).catch(code)]"},
			`["MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND"]`},
		{"codes of ES modules that are missing",
			sandbox.Script{Code: "const code = (e) => e.code; let r; try { require('./a.mjs') } catch (e) { r = code(e) } " +
				"[r, await import('./a.mjs').catch(code), await import('./a.mts').catch(code)]"},
			`["MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND","ERR_MODULE_NOT_FOUND"]`},
		{"an export behind a decorator",
			sandbox.Script{TypeScript: true, Code: "const d = (v: any, c: any) => v; class A { @d f<T>(x: T) { return x } } " +
				"export const n = new A().f<number>(2); export default n"}, "2"},
		{"an export behind a division of what is not null",
			sandbox.Script{TypeScript: true, Code: "const m = new Map([['a', 4]]); const n = m.get('a')! / 2;\n" +
				"export default n"}, "2"},
		{"circular",
			sandbox.Script{Code: "import {even} from './even.js'; even(10)",
				Files: files("even.js", "import {odd} from './odd.js'; export const even = n => n === 0 || odd(n - 1)", "odd.js",
					"import {even} from './even.js'; export const odd = n => n !== 0 && even(n - 1)")}, "true"},
		{"text and bytes",
			sandbox.Script{Code: "import t from './a.txt'; import b from './b.bin'; [t, b.length]",
				Files: files("a.txt", "hällo", "b.bin", "\x00\xff\x01")}, `["hällo",3]`},
		{"no file outside", sandbox.Script{Code: "try { await import('../../../etc/passwd') } catch (e) { e.message }"},
			"null"},
		{"fenced", sandbox.Script{Code: "```ts\nexport default (1 as number)\n```", TypeScript: true}, "1"},
		{"names that look like syntax", sandbox.Script{Code: "const o = {import: 1, export: 2}; o.import + o.export"}, "3"},
		{"import.meta", sandbox.Script{Code: "import.meta.url"}, `"file:///script.js"`},
		{"the value of output",
			sandbox.Script{Code: "import {a} from './a.js'; output = a; if (0) {}",
				Files: files("a.js", "export const a = 1")}, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := e.Run(t.Context(), c.script, sandbox.Grants{})
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Value) != c.want {
				t.Errorf("got %s %s %+v, want %s", r.Value, r.Error, r.Exception, c.want)
			}
		})
	}
}

func TestModuleFaults(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		name      string
		script    sandbox.Script
		message   string
		file      string
		line, col int
	}{
		{"missing file", sandbox.Script{Code: "1;\n  import x from './nope.js'\nx"},
			"Cannot find module './nope.js' imported from script.js", "script.js", 2, 17},
		{"missing package", sandbox.Script{Code: "import x from 'lodash'"}, "Cannot find package 'lodash'", "script.js", 1,
			15},
		{"url", sandbox.Script{Code: "export {a} from 'https://esm.sh/a'"}, "nothing is fetched at run time", "script.js",
			1, 17},
		{"dynamic", sandbox.Script{Code: "const n = 1\nawait import('./nope.js')"}, "Cannot find module './nope.js'", "", 0,
			0},
		{"syntax in a file", sandbox.Script{Code: "import './a.js'", Files: files("a.js", "let x = 1;\nlet = = 2")}, "",
			"a.js", 2, 7},
		{"no such export",
			sandbox.Script{Code: "import {nope} from './a.js'; nope", Files: files("a.js", "export const a = 1")},
			"The requested module './a.js' does not provide an export named 'nope'", "script.js", 1, 9},
		{"thrown in a file",
			sandbox.Script{Code: "import {f} from './a.js'\nf()",
				Files: files("a.js", "\nexport function f() {\n  throw new TypeError('no')\n}")}, "no", "a.js", 3, 13},
		{"thrown in the code",
			sandbox.Script{Code: "import {f} from './a.js'\n\n  f(); null.x", Files: files("a.js", "export function f() {}")},
			"Cannot read properties of null (reading 'x')", "script.js", 3, 0},
		{"thrown in typescript",
			sandbox.Script{TypeScript: true,
				Code:  "import {f} from './a'\ninterface A {\n  b: string\n}\nf(); throw new Error('x' as string)",
				Files: files("a.ts", "export function f(): void {}")}, "x", "script.ts", 5, 0},
		{"thrown in a module",
			sandbox.Script{Code: "export default async () => {\n  await 1\n  throw new RangeError('late')\n}"}, "late",
			"script.js", 3, 0},
		{"no entry", sandbox.Script{Entry: "x.js"}, `the entry "x.js" is not among the files`, "", 0, 0},
		{"fence shifts lines",
			sandbox.Script{Code: "```js\nexport const a = 1\nexport default () => { throw new Error('y') }\n```"}, "y",
			"script.js", 3, 0},
		{"deep file", sandbox.Script{Code: "import './a.js'", Files: files("a.js", strings.Repeat("(", 300000))},
			"nested too deeply", "", 0, 0},
		{"deep code", sandbox.Script{Code: "export default " + strings.Repeat("[", 300000)}, "nested too deeply", "", 0, 0},
		{"a glob that the lexer does not see",
			sandbox.Script{
				Code:  "import './a.js'; class A {} /'/.test('');\nconst n = 'modules'; await import('./' + n + '_test.go'); '/'",
				Files: files("a.js", ""),
			}, `Could not resolve import`, "script.js", 2, 35},
		{"a glob out of everything",
			sandbox.Script{
				Code: "import './a.js'; class A {} /'/.test('');\nconst n = 'passwd'; await import('" + strings.Repeat("../", 40) +
					"etc/' + n); '/'", Files: files("a.js", ""),
			}, `Could not resolve import`, "script.js", 2, 34},
		{"return in a module", sandbox.Script{Code: "export const a = 1\nreturn 2"}, "return", "script.js", 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := e.Run(t.Context(), c.script, sandbox.Grants{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Exception == nil || !strings.Contains(r.Exception.Message, c.message) {
				t.Fatalf("got %s %q %+v, want %q", r.Value, r.Error, r.Exception, c.message)
			}
			ex := r.Exception
			if c.line > 0 && (ex.File != c.file || ex.Line != c.line) {
				t.Errorf("at %s:%d, want %s:%d\n%s", ex.File, ex.Line, c.file, c.line, ex.Stack)
			}
			if c.line > 0 && c.col > 0 && ex.Column != c.col {
				t.Errorf("at %s:%d:%d, want column %d\n%s", ex.File, ex.Line, ex.Column, c.col, ex.Stack)
			}
		})
	}
}

// TestNamespacesPrintAsNode checks that bundled modules print as modules.
// TestNamesNotExported checks that an import of a name that a module does not export is an error in Node's words. In
// TypeScript it is none, and neither is that of a name that only Node's own modules have.
func TestNamesNotExported(t *testing.T) {
	e := newEngine(t)
	const no = "SyntaxError: The requested module '%s' does not provide an export named '%s'"
	const common = "SyntaxError: Named export '%s' not found. The requested module '%s' is a CommonJS module, which may " +
		"not support all module.exports as named exports.\nCommonJS modules can always be imported via the default " +
		"export, for example using:\n\nimport pkg from '%[2]s';\n"
	all := files("a.cjs", "exports.a = 1", "b.js", "export const b = 1", "c.js", "import {x} from './b.js'; x",
		"d.js", "import {x} from 'os'; export const d = x")
	packages := append(somePackages(), packageOf("pure", "package.json", `{"type": "module", "sideEffects": false}`,
		"index.js", "export * from './a.js'; export * from './b.js'", "a.js", "export const a = 1",
		"b.js", "export const b = Math.random()"))
	for _, c := range []struct{ code, want string }{
		{"import {a, b as c} from './a.cjs'", fmt.Sprintf(common, "b", "./a.cjs") + "const {a, b: c} = pkg;\n"},
		{"import {a,\n b} from './a.cjs'; b", fmt.Sprintf(common, "b", "./a.cjs")},
		{"import b from './b.js'; b", fmt.Sprintf(no, "./b.js", "default")},
		{"import {\n x } from './b.js'; x", fmt.Sprintf(no, "./b.js", "x")},
		{"import './c.js'", fmt.Sprintf(no, "./b.js", "x")},
		{"import {d} from './d.js'; d", fmt.Sprintf(no, "os", "x")},
		{"import os, {EOL, x} from 'node:os'; 1", fmt.Sprintf(no, "node:os", "x")},
		{"import { count, x } from 'plain'; 1", fmt.Sprintf(common, "x", "plain") + "const { count, x } = pkg;\n"},
		{"import {named, x} from '@s/es'; import './b.js'; x", fmt.Sprintf(no, "@s/es", "x")},
		{"import {a, x} from 'pure'; x", fmt.Sprintf(no, "pure", "x")},
		{"import {duplexPair} from 'stream'; import {a} from './a.cjs'; [a, duplexPair]", ""},
		{"import * as m from './a.cjs'; m.x; const n = await import('./a.cjs'); n.x", ""},
	} {
		t.Run(c.code, func(t *testing.T) {
			r := run(t, e, sandbox.Script{Code: c.code, Files: all},
				sandbox.Grants{Modules: []string{"*"}, Packages: packages})
			if got := ""; r.Exception != nil {
				got = r.Exception.Name + ": " + r.Exception.Message
				if got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			} else if c.want != "" {
				t.Errorf("%s, want %s", r.Value, c.want)
			}
		})
	}
	r := run(t, e, sandbox.Script{Code: "import {A, a} from './a.cjs'; let x: A = a; x", TypeScript: true, Files: all},
		sandbox.Grants{})
	if string(r.Value) != "1" || r.Error != "" {
		t.Errorf("TypeScript: %s %s", r.Value, r.Error)
	}
}

func TestNamespacesPrintAsNode(t *testing.T) {
	e := newEngine(t)
	const want = `[Module: null prototype] { a: 1, b: 1, default: [class A] }
[Module: null prototype] { default: { y: 1, x: 2 }, x: 2, y: 1 }
[Module: null prototype] {
  __esModule: true,
  a: 1,
  b: 1,
  default: [class A]
} [Module: null prototype] { a: 1, b: 1, default: [class A] }
`
	r := run(t, e, sandbox.Script{Code: "import * as a from './a.mjs'; import * as c from './c.cjs';\n" +
		"console.log(a); console.log(c); console.log(require('./a.mjs'), await import('./a.mjs'))",
		Files: files("a.mjs", "export const b = 1; export default class A {}; export { b as a }",
			"c.cjs", "module.exports = { y: 1, x: 2 }")}, sandbox.Grants{})
	if r.Error != "" || r.Output != want {
		t.Errorf("printed\n%s\nwant\n%s%s", r.Output, want, r.Error)
	}
}
