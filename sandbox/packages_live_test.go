package sandbox_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// livePackages are packages whose exports change after their evaluation, in each way that JavaScript has.
func livePackages() []sandbox.Package {
	return []sandbox.Package{
		packageOf("box", "index.mjs", "export let hits = 0; export function inc() { hits++ } export const fixed = 1;\n"+
			"let last = 'a', a, b, each, swap = 1; export { last as default, hits as 'a;b', a, b, each, swap };\n"+
			"export const set = (x) => last = x;\nexport function all(x) { [a, { b }] = x; for (each of [1, 2]); swap -= 1 }",
			"package.json", `{"exports": {".": "./index.mjs", "./again": "./again.mjs"}, "sideEffects": false}`,
			"again.mjs", "export * from './index.mjs'; export { default } from './index.mjs';\n"+
				"import { hits } from './index.mjs'; export { hits as counted }"),
		packageOf("late", "index.mjs", "const r = Math.random(); export let hits = r > 2;\n"+
			"export const inc = () => { hits = 1 }; export const unused = 1;",
			"package.json", `{"exports": "./index.mjs", "sideEffects": false}`),
		packageOf("lazy", "index.mjs", "import './c.cjs'; export let hits = 0; export let other = 1;\n"+
			"export function inc() { if (hits >= 0) {\n    hits = hits + 1; }\n}", "c.cjs",
			"exports.again = () => require('./index.mjs')", "package.json", `{"exports": "./index.mjs"}`),
		packageOf("fixed", "index.mjs", "export const one = 1", "package.json", `{"exports": "./index.mjs"}`),
		packageOf("common", "index.js", "exports.hits = 0; exports.inc = () => { exports.hits++ }"),
	}
}

