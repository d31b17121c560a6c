package sandbox_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
)

// packageOf returns a package of files, given by name and content in turn.
func packageOf(name string, pairs ...string) sandbox.Package {
	files := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		files["node_modules/"+name+"/"+pairs[i]] = []byte(pairs[i+1])
	}
	return sandbox.Package{
		PackageID: sandbox.PackageID{Name: name, Version: "1.0.0", Integrity: fmt.Sprintf("%x",
			sha256.Sum256([]byte(strings.Join(pairs, "|"))))},
		Tree: func() (map[string][]byte, error) { return files, nil },
	}
}

// somePackages are a CommonJS package with subpaths, an ES package, one in both forms, one that keeps the time, and one
// that computes with it.
func somePackages() []sandbox.Package {
	return []sandbox.Package{
		packageOf("plain", "package.json", `{"main": "main.js"}`, "main.js",
			"let n = 0; module.exports = { count: () => ++n, list: [1], sub: require('./sub') };", "sub.js",
			"module.exports = (x) => x + 1;", "broken.js", "throw new Error('broken')"),
		packageOf("@s/es", "package.json", `{"exports": {".": "./index.mjs", "./inner": "./inner.mjs"}}`, "index.mjs",
			"export default function f() { return 'default' } export const named = 'named';", "inner.mjs",
			"export const inner = 2;"),
		packageOf("dual", "package.json", `{"exports": {"import": "./i.mjs", "require": "./r.js"}}`, "i.mjs",
			"export default 'import'; export const form = 'import';", "r.js", "module.exports = () => 'require';"),
		packageOf("keeps", "index.js",
			"const start = Date.now(), when = new Date(); exports.start = start; exports.when = when;"),
		packageOf("computes", "index.js", "exports.year = new Date().getFullYear(); exports.list = []"),
		packageOf("compares", "index.js", "exports.late = Date.now() > 1e12"),
		packageOf("random", "index.js", "exports.id = Math.random() < 2"),
		packageOf("asks", "index.js", "exports.has = typeof input"),
		packageOf("eval", "index.js",
			"try { exports.root = Function('return 1')() } catch (e) { exports.error = e.name }"),
		packageOf("throws", "index.js", "throw new TypeError('never ' + globalThis.constructor.name)"),
		packageOf("global", "index.js",
			"globalThis.mark = (globalThis.mark ?? 0) + 1; Array.prototype.last = function () { return this.at(-1) }"),
	}
}

