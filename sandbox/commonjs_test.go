package sandbox_test

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// Modules among the files know where they are, and read files beside them that nothing imports.
func TestModulesFindTheirFiles(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesRead, Modules: []string{"*"}}
	for _, c := range []struct {
		name, code, want string
		files            map[string][]byte
	}{
		{"paths", "import p from 'p'; p", `["/node_modules/p/lib","/node_modules/p/lib/i.js","read","/"]`, files(
			"node_modules/p/package.json", `{"main": "lib/i.js"}`, "node_modules/p/data.txt", "read",
			"node_modules/p/lib/i.js", "'use strict'; const fs = require('fs'), path = require('path');\nmodule.exports = "+
				"[__dirname, __filename, fs.readFileSync(path.join(__dirname, '../data.txt'), 'utf8'), require('/top.cjs')]",
			"top.cjs", "exports = module.exports = __dirname")},
		{"strict", "import p from './p.cjs'; p", `["/p.cjs","TypeError"]`, files("p.cjs", "'use strict';\n"+
			"let e; try { Object.freeze({a: 1}).a = 2 } catch (x) { e = x.name }\nmodule.exports = [__filename, e]")},
		{"require.resolve", "import p from 'p'; p",
			`["/node_modules/p/a.js","1 + 1","/node_modules/q/q.js","MODULE_NOT_FOUND"]`, files(
				"node_modules/p/index.js", "const file = require.resolve('./a.js'); let e; try { require.resolve('none') } "+
					"catch (x) { e = x.code }\nmodule.exports = [file, require('fs').readFileSync(file, 'utf8'), "+
					"require.resolve('q'), e]", "node_modules/p/a.js", "1 + 1",
				"node_modules/q/package.json", `{"main": "q.js"}`, "node_modules/q/q.js", "")},
		{"require.resolve beside other names", "import p from 'p'; p", `["./a.js","./a.js","/node_modules/p/a.js"]`, files(
			"node_modules/p/index.js", "const resolve = (x) => x, o = { require: { resolve } }, f = (_, x) => x;\n"+
				"module.exports = [f(require, resolve('./a.js')), o.require.resolve('./a.js'), require.resolve('./a.js')]",
			"node_modules/p/a.js", "")},
		{"a text with createRequire", "import p from 'p'; p", `"\nconst require = createRequire(import.meta.url);\n"`, files(
			"node_modules/p/package.json", `{"exports": "./i.mjs"}`,
			"node_modules/p/i.mjs", "export default `\nconst require = createRequire(import.meta.url);\n`")},
		{"createRequire of a namespace", "import p from 'p'; p", `["b","b"]`, files(
			"node_modules/p/package.json", `{"exports": "./i.mjs"}`,
			"node_modules/p/i.mjs", "import module from 'node:module'; import x from './x.mjs'\n"+
				"const require = module.createRequire( // of this file\n  import.meta.filename)\n"+
				"export default [require('./b.cjs'), x]",
			"node_modules/p/x.mjs", "import * as m from 'module'\r\nvar require = m.createRequire(import.meta.url)\r\n"+
				"export default require('./b.cjs')",
			"node_modules/p/b.cjs", "module.exports = 'b'")},
		{"createRequire", "import p from 'p'; p", `["1.2.3","b"]`, files(
			"node_modules/p/package.json", `{"version": "1.2.3", "exports": "./lib/i.mjs"}`,
			"node_modules/p/lib/i.mjs", "import { createRequire } from 'module';\nimport { x } from './x.mjs';\n"+
				"const require = createRequire(import.meta.url);\nconst { version } = require('../package.json');\n"+
				"export default [version, x]",
			"node_modules/p/lib/x.mjs", "import { createRequire } from 'node:module'\n"+
				"const require = createRequire(import.meta.url)\nexport const x = require('./b.cjs')",
			"node_modules/p/lib/b.cjs", "module.exports = 'b'")},
		{"createRequire that may be missing", "import p from 'p'; p", `["b","b"]`, files(
			"node_modules/p/package.json", `{"exports": "./i.mjs"}`,
			"node_modules/p/i.mjs", "import { createRequire } from 'module'; import x from './x.mjs'\n"+
				"const require = createRequire ? createRequire(import.meta.url) : undefined;\n"+
				"export default [require ? require('./b.cjs') : 0, x]",
			"node_modules/p/x.mjs", "import * as m from 'module'\n"+
				"const require = m.createRequire\n  ? m.createRequire(import.meta.url)\n  : null\n"+
				"export default require('./b.cjs')",
			"node_modules/p/b.cjs", "module.exports = 'b'")},
		{"the factory of a UMD module", "import p from 'p'; [p.a, p.b]", `["a","/b.js"]`, files("node_modules/p/index.js",
			"(function (factory) { if (typeof module === 'object') { const v = factory(require, exports);\n"+
				"if (v !== undefined) module.exports = v } else define(['require', 'exports', './lib/a'], factory) })"+
				"(function (require, exports) { exports.a = require('./lib/a').a; exports.b = require('./b').b })",
			"node_modules/p/lib/a.js", "exports.a = 'a'", "node_modules/p/b.js", "exports.b = '/b.js'")},
		{"the factory of a minified UMD module", "import p from 'p'; p.a", `"ab"`, files("node_modules/p/index.js",
			"!function(n){if(typeof module=='object'){var e=n(require,exports);e!==void 0&&(module.exports=e)}else "+
				"define([\"require\",\"exports\",\"./a\",\"./b\"],n)}(function(n,e){e.a=n(\"./a\")+n(\"./b\")})",
			"node_modules/p/a.js", "module.exports = 'a'", "node_modules/p/b.js", "module.exports = 'b'")},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, e, sandbox.Script{Code: c.code, Files: c.files}, grants)
			if string(r.Value) != c.want || r.Error != "" {
				t.Errorf("got %s (%s), want %s", r.Value, r.Error, c.want)
			}
		})
	}
}