// What code imports has the value that the package gives to it, whatever the form of the import.
func TestPackageImportsAreLive(t *testing.T) {
	e := newEngine(t)
	packages := livePackages()
	packages[1].Impure = "it draws random numbers while it loads"
	for _, c := range []struct{ name, code, value string }{
		{"named", `import { hits, inc } from 'box'; const was = hits; inc(); [was, hits]`, `[0,1]`},
		{"renamed", `import { hits as n, inc, fixed } from 'box'; inc(); inc(); [n, fixed]`, `[2,1]`},
		{"default", `import last, { set } from 'box'; const was = last; set('b'); [was, last]`, `["a","b"]`},
		{"namespace", `import * as box from 'box'; box.inc(); box.set('c'); [box.hits, box.default, box['a;b']]`,
			`[1,"c",1]`},
		{"quoted", `import { 'a;b' as n, inc } from 'box'; inc(); n`, `1`},
		{"quoted with spaces", `import {inc, "a;b" as n} from "box" ; inc(); n`, `1`},
		{"patterns", `import { a, b, each, swap, all } from 'box'; all([1, { b: 2 }]); [a, b, each, swap]`, `[1,2,2,0]`},
		{"of another module", `import last, { hits, counted, inc, set } from 'box/again'; inc(); set('d'); ` +
			`[hits, counted, last]`, `[1,1,"d"]`},
		{"two modules", `import { inc } from 'box'; import { hits } from 'box/again'; inc(); hits`, `1`},
		{"both forms", `import { hits } from 'box'; import * as box from 'box'; box.inc(); hits`, `1`},
		{"in closures", `import { hits, inc } from 'box'; const f = () => hits; inc(); ((hits) => [hits, f()])(7)`, `[7,1]`},
		{"await import", `const box = await import('box'); box.inc(); box.hits`, `1`},
		{"a package that each run evaluates", `import { hits, inc } from 'late'; const was = hits; inc(); [was, hits]`,
			`[false,1]`},
		{"a module that is required", `import { hits, inc, other } from 'lazy'; inc(); [hits, other]`, `[1,1]`},
		{"CommonJS", `import c, { hits, inc } from 'common'; inc(); [hits, c.hits]`, `[0,1]`},
		{"export", `import { hits, inc } from 'box'; export default () => { inc(); return hits }`, `1`},
		{"TypeScript", `import { hits, inc } from 'box'; const n: number = hits; inc(); [n, hits]`, `[0,1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // makes the images, uses them, and uses the code that was compiled in them
				s := sandbox.Script{Code: c.code, TypeScript: c.name == "TypeScript"}
				if r := run(t, e, s, sandbox.Grants{Packages: packages}); string(r.Value) != c.value || r.Error != "" {
					t.Fatalf("%s %s, want %s", r.Value, r.Error, c.value)
				}
			}
		})
	}
}

// Files import and export what is live, too.
func TestPackageImportsOfFilesAreLive(t *testing.T) {
	e := newEngine(t)
	files := map[string][]byte{
		"names.js": []byte(`export { hits, inc, default as last, hits as "x;y", "a;b" as other } from 'box';`),
		"star.js":  []byte(`export * from 'box'; export * as "in;side" from 'box';`),
		"fixed.js": []byte(`export * from 'fixed'; export * as "in;side" from 'fixed';`),
		"uses.js":  []byte(`import { hits, inc } from 'box'; export const now = () => hits; export { inc };`),
	}
	for _, c := range []struct{ code, value string }{
		{`import { hits, inc, last, "x;y" as n, other } from './names.js'; inc(); [hits, last, n, other]`, `[1,"a",1,1]`},
		{`import { hits, inc, "in;side" as all } from './star.js'; inc(); [hits, all.hits]`, `[1,1]`},
		{`import { one, "in;side" as all } from './fixed.js'; [one, all.one]`, `[1,1]`},
		{`import { now, inc } from './uses.js'; inc(); now()`, `1`},
		{`const { now, inc } = require('./uses.js'); inc(); now()`, `1`},
	} {
		for range 2 {
			r := run(t, e, sandbox.Script{Code: c.code, Files: files}, sandbox.Grants{Packages: livePackages()})
			if string(r.Value) != c.value || r.Error != "" {
				t.Errorf("%s: %s %s, want %s", c.code, r.Value, r.Error, c.value)
			}
		}
	}
}

// An image in the cache folder says what is live in it.
func TestKeptPackageImportsAreLive(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		e, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		grants := sandbox.Grants{Packages: livePackages()}
		if err := e.PreparePackages(t.Context(), grants); err != nil {
			t.Fatal(err)
		}
		r := run(t, e, sandbox.Script{Code: `import { hits, inc } from 'box'; inc(); hits`}, grants)
		if string(r.Value) != "1" {
			t.Errorf("%s %s", r.Value, r.Error)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// The names of a package's exports run nothing, and reach the code, however they are imported.
func TestPackageExportNamesDoNotInject(t *testing.T) {
	e := newEngine(t)
	for _, name := range hostileNames {
		text, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		q := string(text)
		for how, code := range map[string]string{
			"named":     "import { set, " + q + " as x, " + q + " as y } from 'p'; ",
			"of a file": "import { " + q + " as x, set } from './m.js'; ",
		} {
			if how == "of a file" && slices.Contains([]string{"await", "eval", "arguments"}, name) {
				continue // esbuild binds them as they are, which no code may
			}
			for what, declared := range map[string]string{"let": "let y = 6; export const set = () => { y = 7 }; ",
				"const": "const y = 7; export const set = () => {}; "} {
				p := packageOf("p", "package.json", `{"exports": "./p.mjs"}`, "p.mjs", declared+"export { y as "+q+" }")
				s := sandbox.Script{Code: code + "set(); [x, typeof hit]"}
				if how == "of a file" {
					s.Files = map[string][]byte{"m.js": fmt.Appendf(nil, "export { %s, set } from 'p'", q)}
				}
				r := run(t, e, s, sandbox.Grants{Packages: []sandbox.Package{p}})
				if string(r.Value) != `[7,"undefined"]` {
					t.Errorf("%s %s of %q: %s %s", how, what, name, r.Value, r.Error)
				}
			}
		}
	}
}

// An import of a name in quotes that a package does not export is an error, as of any other name.
func TestPackageLacksQuotedName(t *testing.T) {
	e := newEngine(t)
	s := sandbox.Script{Code: `import { "no;such" as x } from 'box'; x`}
	r := run(t, e, s, sandbox.Grants{Packages: livePackages()})
	if want := "does not provide an export named 'no;such'"; !strings.Contains(r.Error, want) {
		t.Errorf("%q", r.Error)
	}
}

// A package may require modules of Node that the sandbox does not have, when it is evaluated and when it is called.
func TestPackageRequiresAbsentModule(t *testing.T) {
	e := newEngine(t)
	ahead := packageOf("ahead", "index.js", "exports.later = () => require('cluster').isMaster;")
	impure := packageOf("impure", "index.js", "const { isMainThread } = require('worker_threads'); Math.random();\n"+
		"exports.main = isMainThread")
	impure.Impure = "it draws random numbers while it loads"
	for _, c := range []struct{ code, value string }{
		{`import p from 'ahead'; p.later()`, `true`},
		{`import { main } from 'impure'; main`, `true`},
		{`import { main } from 'impure'; let e; try { require(['vm'][0]) } catch (x) { e = x.code } [main, e]`,
			`[true,"ERR_UNKNOWN_BUILTIN_MODULE"]`},
	} {
		r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{Packages: []sandbox.Package{ahead, impure}})
		if string(r.Value) != c.value || r.Error != "" {
			t.Errorf("%s: %s %s, want %s", c.code, r.Value, r.Error, c.value)
		}
	}
}

// Function expressions of packages keep their names, whatever else has them.
func TestPackageFunctionNames(t *testing.T) {
	e := newEngine(t)
	p := packageOf("p", "package.json", `{"exports": "./i.mjs"}`, "i.mjs",
		"import other from './c.cjs';\nvar Node = function Node(x) {\n  this.x = x;\n};\n"+
			"Node.of = function of() { return of };\n"+
			"var Two2 = function Two2() { };\nvar of = async function of() { return Node };\n"+
			"const all = [Node, Node.of, Two2, of, other, other.make, new Node(1).constructor, other.Deep];\n"+
			"export default all.map((f) => f.name)",
		"c.cjs", "const Node = function Node() { return Node };\nmodule.exports = Node;\n"+
			"module.exports.make = function make(n) {\n  return n ? make(n - 1) : 0 };\nfunction make() { }\n"+
			"(function (global, factory) { factory(global) })(module.exports, function (o) {\n"+
			"  var Deep = function Deep() { return Deep };\n  o.Deep = Deep;\n});")
	r := run(t, e, sandbox.Script{Code: `import names from 'p'; names`}, sandbox.Grants{Packages: []sandbox.Package{p}})
	if want := `["Node","of","Two2","of","Node","make","Node","Deep"]`; string(r.Value) != want || r.Error != "" {
		t.Errorf("%s %s, want %s", r.Value, r.Error, want)
	}
}