func TestPackages(t *testing.T) {
	e := newEngine(t)
	packages := somePackages()
	for _, c := range []struct{ name, code, value string }{
		{"default import", `import p from "plain"; [p.count(), p.count(), p.sub(1)]`, `[1,2,2]`},
		{"named import", `import { count, sub as add, list } from "plain"; [count(), add(4), list]`, `[1,5,[1]]`},
		{"all", `import * as p from "plain"; [p.count(), typeof p.default.sub]`, `[1,"function"]`},
		{"both", `import p, { count } from "plain"; p.count() + count()`, `3`},
		{"for its effect", `import "global"; [mark, [1, 2].last()]`, `[1,2]`},
		{"without", `[typeof mark, typeof [].last]`, `["undefined","undefined"]`},
		{"require", `const p = require("plain"); p.count() + p.count()`, `3`},
		{"require of a file", `const add = require("plain/sub"); add(1)`, `2`},
		{"dynamic import", `const p = await import("plain"); [p.default.count(), p.count()]`, `[1,2]`},
		{"an ES module", `import f, { named } from "@s/es"; import { inner } from "@s/es/inner"; [f(), named, inner]`,
			`["default","named",2]`},
		{"a dynamic import of one", `const { default: f, named } = await import("@s/es"); [f(), named]`,
			`["default","named"]`},
		{"a literal with the flag v", `import p from "plain"; [/^\p{L}+$/v.test("é"), p.count()]`, `[true,1]`},
		{"for await", "import p from \"plain\"; const log = [];\nconst it = { [Symbol.asyncIterator]() { let i = 0; " +
			"return { next: async () => ({ done: i++ > 1, value: i }), return() { log.push('return'); return {} } } } };\n" +
			"for await (const x of it) log.push(x);\n[log, p.count()]", `[[1,2],1]`},
		{"a fence and several lines",
			"```js\nimport {\n  count,\n  sub as add\n} from 'plain'\n[count(), add(1)]\n```", `[1,2]`},
		{"strict code",
			`"use strict"; const p = require("plain"); (function () { return [this === undefined, p.count()] })()`,
			`[true,1]`},
		{"beside a module", `const p = require("plain"), { join } = require("path"); [join("a", "b"), p.count()]`,
			`["a/b",1]`},
		{"TypeScript", `import p from "plain"; const n: number = p.count(); n`, `1`},
		{"a package in two forms", `import i, { form } from "dual"; const r = require("dual"); [i, form, r()]`,
			`["import","import","require"]`},
		{"the source of a function", `import p from "plain"; import f from "@s/es";
			[String(p.count), String(f).slice(0, 15), String([].map)]`,
			`["() => ++n","function f() {\n","function map() { [native code] }"]`},
		{"several packages", `import p from "plain"; import f from "@s/es"; [p.count(), f()]`, `[1,"default"]`},
		{"a handler", `import p from "plain"; export default (n) => p.sub(n ?? 1)`, `2`},
		{"a JSON file", `import about from "plain/package.json" with { type: "json" }; about.main`, `"main.js"`},
		{"a JSON file beside a package",
			`import about from "plain/package.json" with { type: "json" }; import { count } from "plain"; [about.main, count()]`,
			`["main.js",1]`},
		{"a string that looks like one", "import p from 'plain'; `\nimport x from \"plain\";\n`.length + p.count()", `25`},
		{"a random number", `import { id } from "random"; id`, `true`},
		{"a look at the input", `import { has } from "asks"; has`, `"object"`},
		{"code from strings", `import * as e from "eval"; e.default`, `{"error":"TypeError"}`},
		{"the clock", `import k from "keeps"; [Math.abs(Date.now() - k.start) < 60000, +k.when - k.start < 1000]`,
			`[true,true]`},
		{"computing with the clock", `import { year } from "computes"; year === new Date().getFullYear()`, `true`},
		{"comparing the clock", `import { late } from "compares"; late`, `true`},
		{"a package that throws", `let n; try { require("throws") } catch (e) { n = e.name }; n`, `"TypeError"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // makes the image, uses it, and uses the code that was compiled in it
				r := run(t, e, sandbox.Script{Code: c.code, TypeScript: c.name == "TypeScript"},
					sandbox.Grants{Packages: packages, Modules: []string{"path"}})
				if string(r.Value) != c.value || r.Error != "" {
					t.Fatalf("%s %s, want %s", r.Value, r.Error, c.value)
				}
			}
		})
	}
}

// TestPackagesWithoutName checks that a name that is no package, or a path that a package does not export, is an error
// of the code.
func TestPackagesWithoutName(t *testing.T) {
	e := newEngine(t)
	for code, want := range map[string]string{
		`import x from "unknown"; x`:            "Cannot find package 'unknown'",
		`import x from "@s/es/other"; x`:        "Cannot find package '@s/es/other'",
		`import x from "@s/es/index.mjs"; x`:    "Cannot find package '@s/es/index.mjs'",
		`import x from "plain/../../secret"; x`: "Cannot find package 'plain/../../secret'",
		`import "plain/broken"`:                 "broken",
		`import x from "throws"; x`:             "never Object",
	} {
		for range 2 {
			if r := run(t, e, sandbox.Script{Code: code},
				sandbox.Grants{Packages: somePackages()}); !strings.Contains(r.Error, want) {
				t.Errorf("%s: %q", code, r.Error)
			}
		}
	}
}

// TestPackagesKeepNothing checks that a run leaves nothing in a package for the runs after it, whoever their owner is.
func TestPackagesKeepNothing(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Packages: somePackages()}
	code := `import p from "plain"; import "global"; import g from "computes";
		const before = [p.count(), p.list.length, p.leak, mark, typeof Array.prototype.stolen, g.list.length];
		p.list.push(input); p.leak = input; g.list.push(input); Array.prototype.stolen = input; globalThis.mark = 100;
		p.sub = () => { throw new Error(input) }; before`
	for i := range 6 {
		r := run(t, e, sandbox.Script{Code: code, Owner: fmt.Sprint("owner", i%2), Input: []byte(`"secret"`)}, grants)
		if string(r.Value) != `[1,1,null,1,"undefined",0]` {
			t.Fatalf("run %d: %s %s", i, r.Value, r.Error)
		}
	}
}

// TestPackagesResult checks what a result says of packages, and that one that keeps the time makes the run impure.
func TestPackagesResult(t *testing.T) {
	e := newEngine(t)
	packages := somePackages()
	for _, c := range []struct {
		code string
		want []sandbox.PackageID
		pure bool
	}{
		{"1", nil, true},
		{`import p from "plain"; p.count()`, []sandbox.PackageID{packages[0].PackageID}, true},
		{`import { named } from "@s/es"; require("plain"); named`, []sandbox.PackageID{packages[0].PackageID,
			packages[1].PackageID},
			true},
		{`import k from "keeps"; 1`, []sandbox.PackageID{packages[3].PackageID}, false},
		{`import { id } from "random"; id`, []sandbox.PackageID{packages[6].PackageID}, false},
	} {
		for range 2 {
			r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{Packages: packages})
			if diff := cmp.Diff(c.want, r.Packages); diff != "" || r.Pure != c.pure {
				t.Errorf("%s: pure %v %s", c.code, r.Pure, diff)
			}
		}
	}
}

// TestPackagesReplay repeats a run from its journal, in an engine that has no image yet.
func TestPackagesReplay(t *testing.T) {
	grants := sandbox.Grants{Packages: somePackages()}
	script := sandbox.Script{Code: `import k from "keeps"; import p from "plain";
		[k.start, k.when, p.count(), Math.random()]`}
	e := newEngine(t)
	var first sandbox.Result
	for range 2 {
		first = run(t, e, script, grants)
	}
	grants.Replay = first.Journal
	again := run(t, newEngine(t), script, grants)
	if string(again.Value) != string(first.Value) || again.Error != "" || again.Usage.Ticks != first.Usage.Ticks {
		t.Errorf("%s %s, then %s %s", first.Value, first.Error, again.Value, again.Error)
	}
}

// TestPackagesAmongFiles checks that a package among the files of the request wins.
func TestPackagesAmongFiles(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{Code: `import p from "plain"; import f from "./lib.js"; [p, f]`, Files: map[string][]byte{
		"node_modules/plain/index.js": []byte("module.exports = 'mine'"),
		"lib.js":                      []byte("import f from '@s/es'; import p from 'plain'; export default f() + p"),
	}}
	r := run(t, e, script, sandbox.Grants{Packages: somePackages()})
	if string(r.Value) != `["mine","defaultmine"]` || len(r.Packages) != 1 {
		t.Errorf("%s %s %v", r.Value, r.Error, r.Packages)
	}
}

// TestPackagesImportOneAnother checks that a package among the files of the request replaces no dependency of the
// deployment's packages, whether they are evaluated ahead or by the run, and may import those packages itself.
func TestPackagesImportOneAnother(t *testing.T) {
	e := newEngine(t)
	for _, random := range []string{"", "Math.random(); "} {
		p := sandbox.Package{PackageID: sandbox.PackageID{Name: "needs", Version: "1.0.0", Integrity: "sha512-" + random},
			Tree: func() (map[string][]byte, error) {
				return map[string][]byte{
					"node_modules/needs/index.js": []byte(random + "module.exports = 'needs ' + require('dep')"),
					"node_modules/dep/index.js":   []byte("module.exports = 'theirs'"),
				}, nil
			}}
		r := run(t, e, sandbox.Script{Code: `import n from "needs"; import d from "dep"; import o from "other"; [n, d, o]`,
			Files: map[string][]byte{
				"node_modules/dep/index.js":   []byte("module.exports = 'mine'"),
				"node_modules/other/index.js": []byte("module.exports = require('needs') + ' ' + require('dep')"),
			}}, sandbox.Grants{Packages: []sandbox.Package{p}})
		if string(r.Value) != `["needs theirs","mine","needs theirs mine"]` || r.Error != "" {
			t.Errorf("%q: %s %s", random, r.Value, r.Error)
		}
	}
}

// TestPackagesOfVersion checks that a version of code starts after its packages and its own top level.
func TestPackagesOfVersion(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{Version: "1", Code: `import p from "plain"; import k from "keeps"; const n = p.count();
		export default () => [n, p.count(), Math.abs(Date.now() - k.start) < 60000]`}
	for i := range 3 {
		r := run(t, e, script, sandbox.Grants{Packages: somePackages()})
		if string(r.Value) != `[1,2,true]` || !r.Warm || len(r.Packages) != 2 {
			t.Errorf("run %d: %s %s %v %s", i, r.Value, r.Error, r.Packages, r.Cold)
		}
	}
}

// TestPackagesStack checks that the frames of an error are the caller's own, and that limits hold inside a package.
func TestPackagesStack(t *testing.T) {
	e := newEngine(t)
	p := packageOf("p", "index.js", "exports.fail = (x) => { x.y.z };\nexports.spin = () => { for (;;); }")
	for range 2 {
		r := run(t, e, sandbox.Script{Code: "import { fail } from 'p';\n\nfail({})"},
			sandbox.Grants{Packages: []sandbox.Package{p}})
		if r.Exception == nil || r.Exception.Line != 3 || strings.Contains(r.Exception.Stack, "airlock") {
			t.Errorf("%+v", r.Exception)
		}
	}
	r := run(t, e, sandbox.Script{Code: "import { spin } from 'p'; spin()"},
		sandbox.Grants{Packages: []sandbox.Package{p},
			Limits: sandbox.Limits{Wall: 50 * time.Millisecond}})
	if r.Limit != sandbox.LimitWall {
		t.Errorf("limit %q", r.Limit)
	}
}

// TestPackageUnreadable checks that a package that cannot be read is the platform's fault.
func TestPackageUnreadable(t *testing.T) {
	e := newEngine(t)
	gone := errors.New("gone")
	p := sandbox.Package{PackageID: sandbox.PackageID{Name: "p"}, Tree: func() (map[string][]byte,
		error) {
		return nil, gone
	}}
	_, err := e.Run(t.Context(), sandbox.Script{Code: "import p from 'p'"},
		sandbox.Grants{Packages: []sandbox.Package{p}})
	if !errors.Is(err, gone) {
		t.Error(err)
	}
	if r := run(t, e, sandbox.Script{Code: "1"},
		sandbox.Grants{Packages: []sandbox.Package{p}}); string(r.Value) != "1" {
		t.Error(r.Error)
	}
}

// TestPackageWithoutEffects checks that a step of a session, which evaluates the packages that it imports itself,
// evaluates only what it uses of them, if the package's manifest allows that.
func TestPackageWithoutEffects(t *testing.T) {
	e := newEngine(t)
	files := []string{"index.js", "export { a } from './a.js'; export { b } from './b.js'; import './c.js'",
		"a.js", "globalThis.seen = (globalThis.seen ?? '') + 'a'; export const a = Math.random() < 2",
		"b.js", "globalThis.seen = (globalThis.seen ?? '') + 'b'; export const b = Math.random() < 2",
		"c.js", "globalThis.seen = (globalThis.seen ?? '') + 'c'"}
	for _, c := range []struct{ effects, code, value string }{
		{``, `import { a } from "p"; [a, seen]`, `[true,"abc"]`},
		{`, "sideEffects": true`, `import { a } from "p"; [a, seen]`, `[true,"abc"]`},
		{`, "sideEffects": false`, `import { a } from "p"; [a, seen]`, `[true,"a"]`},
		{`, "sideEffects": false`, `import * as p from "p"; [p.b, seen]`, `[true,"ab"]`},
		{`, "sideEffects": false`, `import * as p from "p"; [Object.keys(p), seen]`, `[["a","b"],"ab"]`},
		{`, "sideEffects": false`, `import { a } from "p"; typeof seen`, `"string"`},
		{`, "sideEffects": ["./c.js"]`, `import { b } from "p"; [b, seen]`, `[true,"bc"]`},
		{`, "sideEffects": ["*c.js", 1]`, `import { b } from "p"; [b, seen]`, `[true,"abc"]`},
		{`, "sideEffects": ["**/c.js"]`, `import { b } from "p"; [b, seen]`, `[true,"abc"]`},
		{`, "sideEffects": [`, `import { b } from "p"; [b, seen]`, ``},
	} {
		p := packageOf("p", append([]string{"package.json", `{"name": "p"` + c.effects + `}`}, files...)...)
		r := steps(t, e, sandbox.Grants{Packages: []sandbox.Package{p}}, c.code)
		if string(r.Value) != c.value || (r.Error == "") != (c.value != "") {
			t.Errorf("%s, %s: %s %s, want %s", c.effects, c.code, r.Value, r.Error, c.value)
		}
	}
}

// TestPackageWithheld checks the message about a package that is installed and not granted.
func TestPackageWithheld(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, want string }{
		{"import _ from 'lodash'", "it is installed, but this policy may not import it"},
		{"await import('lodash/get')", "it is installed, but this policy may not import it"},
		{"require('lodash')", "Cannot find module 'lodash': it is installed, but this policy may not import it"},
		{"require(['lodash', 'get'].join('/'))", "it is installed, but this policy may not import it"},
		{"require('other')", "nothing is installed at run time"},
		{"import _ from 'other'", "nothing is installed at run time"},
	} {
		for _, withheld := range [][]string{{"lodash"}, nil} {
			r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{Withheld: withheld})
			if has := strings.Contains(r.Error, c.want); has != (withheld != nil || strings.Contains(c.code, "other")) {
				t.Errorf("%s without %q: %s", c.code, withheld, r.Error)
			}
		}
	}
}

// TestPackageWithoutExport checks that importing a name that a package lacks is a SyntaxError before the code runs.
func TestPackageWithoutExport(t *testing.T) {
	e := newEngine(t)
	for code, want := range map[string]string{
		`import { nope } from "plain"; nope`:                       "Named export 'nope' not found",
		`console.log(1); import { count, nope as n } from "plain"`: "Named export 'nope' not found",
		`import { f } from "@s/es"; import "./a.js"`:               "@s/es' does not provide an export named 'f'",
	} {
		script := sandbox.Script{Code: code, Files: map[string][]byte{"a.js": []byte("export const a = 1")}}
		for range 2 {
			r := run(t, e, script, sandbox.Grants{Packages: somePackages()})
			if !strings.HasPrefix(r.Error, "SyntaxError: ") || !strings.Contains(r.Error, want) {
				t.Errorf("%s: %q, want %q", code, r.Error, want)
			}
			if r.Output != "" {
				t.Errorf("%s printed %q", code, r.Output)
			}
		}
	}
}

// TestPackageOfComputedName checks the message about a package whose name the code computes.
func TestPackageOfComputedName(t *testing.T) {
	e := newEngine(t)
	for _, code := range []string{"const n = 'plain'; require(n)", "const n = 'plain/sub'; await import(n)"} {
		const want = "it is installed, but the code computes its name"
		if r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{Packages: somePackages()}); !strings.Contains(r.Error,
			want) {
			t.Errorf("%s: %s", code, r.Error)
		}
	}
}

// TestLargePackagesHaveAnImage checks that packages which take 40 MiB are evaluated once.
func TestLargePackagesHaveAnImage(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Packages: []sandbox.Package{
		packageOf("large", "index.js", "exports.list = new Uint8Array(20 << 20).fill(1)"),
		packageOf("other", "index.js", "exports.list = new Uint8Array(14 << 20).fill(2)")}}
	code := "import { list } from 'large'; import other from 'other'; list.length + other.list.length"
	for range 2 {
		if r := run(t, e, sandbox.Script{Code: code}, grants); r.PackagesCold != "" ||
			string(r.Value) != fmt.Sprint(34<<20) {
			t.Errorf("%s %q, evaluated by each run: %q", r.Value, r.Error, r.PackagesCold)
		}
	}
}

// TestDozenLargePackages imports twelve libraries of 400 KB that each run evaluates. Bundling them leaves far more
// garbage than it needs at a time, which does not count as memory of the run.
func TestDozenLargePackages(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("bundling 5 MB is slow under the race detector and for -short")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as airlock run sets it
	e := newEngine(t)
	var grants sandbox.Grants
	var code strings.Builder
	for i := range 12 {
		p := packageOf(fmt.Sprintf("library%d", i), "index.js", fmt.Sprintf("// %d\n", i)+bundleOf(400_000))
		p.Impure = "it draws random numbers while it loads"
		grants.Packages = append(grants.Packages, p)
		fmt.Fprintf(&code, "import f%[1]d from 'library%[1]d';\n", i)
	}
	code.WriteString("[f0({ n: 2 }), f11({ n: 3 })]")
	grants.Limits = sandbox.Limits{Wall: 2 * time.Minute, CPU: time.Minute, MemoryBytes: 256 << 20}
	if r := run(t, e, sandbox.Script{Code: code.String()}, grants); string(r.Value) != "[84,126]" {
		t.Errorf("returned %s, %s", r.Value, r.Error)
	}
}

// BenchmarkPackages compares, in turn, an empty script, one that imports a library of 500 KB, one that uses it, and one
// that brings its own function.
func BenchmarkPackages(b *testing.B) {
	e := newEngine(b)
	library := strings.Replace(bundleOf(500_000), "export default", "modules.chunk = (list, n) => {"+
		"const out = []; for (let i = 0; i < list.length; i += n) out.push(list.slice(i, i + n));"+
		" return out }; const last =", 1)
	packages := []sandbox.Package{packageOf("lodash", "index.js", library+"\nmodule.exports = modules;")}
	scripts := map[string]string{"empty": "0", "import": `import _ from "lodash"; 0`,
		"own": "const chunk = (list, n) => { const out = []; for (let i = 0; i < list.length; i += n)" +
			" out.push(list.slice(i, i + n)); return out }; chunk([1,2,3],2)",
		"package": `import _ from "lodash"; _.chunk([1,2,3],2)`}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range slices.Sorted(maps.Keys(scripts)) {
			began := time.Now()
			r := run(b, e, sandbox.Script{Code: scripts[name]}, sandbox.Grants{Packages: packages})
			took[name] = append(took[name], time.Since(began))
			if r.Error != "" {
				b.Fatal(r.Error)
			}
		}
	}
	p50 := map[string]float64{}
	for name, all := range took {
		slices.Sort(all)
		p50[name] = float64(all[len(all)/2].Microseconds())
		b.ReportMetric(p50[name], "µs-p50-"+name)
	}
	b.ReportMetric(p50["import"]/p50["empty"], "import/empty")
	b.ReportMetric(p50["package"]/p50["own"], "package/own")
	b.ReportMetric(p50["package"]/p50["empty"], "package/empty")
}