// TestObjectsOfScripts checks what this, module and exports are in a script, and that code may have its own.
func TestObjectsOfScripts(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, want string }{
		{"[this === module.exports, this === exports, (() => this)() === exports]", "[true,true,true]"},
		{"'use strict'; this.a = 1; [this, typeof a]", `[{"a":1},"undefined"]`},
		{"[typeof module, typeof exports]", `["undefined","undefined"]`},
		{"(function () { return this === globalThis })()", "true"},
		{"class A { constructor() { this.a = 1 } } new A()", `{"a":1}`},
		{"const x = [module.id, exports.y]; x", `[".",null]`},
		{"let a, module; module = { x: 1 }; module.x", "1"},
		{"let a,\n exports\n exports = { x: 2 }; exports.x", "2"},
		{"const [module] = [{ x: 3 }]; module.x", "3"},
		{"const { ...exports } = { x: 4 }; exports.x", "4"},
		{"const { a: { module } } = { a: { module: { x: 5 } } }; module.x", "5"},
		{"let r; for (const module of [{ x: 6 }]) r = module.x; r", "6"},
		{"[{ x: 7 }].map(module => module.x)", "[7]"},
		{"class module { static x = 8 } module.x", "8"},
	} {
		if r := run(t, e, sandbox.Script{Code: c.code}, sandbox.Grants{}); string(r.Value) != c.want || r.Error != "" {
			t.Errorf("%s: %s %s, want %s", c.code, r.Value, r.Error, c.want)
		}
	}
	if r := steps(t, e, sandbox.Grants{}, "this === globalThis"); string(r.Value) != "true" {
		t.Errorf("in a session: %s %s", r.Value, r.Error)
	}
}

// A Module compiles a text if the tier has eval, as require-from-string and jsonpath make one do.
func TestModuleCompile(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	const code = `const Module = require('module'), m = new Module('/x/a.js')
		m._compile('#!/bin/node\nexports.at = [__filename, __dirname]; exports.join = require("path").join("a", "b"); ' +
			'exports.self = module.exports === this', '/x/a.js')
		return [m.exports, m instanceof Module.Module, Module.isBuiltin('fs'), Module.builtinModules.includes('path')]`
	grants := sandbox.Grants{Eval: true, Modules: []string{"*"}}
	const want = `[{"at":["/x/a.js","/x"],"join":"a/b","self":true},true,true,true]`
	if r := run(t, e, sandbox.Script{Code: code}, grants); string(r.Value) != want {
		t.Errorf("%s %s", r.Error, r.Value)
	}
	grants.Eval = false
	if r := run(t, e, sandbox.Script{Code: code}, grants); !strings.Contains(r.Error, "eval") {
		t.Errorf("compiled without eval: %s %s", r.Error, r.Value)
	}
}
