package sandbox_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// TestEnds checks how code ends that returns no value: by an unhandled rejection, or by process.exit.
func TestEnds(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, value, output, err string }{
		{"async function main() { await null; throw new Error('m') }\nmain(); console.log('started')", "", "started\n",
			"Error: m"},
		{"setTimeout(() => { Promise.reject(new TypeError('late')) }, 1)", "", "", "TypeError: late"},
		{"Promise.reject('text'); undefined", "", "", "Error: text"},
		{"const p = Promise.reject(1); setTimeout(() => p.catch(() => {}), 1); undefined", "null", "", ""},
		{
			"async function f() { throw 1 }\ntry { await f() } catch {}\nawait Promise.allSettled([f(), f()]); await " +
				"f().catch(() => {})", "null", "", "",
		},
		{"Promise.reject(1); 'value'", `"value"`, "", ""},
		{"Promise.reject(1); output = 2; undefined", "2", "", ""},
		{"Promise.reject(new Error('why')); await new Promise(() => {})", "", "", "Error: why"},
		{"process.on('unhandledRejection', (e, p) => console.log(e, p instanceof Promise)); Promise.reject(1); undefined",
			"null", "1 true\n", ""},
		{"process.on('unhandledRejection', () => { throw new Error('again') }); Promise.reject(1); undefined", "", "",
			"Error: again"},
		{"process.stdout.write('begun '); process.on('exit', () => console.log('exit')); output = 1; " +
			"await new Promise(() => {})", "", "begun exit\n", "the promise returned by the code never settles"},
		{"for (let i = 0; i < 1e4; i++) Promise.reject(i)", "", "", "Error: 0"},
		{"for (let i = 0; i < 1e5; i++) { const p = Promise.reject({ n: 'x'.repeat(1000) }); try { await p } catch {} }",
			"null", "", ""},
		{"console.log(1); process.exit(0); console.log(2)", "null", "1\n", ""},
		{"output = { a: 1 }; process.stdout.write('part'); process.exit()", `{"a":1}`, "part\n", ""},
		{"try { process.exit(3) } catch {} finally { console.log('no') }", "", "", "the code called process.exit(3)"},
		{"process.exitCode = 4; (async () => { await null; process.exit() })(); await new Promise(() => {})", "", "",
			"the code called process.exit(4)"},
		{"output = []; output.push(output); process.exit()", "", "",
			"TypeError: the result has a cycle and cannot be returned as JSON: $[0] refers back to $"},
		{
			"async function main() { await null; console.log(require.main === module) }\nif (require.main === module) " +
				"main();\nmodule.exports = { main };", "null", "true\n", "",
		},
		{"'use strict'; if (require.main === module) console.log(typeof exports)", "null", "object\n", ""},
		{"exports.handler = () => 5;\nif (require.main === module) console.log('no');", "5", "", ""},
		{"process.on('exit', (c) => console.log('exit', c)); console.log(1); 'value'", `"value"`, "1\nexit 0\n", ""},
		{"process.on('exit', (c) => { output = ['exit', c] }); undefined", `["exit",0]`, "", ""},
		{"process.on('exit', (c) => process.stdout.write(`exit ${c}`)); throw new Error('m')", "", "exit 1\n", "Error: m"},
		{"process.stdout.write('part'); throw new Error('m')", "", "part\n", "Error: m"},
		{"process.on('exit', () => { throw new Error('late') }); throw new Error('m')", "", "", "Error: m"},
		{"process.on('exit', () => { throw new Error('late') }); undefined", "", "", "Error: late"},
		{"process.on('exit', () => process.exit(2)); throw new Error('m')", "", "", "Error: m"},
		{"process.on('exit', (c) => { console.log(c); process.exit(c + 1) }); process.exit(4)", "", "4\n",
			"the code called process.exit(5)"},
		{"process.on('exit', (c) => console.log('exit', c)); process.exit()", "null", "exit 0\n", ""},
		{"process.on('exit', () => setTimeout(() => console.log('never'))); undefined", "null", "", ""},
		{"process.on('beforeExit', () => console.log('no')); 'value'", `"value"`, "", ""},
		{"let n = 0; process.on('beforeExit', (c) => { console.log(c, n); if (n++ < 2) setTimeout(() => {}, 1) }); " +
			"undefined", "null", "0 0\n0 1\n0 2\n", ""},
		{"process.on('beforeExit', () => { Promise.resolve().then(() => console.log('soon')) }); undefined", "null",
			"soon\n", ""},
		{"process.on('beforeExit', () => { throw new Error('m') }); undefined", "", "", "Error: m"},
		{"process.on('uncaughtException', (e, o) => console.log(e.message, o)); setTimeout(() => { throw new Error('a') }, " +
			"1); setTimeout(() => console.log('b'), 2); undefined", "null", "a uncaughtException\nb\n", ""},
		{"process.on('uncaughtException', (e, o) => console.log(e, o)); Promise.reject(1); undefined", "null",
			"1 unhandledRejection\n", ""},
		{"process.on('uncaughtException', (e) => { throw new Error('again') }); throw 1", "", "", "Error: again"},
		{"const emit = process.emit; process.emit = function (type, ...rest) { console.log(type, rest); return " +
			"emit.call(this, type, ...rest) }; undefined", "null", "beforeExit [ 0 ]\nexit [ 0 ]\n", ""},
		{"const e = new (require('events'))(); process.on('warning', (w) => { output = [w.name, w.count, w.type] });\n" +
			"for (let i = 0; i < 11; i++) e.on('x', () => {}); undefined", `["MaxListenersExceededWarning",11,"x"]`,
			"(node:1) MaxListenersExceededWarning: Possible EventEmitter memory leak detected. 11 x listeners added to " +
				"[EventEmitter]. MaxListeners is 10. Use emitter.setMaxListeners() to increase limit\n", ""},
		{"let text = ''; process.stdin.on('data', (c) => text += c).on('end', () => console.log([text])); undefined",
			"null", "[ '' ]\n", ""},
		{"[require('fs').readFileSync(0, 'utf8'), require('fs').readFileSync('/dev/stdin').length]", `["",0]`, "", ""},
	} {
		for _, version := range []string{"", c.code} {
			r := run(t, e, sandbox.Script{Code: c.code, Version: version},
				sandbox.Grants{Modules: []string{"*"}, Files: sandbox.FilesRead,
					Limits: sandbox.Limits{Wall: 5 * time.Minute, CPU: 15 * time.Second}})
			if r.Limit != "" {
				t.Errorf("%s (version %t): limit %q", c.code, version != "", r.Limit)
			}
			if string(r.Value) != c.value || r.Output != c.output || r.Error != c.err {
				t.Errorf("%s (version %t)\n got %s, %q, %q %s\nwant %s, %q, %q", c.code, version != "", r.Value, r.Output,
					r.Error, r.Limit, c.value, c.output, c.err)
			}
		}
	}
	r := run(t, e, sandbox.Script{Code: "Promise.reject(1);\nexport default () => 2", Version: "rejecting"},
		sandbox.Grants{})
	if string(r.Value) != "2" || r.Cold == "" {
		t.Errorf("a rejection while loading: %s %s, cold %q", r.Value, r.Error, r.Cold)
	}
}

// TestExitCode checks the exit code in the result. A code that was only set is no error.
func TestExitCode(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		code string
		want int
		err  string
	}{
		{"process.exit(3)", 3, "the code called process.exit(3)"},
		{"process.exitCode = 4; 'value'", 4, ""},
		{"process.exitCode = '5'; undefined", 5, ""},
		{"process.exitCode = 4; process.exit()", 4, "the code called process.exit(4)"},
		{"process.exitCode = 4; process.exit(0)", 0, ""},
		{"process.on('exit', () => { process.exitCode = 6 }); undefined", 6, ""},
		{"process.exitCode = 4; throw new Error('m')", 0, "Error: m"},
		{"1", 0, ""},
	} {
		r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{})
		if r.ExitCode != c.want || r.Error != c.err {
			t.Errorf("%s: exit code %d and %q, want %d and %q", c.code, r.ExitCode, r.Error, c.want, c.err)
		}
	}
}
