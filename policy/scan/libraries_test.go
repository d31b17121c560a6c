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
		{"a text that arrives", "const r = await fetch('https://example.com'); new Function('a', await r.text())(1)", false},
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
		{"one of two constant texts", "function valid(list) { let text = ''; if (list.length) text = 'if (x < 1) return;'\n" +
			"return new Function('x', `${text} return true`) } valid(input)", true},
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
		"a b c ( eval(e)\n{ }":                     false,
		"a b c ( eval(e)":                          false,
		"a b c ( e.constructor.constructor('x')()": false,
	} {
		if d := set.Decide(policy.Request{Code: code}); (d.Effect == policy.Allow) != allowed || !d.Analysis.Unanalysed {
			t.Errorf("%s: allowed %t: %+v", code, !allowed, d.Analysis)
		}
	}
}
