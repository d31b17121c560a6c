package sandbox_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
)

// hostileNames are names that break out of a string, a template, a comment, a pattern or a line unless they are quoted
// for its language, or that become other names when they are quoted for the wrong language.
var hostileNames = []string{
	"'", `"`, "`", `\`, "${hit=1}", "`+(hit=1)+`", "');hit=1;('", `");hit=1;("`, "*/hit=1;/*", "*/ }; hit=1; ({ /*",
	"//", "<!--", "-->", "</script>",
	"\u2028hit=1//", "\u2029hit=1//", "\nhit=1//", "\rhit=1//", "\x07", "\x0b", "\x7f", "\u0085", "\u200b", "\u202e",
	"\ufeff", "\U0001f600", "\U000e0041", "a\u0301",
	`\u0061`, `\x61`, `\u{61}`, "__proto__", "constructor", "prototype", "then", "default", "await", "eval", "arguments",
	"this", "0", "-1", "a b", "a-b", "a.b", "[x]", "%s", "$&", "$airlock", "$airlock_table",
	"//# sourceMappingURL=file:///etc/passwd", "//# sourceURL=hit", "#!hit", "}])", "{{hit}}", "a=hit=1", "{a:x=hit=1}",
}

// The name of an export reaches its import, and no part of the name runs.
func TestExportNamesDoNotInject(t *testing.T) {
	e := newEngine(t)
	for _, name := range hostileNames {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		q := string(quoted)
		for form, files := range map[string]map[string]string{
			"export":    {"m.js": "const y = 7; export { y as " + q + " }"},
			"re-export": {"m.js": "export { " + q + " } from './n.js'", "n.js": "const y = 7; export { y as " + q + " }"},
			"star":      {"m.js": "export * as " + q + " from './n.js'", "n.js": "export const seven = 7"},
			"CommonJS":  {"m.js": "module.exports = { __proto__: null, [" + q + "]: 7 }"},
			"JSON":      {"m.js": "export { default as " + q + " } from './n.json'", "n.json": "7"},
		} {
			code := "import { " + q + " as x } from './m.js'; import * as all from './m.js'; [x.seven ?? x, all[" + q +
				"] === x, typeof hit]"
			if form == "CommonJS" {
				if name == "default" || name == "__proto__" {
					continue // in CommonJS, the default export is the whole module, and members of its prototype are not exports
				}
				code = "import { " + q + " as x } from './m.js'; [x, true, typeof hit]"
			}
			s := sandbox.Script{Code: code, Files: map[string][]byte{}}
			for file, text := range files {
				s.Files[file] = []byte(text)
			}
			if r := run(t, e, s, sandbox.Grants{}); string(r.Value) != `[7,true,"undefined"]` {
				t.Errorf("%s of %q: %s, %s", form, name, r.Value, r.Error)
			}
		}
	}
}

// A file is found by its own name and by no other, whether the code spells the name or computes it.
func TestFileNamesDoNotInject(t *testing.T) {
	e := newEngine(t)
	for _, name := range hostileNames {
		for _, form := range []struct{ what, code string }{
			{"import", "import x from %s; [x.n, typeof hit]"},
			{"import()", "const m = await import(%s); [m.default.n, typeof hit]"},
			{"require", "const x = require(%s); [x.n, typeof hit]"},
			{"made up", "const x = require([%s].join('')); [x.n, typeof hit]"},
		} {
			if strings.ContainsAny(name, "?/") && form.what != "made up" || strings.Contains(name, "/") {
				continue // the syntax of paths and queries
			}
			specifier, err := json.Marshal("./" + name + ".js")
			if err != nil {
				t.Fatal(err)
			}
			s := sandbox.Script{Code: fmt.Sprintf(form.code, specifier), Files: map[string][]byte{
				name + ".js": []byte("module.exports = { n: 7 }"), "a.js": []byte("module.exports = { n: 'another file' }"),
				"n.js": []byte("module.exports = 1"),
			}}
			if r := run(t, e, s, sandbox.Grants{}); string(r.Value) != `[7,"undefined"]` {
				t.Errorf("%s of %q: %s, %s", form.what, name, r.Value, r.Error)
			}
		}
		if strings.Contains(name, "/") {
			continue
		}
		entry := name + ".js"
		s := sandbox.Script{Entry: entry,
			Files: map[string][]byte{
				entry:  []byte("import n from './n.js'; export default () => [import.meta.url, n, typeof hit]"),
				"n.js": []byte("export default 7"),
			}}
		url, err := json.Marshal("file:///" + entry)
		if err != nil {
			t.Fatal(err)
		}
		var got []any
		r := run(t, e, s, sandbox.Grants{})
		if err := json.Unmarshal(r.Value, &got); err != nil || len(got) != 3 {
			t.Errorf("entry %q: %s, %s", name, r.Value, r.Error)
		} else if got[1] != 7.0 || got[2] != "undefined" {
			t.Errorf("entry %q injects: %s", name, r.Value)
		} else if again, err := json.Marshal(got[0]); err != nil || string(again) != string(url) {
			t.Errorf("import.meta.url of %q is %s, want %s", name, again, url)
		}
		s.Files[entry] = []byte("export default () => { throw new Error('where') }")
		if r := run(t, e, s, sandbox.Grants{}); r.Exception == nil || r.Exception.Message != "where" ||
			r.Exception.Line != 1 {
			t.Errorf("error of entry %q: %+v %s", name, r.Exception, r.Error)
		}
	}
}

// A specifier that cannot be resolved is only text in an error.
func TestMissingSpecifiersDoNotInject(t *testing.T) {
	e := newEngine(t)
	for _, name := range hostileNames {
		for _, prefix := range []string{"./none/", "none-", "node:", "https://a.example/"} {
			specifier, err := json.Marshal(prefix + name)
			if err != nil {
				t.Fatal(err)
			}
			for _, code := range []string{
				"import './n.js'; const hits = []; try { await import(%s); hits.push('found') } catch (e) { if (!(e " +
					"instanceof Error)) hits.push('odd') } [hits, typeof hit]",
				"import './n.js'; const hits = []; try { require(%s); hits.push('found') } catch (e) { if (!(e instanceof " +
					"Error)) hits.push('odd') } [hits, typeof hit]",
				"import './n.js'; const hits = []; try { require([%s][0]); hits.push('found') } catch (e) { if (!(e " +
					"instanceof Error)) hits.push('odd') } [hits, typeof hit]",
			} {
				r := run(t, e, sandbox.Script{Code: fmt.Sprintf(code, specifier), Files: map[string][]byte{"n.js": []byte("")}},
					sandbox.Grants{Modules: []string{"*"}})
				if string(r.Value) != `[[],"undefined"]` {
					t.Errorf("%s of %q: %s, %s", prefix, name, r.Value, r.Error)
				}
			}
			r := run(t, e,
				sandbox.Script{Code: fmt.Sprintf("import %s; 1", specifier), Files: map[string][]byte{"n.js": []byte("")}},
				sandbox.Grants{})
			if r.Value != nil || r.Error == "" {
				t.Errorf("import of %q: %s", prefix+name, r.Value)
			}
		}
	}
}

// Names of context, input and files of JSON are keys and nothing else.
func TestKeysDoNotInject(t *testing.T) {
	e := newEngine(t)
	for _, name := range hostileNames {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		q := string(quoted)
		data := []byte("{" + q + ": 7}")
		for _, code := range []string{
			"import d from './d.json'; [Object.keys(d), Object.getOwnPropertyDescriptor(d, " + q +
				").value, Object.getPrototypeOf(d) === Object.prototype, typeof hit]",
			"import './n.js'; const d = require(['./d', '.json'].join('')); [Object.keys(d), " +
				"Object.getOwnPropertyDescriptor(d, " + q + ").value, Object.getPrototypeOf(d) === Object.prototype, typeof hit]",
			"const d = input; [Object.keys(d), Object.getOwnPropertyDescriptor(d, " + q +
				").value, Object.getPrototypeOf(d) === Object.prototype, typeof hit]",
			"const d = held; [Object.keys(d), Object.getOwnPropertyDescriptor(d, " + q +
				").value, Object.getPrototypeOf(d) === Object.prototype, typeof hit]",
		} {
			r := run(t, e,
				sandbox.Script{Code: code, Input: data,
					Context: map[string]json.RawMessage{"held": data, "a" + name: json.RawMessage("1")},
					Files:   map[string][]byte{"d.json": data, "n.js": nil}}, sandbox.Grants{})
			var got []any
			if err := json.Unmarshal(r.Value, &got); err != nil || len(got) != 4 {
				t.Errorf("%q in %.30s: %s, %s", name, code, r.Value, r.Error)
				continue
			}
			if fmt.Sprint(got[0]) != "["+name+"]" {
				t.Errorf("%q in %.30s is exported as %v", name, code, got[0])
			}
			if diff := cmp.Diff([]any{7.0, true, "undefined"}, got[1:]); diff != "" {
				t.Errorf("%q in %.30s injects (-want +got):\n%s", name, code, diff)
			}
		}
	}
}

// A script may use the names of the code that is generated around it, except $airlock.
func TestScriptsUseEveryName(t *testing.T) {
	e := newEngine(t)
	files := map[string][]byte{"m.js": []byte("export default 7"), "c.js": []byte("module.exports = 7")}
	for _, name := range []string{"$airlock_table", "table", "script", "script_default", "start", "name", "host",
		"__require", "__commonJS", "__export", "__toESM", "import_m", "m_default", "require_c", "airlock", "default_1",
		"stdin"} {
		for _, code := range []string{
			"import x from './m.js'; let %[1]s = x; %[1]s",
			"import x from './m.js'; const f = function %[1]s() { return x }; f()",
			"import %[1]s from './m.js'; export default () => %[1]s",
			"import x from './m.js'; %[1]s: for (;;) { break %[1]s } x",
			"import x from './m.js'; class %[1]s { static v = x } %[1]s.v",
			"const %[1]s = require('./c.js'); %[1]s",
			"const n = ['./c', '.js'].join(''); const %[1]s = require(n); %[1]s",
			"export default function handler(a, b, %[1]s = 7) { return %[1]s }",
			"import x from './m.js'; export function handler() { var %[1]s = x; return %[1]s }",
		} {
			if r := run(t, e, sandbox.Script{Code: fmt.Sprintf(code, name), Files: files},
				sandbox.Grants{}); string(r.Value) != "7" {
				t.Errorf(code+": %[2]s, %[3]s", name, r.Value, r.Error)
			}
		}
	}
}

// A comment that names a source map does not change the position of an error.
func TestSourceMapComments(t *testing.T) {
	e := newEngine(t)
	// It leads to line 4242.
	const sourceMap = `{"version":3,"sources":["elsewhere.js"],"names":[],` +
		`"mappings":"AAipIA;AACA;AACA;AACA;AACA;AACA;AACA"}`
	file := filepath.Join(t.TempDir(), "map.json")
	if err := os.WriteFile(file, []byte(sourceMap), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"file://" + file, "file://localhost" + file, strings.Repeat("../", 400) + file[1:],
		"data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(sourceMap)),
		"data:application/json,%7B%22version%22:3%7D", "elsewhere.js"} {
		for _, comment := range []string{"//# sourceMappingURL=%s", "//@ sourceMappingURL=%s", "/*# sourceMappingURL=%s */",
			"/*@ sourceMappingURL=%s */", "//# sourceURL=%s", "x = '//# sourceMappingURL=%s'",
			"x = /[/]*# sourceMappingURL=/; //# sourceMappingURL=%s"} {
			for _, code := range []string{"import './n.js';\nlet x;\nthrow new Error('where');\n",
				"import type { T } from './t.ts';\nlet x: any;\nthrow new Error('where');\n",
				"let x;\n\nthrow new Error('where');\n", "import { f } from './f.js';\n\nf();let x;\n"} {
				s := sandbox.Script{Code: code + fmt.Sprintf(comment, url), TypeScript: strings.Contains(code, "any"),
					Files: map[string][]byte{
						"n.js": nil, "t.ts": []byte("export type T = 1"),
						"f.js": []byte("\nlet x; export const f = () => { throw new Error('where') };\n" + fmt.Sprintf(comment, url)),
					}}
				r := run(t, e, s, sandbox.Grants{})
				what := fmt.Sprintf(comment, url[:min(len(url), 40)])
				if r.Exception == nil || r.Exception.Line > 3 {
					t.Errorf("%s after %q: %+v %s", what, code, r.Exception, r.Error)
					continue
				}
				if stack := r.Exception.Stack; strings.Contains(stack, "424") || strings.Contains(stack, "elsewhere") {
					t.Errorf("%s after %q: %s", what, code, stack)
				}
			}
		}
	}
	r := run(t, e,
		sandbox.Script{
			Code: "import './n.js'; ['//# sourceMappingURL=a', `/*@ sourceMappingURL=b`, /\\/\\/# " +
				"sourceMappingURL=/.test('//# sourceMappingURL=')]", Files: map[string][]byte{"n.js": nil},
		}, sandbox.Grants{})
	if string(r.Value) != `["//# sourceMappingURL=a","/*@ sourceMappingURL=b",true]` {
		t.Errorf("strings like such comments: %s, %s", r.Value, r.Error)
	}
}
