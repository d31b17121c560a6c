package scan_test

import (
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// What a function would do that no code calls is a note under the tiers that refuse only critical code.
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
		{name: "commands", code: library + "lib.run = c => require('child_process').exec(c)"},
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
