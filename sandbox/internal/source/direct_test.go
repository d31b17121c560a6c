package source

import (
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// direct are modules that run without esbuild.
var direct = []string{
	"import fs, {readFileSync as r, existsSync} from 'node:fs'; r(fs)",
	"import * as path from \"path\"\nimport 'os'\npath.join('a')",
	"import {default as f} from 'fs'\nexport default f",
	"import EventEmitter, * as all from 'events';\nexport class A extends EventEmitter {}\nexport default all",
	"export const a = 1;\nexport let b = 2; export var c = 3\nexport function d() {}\nexport async function e() {}",
	"export default function () { return 1 }\n(1)", "export default async function* g() {} g",
	"export default class { static n = this.name } 1", "export default (a, b) => [a, b];\n1",
	"export default {a: 1,\n  b: [1, 2]\n}", "export default async (event) => event.a\n",
	"export const handler = async () => this", "if (a) { b() }\nexport default function f() { return { return: 1 } }",
	"const m = await import('node:fs'); m", "() => import(\"path\"); 1", "export default import.meta.url",
	"import {a} from 'fs'; if (import.meta.main) a()",
	"exports.handler = async (event) => 1", "module.exports = {a: 1}; await_ = 1", "exports.a = 1; exports.b = this",
}

// bundled are modules that only esbuild reads as they are meant.
var bundled = []string{
	"import x from './x.js'", "import x from 'left-pad'", "export {a as default}; const a = 1", "export * from 'fs'",
	"export default 1, 2", "export default a\nb", "export default 1;\nreturn 2", "if (a) { return }\nexport default 1",
	"export default class extends A {}", "export /* */ default 1", "export const {a} = b",
	"export const handler = 1, b = 2;" +
		"export const [c] = d", "export default 1; <!-- b", "export function a() {}\nfunction a() {}",
	"export const a = 1, handler = 2", "export const a = 1; export const a = 2", "export default 1; export default 2",
	"export default 1 }); (async () => {", "await import(name)", "await import('./a.js')", "import.meta.resolve('a')",
	"import {createRequire} from 'module'", "import {'a-b' as c} from 'fs'", "import fs from 'fs' with {type: 'x'}",
	"exports.a = await b", "exports.a = 1; return 2", "module.exports = 1; const module = 2",
	"import {AsyncLocalStorage} from 'async_hooks'", "export default 1; var f; function f() {}",
	"import'fs'export default 0", "export default import.meta0", "import a* as b from 'events'\nb",
	"import afrom'events'\na", "import 'fs'\na,export default 0", "1 +\nimport 'fs'\n2",
}

// steps of sessions that run without esbuild.
var directSteps = []string{
	"import fs, {readFileSync as r} from 'node:fs'; const a = r(fs)", "import * as path from 'path'\nlet b = path",
	"const m = await import('os'); m", "import 'fs'; function f() { return import.meta.url }\nf",
}

func TestDirect(t *testing.T) {
	for _, code := range directSteps {
		if s, ex := Of(Input{Code: code, Session: true}); ex != nil || s.Bundled() {
			t.Errorf("%q of a session is bundled: %v", code, ex)
		}
	}
	for _, code := range direct {
		if s, ex := Of(Input{Code: code}); ex != nil || s.Bundled() {
			t.Errorf("%q is bundled: %v", code, ex)
		}
		if s, ex := Of(Input{Code: code, Saved: true}); ex != nil || !s.Bundled() {
			t.Errorf("%q of a version is not bundled: %v", code, ex)
		}
	}
	for _, code := range bundled {
		if s, _ := Of(Input{Code: code}); s != nil && !s.Bundled() {
			t.Errorf("%q is not bundled:\n%s", code, s.Text)
		}
	}
}

// FuzzDirect checks that a module cannot close the function around it and open another, and that a module with exports
// which esbuild refuses has no text that it accepts.
func FuzzDirect(f *testing.F) {
	for _, code := range append(direct, bundled...) {
		f.Add(code)
	}
	accepts := func(code string) bool {
		out := api.Transform(withoutMaps(code), api.TransformOptions{Loader: api.LoaderJS, LogLevel: api.LogLevelSilent})
		return len(out.Errors) == 0
	}
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 20_000 || checkText(code) != nil || tooDeep(code) {
			return
		}
		found := moduleSyntax(code)
		s, ok := Input{}.direct(code, 0, found)
		if !ok || !accepts(s.Text) {
			return
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(s.Text, s.head), "})")
		if !accepts("[async function () {" + inner + "}]") {
			t.Errorf("%q leaves the function around it:\n%s", code, s.Text)
		}
		if len(found.declared) > 0 && !accepts(code) {
			t.Errorf("%q runs, but is no module:\n%s", code, s.Text)
		}
	})
}
