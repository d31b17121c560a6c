package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// changesEverything is a package whose top level changes what all code uses.
const changesEverything = `
	Array.prototype.map = function () { return ["stolen"] };
	Object.prototype.extra = "stolen";
	Object.defineProperty(Object.prototype, "then", { configurable: true, get() { return undefined } });
	JSON.stringify = () => '"stolen"';
	Promise.prototype.then = new Proxy(Promise.prototype.then, {});
	globalThis.console = { log() {} };
	Math.random = () => 4;
	Function.prototype.call = function () { return "stolen" };
	Symbol.prototype.description2 = 1;
	exports.ok = true;`

// TestPackageChangesBuiltins checks that only the runs that import a package see the changes that its top level makes,
// whoever their owner is and whatever they are granted.
func TestPackageChangesBuiltins(t *testing.T) {
	e := newEngine(t)
	packages := []sandbox.Package{packageOf("evil", "index.js", changesEverything), packageOf("good", "index.js",
		"exports.list = [1, 2].map((n) => n * 2); exports.text = JSON.stringify({ a: 1 }); exports.extra = ({}).extra")}
	const look = `[[1, 2].map((n) => n * 2), ({}).extra ?? null, typeof JSON.stringify([1]), Math.random() < 1,
		(function () { return this.x }).call({ x: 1 })]`
	const clean = `[[2,4],null,"string",true,1]`
	grants := map[string]sandbox.Grants{
		"bare":   {},
		"strict": {Packages: packages[1:]},
		"same":   {Packages: packages},
		"eval":   {Packages: packages, Eval: true},
		"files":  {Packages: packages, Files: sandbox.FilesRead, Modules: []string{"path"}},
	}
	for range 3 {
		for _, owner := range []string{"a", "b"} {
			for name, g := range grants {
				if strings.Contains("same eval files", name) {
					r := run(t, e, sandbox.Script{Owner: owner, Code: `import { ok } from "evil"; ok`}, g)
					if r.PackagesCold != "" {
						t.Fatalf("evil has no image: %s", r.PackagesCold)
					}
				}
				if r := run(t, e, sandbox.Script{Owner: owner, Code: look}, g); string(r.Value) != clean {
					t.Errorf("%s of %s: %s %s", name, owner, r.Value, r.Error)
				}
				if name == "bare" {
					continue
				}
				r := run(t, e, sandbox.Script{Owner: owner,
					Code: `import g from "good"; [g.list, g.text, g.extra ?? null, ` + look + `]`}, g)
				if want := `[[2,4],"{\"a\":1}",null,` + clean + `]`; string(r.Value) != want {
					t.Errorf("%s of %s with a package: %s %s", name, owner, r.Value, r.Error)
				}
			}
		}
	}
}

// TestHostilePackages checks packages whose top level attacks the host or other runs.
func TestHostilePackages(t *testing.T) {
	e := newEngine(t)
	const manifest = "package.json"
	exports := func(depth int) string {
		return `{"exports":` + strings.Repeat(`{"import":`, depth) + `"./index.js"` + strings.Repeat("}", depth) + "}"
	}
	outside := packageOf("secret", "index.js", "module.exports = 'secret'")
	for name, c := range map[string]struct {
		p    sandbox.Package
		code string
		want string // the value, or a part of the error
	}{
		"name of a module": {packageOf("path", "index.js", "module.exports = 'stolen'"),
			`import { join } from "path"; const { sep } = require("node:path"); [join("a", "b"), sep]`, `["a/b","/"]`},
		"name of a property": {packageOf("constructor", "index.js", "module.exports = 'mine'"),
			`import c from "constructor"; const d = require("constructor"); [c, d]`, `["mine","mine"]`},
		"own names": {packageOf("p", "index.mjs",
			"export const __proto__ = 1, constructor = 2, then = 3; export default 4"),
			`import d, { constructor as c } from "p/index.mjs"; import * as all from "p/index.mjs"; [d, c, all.__proto__]`,
			`[4,2,1]`},
		"main outside": {packageOf("p", manifest, `{"main":"../../../../etc/passwd"}`),
			`import p from "p"; p`, "Cannot find package 'p'"},
		"exports outside": {packageOf("p", manifest, `{"exports":{".":"../secret/index.js"}}`),
			`import p from "p"; p`, "Cannot find package 'p'"},
		"pattern outside": {packageOf("p", manifest, `{"exports":{"./*":"./*/index.js"}}`),
			`import p from "p/../secret"; p`, "Cannot find package"},
		"imports outside": {packageOf("p", manifest, `{"imports":{"#x":"../secret/index.js"}}`, "index.js",
			"exports.x = require('#x')"), `import p from "p"; p`, "Cannot find package '#x'"},
		"a package that was not granted": {packageOf("p", "index.js", "exports.x = require('secret')"),
			`import p from "p"; p`, "Cannot find package 'secret'"},
		"deep exports": {packageOf("p", manifest, exports(5000), "index.js", "1"), `import p from "p"; p`,
			"Cannot find package 'p'"},
		"a manifest that is a list": {packageOf("p", manifest, `[]`, "index.js", "module.exports = 1"),
			`import p from "p"; p`, "Cannot find package 'p'"},
		"too much memory": {packageOf("p", "index.js", "const a = []; for (;;) a.push(new Uint8Array(1 << 23))"),
			`import p from "p"; p`, "memory"},
		"depth": {packageOf("p", "index.js", "(function f() { f() })()"), `import p from "p"; p`, "call stack"},
		"an await without end": {packageOf("p", "index.mjs", "await new Promise(() => {}); export default 1"),
			`import p from "p/index.mjs"; p`, "never"},
		"a call of the host": {packageOf("p", "index.js", "exports.x = typeof fetch; try { fetch('http://127.0.0.1') }"+
			" catch (e) { exports.e = e.name }"), `import p from "p"; p.x`, `"function"`},
		"the marks of the bundle": {packageOf("p", "index.js",
			"module.exports = 'airlock-package:import secret $airlock_packages $airlock'"),
			`import p from "p"; p.length`, `56`},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{Packages: []sandbox.Package{c.p},
					Withheld: []string{outside.Name}, Modules: []string{"path"},
					Limits: sandbox.Limits{Wall: 20 * time.Second, MemoryBytes: 64 << 20}})
				if strings.Contains(r.PackagesCold, "\n") {
					t.Errorf("the reason has the engine's stack: %s", r.PackagesCold)
				}
				if got := fmt.Sprint(string(r.Value), r.Error, r.Limit); !strings.Contains(got, c.want) {
					t.Fatalf("%s, want %s", got, c.want)
				}
			}
		})
	}
}

// TestPackageWithoutEnd checks that the end of a request ends the evaluation of a package, too, and that this is not
// taken for a property of the package.
func TestPackageWithoutEnd(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Packages: []sandbox.Package{packageOf("p", "index.js", "exports.x = 1"),
		packageOf("endless", "index.js", "for (;;);")}}
	for _, code := range []string{`import p from "endless"; p`, `import { x } from "p"; x`} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if strings.Contains(code, `"p"`) {
			cancel()
		}
		r, err := e.Run(ctx, sandbox.Script{Code: code}, grants)
		cancel()
		if err != nil || r.Limit != sandbox.LimitWall && !r.Cancelled {
			t.Errorf("%s: %+v %v", code, r, err)
		}
	}
	r := run(t, e, sandbox.Script{Code: `import { x } from "p"; x`}, grants)
	if string(r.Value) != "1" || r.PackagesCold != "" {
		t.Errorf("%s %s %s", r.Value, r.Error, r.PackagesCold)
	}
}
