package scan_test

import (
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// Code that libraries contain and that does nothing where strings are not run as code is allowed. Similar code that
// runs a text which it has, decodes, receives or is given is refused.
func TestLibrariesThatBuildCode(t *testing.T) {
	t.Parallel()
	set := policy.Default()
	for _, c := range []struct {
		name, code string
		allowed    bool
	}{
		{"a parser of rows", "function parse(columns) { return new Function('d', 'return {' + columns.map((n, i) => " +
			"JSON.stringify(n) + ': d[' + i + ']').join(',') + '}') }\nparse(input.columns.split(','))", true},
		{"names and a text in variables", "const F = Function; function compile(names, lines) { " +
			"return new F(...names, lines.join('\\n')) }\ncompile(input.names, [])", true},
		{"a constant text with parameters", "new Function('a', 'return a.constructor')(input)", false},
		{"a text with a power", "function load(n) { return new Function('a', 'return process.binding(' + n + ')') }\n" +
			"load(input)", false},
		{"a text of the caller", "new Function('a', input.code)(1)", false},
		{"a text around one of the caller", "new Function('a', `return ${String(input.code)}`)(1)", false},
		{"a text that arrives", "const r = await fetch('https://example.com'); new Function('a', await " +
			"r.text())(1)", false},
		{"a decoded text", "new Function('a', atob(input.code))(1)", false},
		{"a text without parameters", "function run(s) { return new Function('return ' + s)() } run(input)", false},
		{"one place for two texts", "function make(s) { return new Function('a', s) } make(input.x + ''); " +
			"make('return a.b()')", false},
		{"the text of a function", "const seen = new Map(); function text(C) { return Function.toString.call(C) }\n" +
			"text(input.constructor || Function)", true},
		{"a list that names eval", "const all = [Array, eval, Map]; all.length", true},
		{"eval out of a list", "const all = [eval]; all[0](input)", false},
		{"members of what may be the global object", "const names = ['topLevel', 'eval']; const P = {};\n" +
			"names.forEach(function (n) { P['is' + n] = function () { return this[n] } })", true},
		{"eval of what may be the global object", "(function () { return this['ev' + 'al'](input) })()", false},
		{"a worker", "const { Worker } = require('worker_threads'); new Worker('a' + input, { eval: true })", true},
		{"require that bundlers do not see", "const redis = input.redis && eval('require')('redis')", true},
		{"a module that bundlers do not see", "try { eval(\"require('util').inspect\") } catch {}", true},
		{"a command behind it", "eval('require')('child_process').exec('id')", false},
		{"a module with powers", "try { eval(\"require('child_process').exec\")('id') } catch {}", false},
		{"the global object in a function that stands in", "const maybe = f => { try { return f() } catch {} };\n" +
			"const root = maybe(() => window) || maybe(function () { return maybe.constructor('return this')() })", true},
		{"the global object by an import that stands in", "import { maybe } from './maybe.js';\n" +
			"const root = globalThis || (() => maybe.x.constructor('return this')())()", true},
		{"what the global object has", "import { maybe } from './maybe.js';\n" +
			"const root = input || maybe.x.constructor('return this')(); root.eval(input)", false},
		{"a test of what a constructor does", "let c; try { c = (() => {}).constructor('return 1')() } catch {}", false},
		{"a constant text that calls nothing", "new Function('a', 'b', 'return a + b')", false},
		{"one of two constant texts", "function valid(list) { let text = ''; if (list.length) text = 'if (x < 1) " +
			"return;'\n" +
			"return new Function('x', `${text} return true`) } valid(input)", true},
		{"the global object in the last of some branches", "let root; if (typeof global === 'object') root = global;\n" +
			"else if (typeof self === 'object') root = self; else root = new Function('return this')(); root.x = 1", true},
		{"the global object without an alternative", "const root = new Function('return this')(); root.x = 1", false},
		{"what a branch finds in the global object", "let root; if (typeof global === 'object') root = input;\n" +
			"else root = new Function('', 'return this')(); root.eval(input.code)", false},
		{"a power in a branch", "if (input) {} else new Function('return process')().exit()", false},
		{"a test of what the engine allows", "const jit = (() => { try { return new Function('return false')() } " +
			"catch { return true } })()", true},
		{"a test of how functions print", "const f = new Function('a', 'throw new Error()'); try { f() } catch (e) { " +
			"console.log(e.stack) }", true},
		{"a test that returns a power", "try { new Function('return fetch')()('https://example.com') } catch {}", false},
		{"a test that throws what it reads", "new Function('a', 'throw new Error(a.constructor)')(input)", false},
		{"a test without an alternative", "new Function('return false')()", false},
		{"a template", "function compile(text) { let source = \"let p = ''\"; text.replace(/x/g, m => { source += \"p " +
			"+= '\" + m + " +
			"\"'\" }); source += ';return p'; return new Function('o', 'with (o) {' + source + '}') }\ncompile('a x')", true},
		{"a template that reads a global", "function compile(text) { let source = 'let p = process'; " +
			"text.replace(/x/g, m => { source += m }); return new Function('o', source) }\ncompile('a x')", false},
		{"a template that sends", "function compile(text) { let source = \"fetch('https://e.example/' + o)\"; " +
			"text.replace(/x/g, m => { source += m }); return new Function('o', source) }\ncompile('a x')", false},
		{"parts of a constant text that runs code", "const a = 'ev', b = 'al(x)'; new Function('x', 'return ' + a + " +
			"b)(input)", false},
		{"a list of lines", "class Plan { constructor(names) { this.names = names } build() { const lines = ['return " +
			"{'];\n" +
			"for (const n of this.names) lines.push(n + ': o.' + n + ','); lines.push('}');\n" +
			"return new Function('o', lines.join('\\n')) } }\nnew Plan(['a']).build()", true},
		{"a list of lines of the caller", "const lines = ['return {']; new Function('o', " +
			"input.lines.join('\\n'))(1)", false},
		{"a list of lines with a power", "const lines = ['return ']; lines.push('process.env');\n" +
			"new Function('o', lines.join(''))(1)", false},
		{"a text that a function is given", "function make(s) { return new Function('a', s) } make(input.code)(1)", false},
		{"a text that a variable is given", "const { code } = input; const text = code; new Function('a', text)(1)", false},
		{"a text that an arrow function is given", "const make = (s) => new Function('a', '(' + s + ')'); " +
			"make(input.code)(1)",
			false},
		{"eval of an engine that nothing asks for", "const engines = {}; engines.json = { parse: JSON.parse };\n" +
			"engines.javascript = { parse: function parse(s) { s = '(' + s.trim() + ')'; return eval(s) } };\n" +
			"export default function front(text, lang = 'json') { return engines[lang].parse(text) }", true},
		{"eval of an engine that runs the caller's text", "const engines = {};\n" +
			"engines.js = { parse: function (s) { return eval('(' + s + ')') } };\nengines.js.parse(input.code)", false},
		{"eval of an engine with a text in it", "const engine = { parse(s) { return eval('(' + s + ')') } };\n" +
			"engine.parse('process.exit()')", false},
		{"eval of what an engine decodes", "export const engine = { parse(s) { s = '(' + atob(s) + ')'; return " +
			"eval(s) } }\n" +
			"engine.parse('x' + Date.now())", false},
		{"eval that is certain", "function run(s) { return eval('(' + s + ')') } run('1' + Date.now())", false},
		{"a class of functions", "class Made extends Function { constructor(...all) { const text = all[all.length - 1];\n" +
			"super(...all.slice(0, -1), text) } }\nexport const make = (name) => new Made('o', 'return o.' + name)", true},
		{"a class of functions that runs any text", "class Made extends Function { constructor(...all) { " +
			"super(...all) } }\n" +
			"new Made('return 1')()", false},
		{"a class of functions with a constant text", "class Made extends Function { constructor(a, b) { super(a, b) " +
			"} }\n" +
			"new Made('o', 'return o.constructor')(input)", false},
		{"a class of functions of the caller's text", "class Made extends Function { constructor(a, b) { super(a, b) " +
			"} }\n" +
			"new Made('o', input.code)(1)", false},
		{"a class of functions of a text of its own", "class Made extends Function { constructor() { super('o', " +
			"'return process') " +
			"} }\nnew Made()()", false},
		{"a module in place of what may be missing", "const load = name => { try { return " +
			"process.getBuiltinModule(name) } " +
			"catch {}\ntry { return Function('return require(\"' + name + '\")')() } catch {} }; load('util')", true},
		{"a module that runs commands", "const load = name => { try { return Function('return require(\"' + name + " +
			"'\")')() } " +
			"catch {} }; load('child_process').execSync('id')", false},
		{"a module that the caller names", "try { Function('return require(\"' + input.name + '\")')() } catch {}", false},
		{"a module and a command", "const load = name => { try { return Function('return require(\"' + name + '\")')() } " +
			"catch {} }; load('child_process\").exec(\"id')", false},
		{"a handler that may be text", "const later = (f, ms) => { const run = typeof f === 'function' ? f : " +
			"Function(f);\n" +
			"return setTimeout(() => run(), ms) }; later(() => 1, 5)", true},
		{"a handler that is text", "const later = (f) => { const run = typeof f === 'function' ? f : Function(f);\n" +
			"run() }; later('process.exit()')", false},
		{"a handler of the caller", "const later = (f) => { const run = typeof f === 'function' ? f : Function(f);\n" +
			"run() }; later(input.code)", false},
		{"a handler that is decoded", "const later = (f) => { const run = typeof f === 'function' ? f : Function(f);\n" +
			"run() }; later(atob(input.code))", false},
		{"code behind a constant test", "function fast(o) { if (1) return o; (0, eval)(o) } fast(input)", true},
		{"code behind a test that fails", "function fast(o) { if (0) return o; (0, eval)(o) } fast(input)", false},
		{"a key that is guarded", "const own = o => '__proto__' in o ? { ['__proto__']: void 0 } : {};\n" +
			"own({}); own([]); own(input)", true},
	} {
		d := set.Decide(policy.Request{Code: c.code})
		if (d.Effect == policy.Allow) != c.allowed {
			t.Errorf("%s: allowed %t: %v %+v", c.name, !c.allowed, d.Violations, d.Analysis.Findings)
		}
		harmless := c.name == "the text of a function" || c.name == "members of what may be the global object" ||
			c.name == "a key that is guarded"
		if d := set.Decide(policy.Request{Code: c.code, Tier: "strict"}); !harmless && d.Analysis.Score == 0 {
			t.Errorf("%s: no score under strict", c.name)
		}
	}
}

// The scan by tokens tells methods named eval, and the name of a constructor, from powers.
func TestTokensOfLibraries(t *testing.T) {
	t.Parallel()
	set := policy.Default()
	for code, allowed := range map[string]bool{
		"a b c ({ eval(e, { f } = {}) { return e.constructor.name } }": true,
		"a b c ( eval(e)\n{ }":                                       false,
		"a b c ( vm.createHash(e); vm.createHmac(e)":                 true,
		"a b c ( vm.runInNewContext(e)":                              false,
		"a b c ( vm.constructor.constructor(e)":                      false,
		"a b c ( ({ __proto__: null, a }); ({ a, __proto__: null })": true,
		"a b c ( o.__proto__.a = 1; o.__proto__.b = 2":               false,
		"a b c ( o[x ? __proto__ : a]; ({ [a.__proto__]: b })":       false,
		"a b c ( eval(e)":                                            false,
		"a b c ( e.constructor.constructor('x')()":                   false,
	} {
		if d := set.Decide(policy.Request{Code: code}); (d.Effect == policy.Allow) != allowed || !d.Analysis.Unanalysed {
			t.Errorf("%s: allowed %t: %+v", code, !allowed, d.Analysis)
		}
	}
}
