package scan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

const fib = "const fib = n => n <= 1 ? n : fib(n-1) + fib(n-2); console.log(fib(10));"

// places returns the scored findings as "line:column category".
func places(d policy.Decision) []string {
	out := []string{}
	for _, f := range d.Analysis.Findings {
		if f.Score > 0 {
			out = append(out, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Category))
		}
	}
	return out
}

func TestShapesAndPositions(t *testing.T) {
	for name, c := range map[string]struct {
		code, language string
		want           []string
	}{
		"expression":         {code: "eval('1')", want: []string{"1:1 code_injection"}},
		"object literal":     {code: "{a: 1, b: eval('1')}", want: []string{"1:11 code_injection"}},
		"anonymous function": {code: "function () {\n  return eval('1');\n}", want: []string{"2:10 code_injection"}},
		"async arrow":        {code: "async () => {\n  await 0; eval('1') }", want: []string{"2:12 code_injection"}},
		"return and await":   {code: "const x = await 1;\nreturn eval(x);", want: []string{"2:8 code_injection"}},
		"module": {code: "import { inspect } from 'util';\nexport default () => eval('1');",
			want: []string{"2:22 code_injection"}},
		"shebang":               {code: "#!/usr/bin/env node\neval('1')", want: []string{"2:1 code_injection"}},
		"fences":                {code: "\n```js\nlet a;\neval('1')\n```\n", want: []string{"4:1 code_injection"}},
		"fence inside":          {code: "```js\n0\n```\n`;eval('1');\n```", want: []string{"4:3 code_injection"}},
		"unclosed fence":        {code: "```\neval('1')", want: []string{"2:1 code_injection"}},
		"not a fence":           {code: "'```js'; eval('1')", want: []string{"1:10 code_injection"}},
		"carriage returns":      {code: "let a;\r\nlet b;\r\neval('1')", want: []string{"3:1 code_injection"}},
		"columns in characters": {code: "'äöü€😀'; eval('1')", want: []string{"1:10 code_injection"}},
		"every use": {code: "eval('1');\nlet f = 1; // eval\n  eval('2');",
			want: []string{"1:1 code_injection", "3:3 code_injection"}},
		"alias counts once":  {code: "const e = eval;\ne('1');\ne('2');", want: []string{"1:11 code_injection"}},
		"after comments":     {code: "/* eval */ x /* eval( */ = // eval\n eval", want: []string{"2:2 code_injection"}},
		"after strings":      {code: "f('eval', `eval ${1} eval`, /eval/, eval)", want: []string{"1:37 code_injection"}},
		"in a template hole": {code: "`a ${ eval('1') } b`", want: []string{"1:7 code_injection"}},
		"in a class": {code: "class A {\n  static x = eval('1');\n  #y() { return eval('2') }\n}",
			want: []string{"2:14 code_injection", "3:17 code_injection"}},
		"in a default": {code: "const f = ({ a = eval('1') }, b = eval) => a;",
			want: []string{"1:18 code_injection", "1:35 code_injection"}},
		"labels and switch": {code: "out: for (;;) { switch (x) { case 1: break out; default: eval('1') } }",
			want: []string{"1:58 code_injection"}},
		"do while": {code: "do { x() } while (eval('1'))", want: []string{"1:19 code_injection"}},
		"with":     {code: "with (globalThis) { eval('1') }", want: []string{"1:21 code_injection"}},
		"decorator": {code: "const d = () => {};\n@d class A {}\neval('1')",
			want: []string{"3:1 code_injection"}},
		"import attributes": {code: "import a from './a.json' with { type: 'json' };\neval('1')",
			want: []string{"2:1 code_injection"}},
		"typescript": {code: "interface A<T> { x: T }\nconst a: A<number> = { x: 1 };\nconst r = <any>eval('1' as string);",
			language: "typescript",
			want:     []string{"3:16 code_injection"}},
		"typescript module": {code: "import type { X } from 'fs';\nimport { inspect } from 'util';\nexport const a: X = " +
			"inspect(eval('1'));", language: "typescript",
			want: []string{"3:29 code_injection"}},
		"typescript return": {code: "enum E { A }\nreturn eval(E.A as any);", language: "typescript",
			want: []string{"2:8 code_injection"}},
		"typescript astral": {code: "const s: string = '😀😀'; eval(s);", language: "typescript",
			want: []string{"1:25 code_injection"}},
		"code in a string": {code: "eval(\"require('child_process')\")",
			want: []string{"1:1 code_injection", "1:1 command_execution", "1:1 module_loading"}},
		"caller's own names": {code: "mine.exec('a'); exec2(fetch2)", want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			d := policy.Default().Decide(policy.Request{Code: c.code, Language: c.language, Tier: "strict"})
			if d.Analysis.Unanalysed {
				t.Fatalf("not analysed: %+v", d.SyntaxError)
			}
			got := slices.DeleteFunc(places(d), func(s string) bool {
				return strings.HasSuffix(s, "module_loading") &&
					name != "code in a string"
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestGlobalsOfTheRequestShadow(t *testing.T) {
	code := "fs.readFile('a'); process.env; exec('x')"
	d := policy.Default().Decide(policy.Request{Code: code, Tier: "strict", Globals: []string{"fs", "process", "exec"}})
	if len(d.Analysis.Findings) != 0 {
		t.Errorf("got %+v", d.Analysis.Findings)
	}
}

func TestFilesOfTheRequestAreModules(t *testing.T) {
	ask := policy.Request{Code: "const { a } = require('./lib/a'); require('./b.js')", Tier: "strict",
		Files: map[string]string{"lib/a.js": "exports", "b.js": ""}}
	if d := policy.Default().Decide(ask); d.Analysis.Score != 0 {
		t.Errorf("got %+v", d.Analysis)
	}
	ask.Files = map[string]string{"lib/a.ts": "const x: number = 1;\n  eval('1');", "b.js": ""}
	d := policy.Default().Decide(ask)
	if got := places(d); !slices.Equal(got, []string{"2:3 code_injection"}) || d.Analysis.Findings[0].File != "lib/a.ts" {
		t.Errorf("got %v %+v", got, d.Analysis.Findings)
	}
}

func TestSyntaxErrors(t *testing.T) {
	set := policy.Default()
	for name, c := range map[string]struct {
		code, language string
		line, column   int
	}{
		"missing value":       {"let x = ;", "", 1, 9},
		"second line":         {"let a = 1;\nlet b = (2;\n", "", 2, 11},
		"inside fences":       {"```js\nlet a;\nlet = = 3;\n```", "", 3, 7},
		"unclosed":            {"if (true) {\n  f(", "", 2, 5},
		"unclosed string":     {"const s = 'abc", "", 1, 15},
		"bad type":            {"const a: = 1;", "typescript", 1, 10},
		"types in javascript": {"const a: number = 1;", "", 1, 8},
		"bad module":          {"import { a from 'b';", "", 1, 12},
		"only the engine":     {"let a; let a;", "", 1, 12},
	} {
		t.Run(name, func(t *testing.T) {
			d := set.Analyze(policy.Request{Code: c.code, Language: c.language, Tier: "standard"})
			if d.SyntaxError == nil || d.SyntaxError.Message == "" {
				t.Fatalf("got %+v", d.SyntaxError)
			}
			if got := d.SyntaxError; got.Line != c.line || got.Column != c.column {
				t.Errorf("at %d:%d, want %d:%d", got.Line, got.Column, c.line, c.column)
			}
			if d.Telemetry.IsValid || d.Effect != policy.Allow {
				t.Errorf("valid %v, effect %v", d.Telemetry.IsValid, d.Effect)
			}
		})
	}
	for code, language := range map[string]string{"function f() {\n": "", "f(1": "", "[1, 2": "",
		"const x = {a: 1": "typescript"} {
		if d := set.Analyze(policy.Request{Code: code, Language: language, Tier: "standard"}); d.SyntaxError == nil ||
			d.SyntaxError.Message != "Unexpected end of file" {
			t.Errorf("%q: %+v", code, d.SyntaxError)
		}
	}
	for _, code := range []string{fib, "return 1", "await 1", "function(){}", "{a:1,b:2}", "import 'x'; export {}",
		"async () => 1", "var yield; let async = 1", "", "#!/usr/bin/env node\n1"} {
		if d := set.Analyze(policy.Request{Code: code, Language: "javascript", Tier: "standard"}); d.SyntaxError != nil ||
			!d.Telemetry.IsValid {
			t.Errorf("%q: %+v", code, d.SyntaxError)
		}
	}
}

func TestSyntaxErrorsInFiles(t *testing.T) {
	set := policy.Default()
	ask := policy.Request{Code: "import './lib/a.ts'", Tier: "standard", Files: map[string]string{
		"lib/a.ts": "let n: number", "lib/b.jsx": "export default <a b='c'>{1}</a>",
		"lib/c.tsx": "let n: number = <b/> as any", "notes.txt": "let x = ;",
	}}
	if d := set.Analyze(ask); d.SyntaxError != nil {
		t.Errorf("got %+v", d.SyntaxError)
	}
	for _, entry := range []string{"lib/b.jsx", "lib/c.tsx"} {
		if d := set.Analyze(policy.Request{Code: ask.Files[entry], Entry: entry, Tier: "standard"}); d.SyntaxError != nil ||
			!d.Telemetry.IsValid {
			t.Errorf("%s: %+v", entry, d.SyntaxError)
		}
	}
	ask.Files["lib/d.ts"] = "let n: number\nlet m: ="
	d := set.Analyze(ask)
	if d.SyntaxError == nil || !d.Telemetry.IsValid {
		t.Fatalf("got %+v, valid %t", d.SyntaxError, d.Telemetry.IsValid)
	}
	if got := d.SyntaxError; got.File != "lib/d.ts" || got.Line != 2 {
		t.Errorf("at %s:%d", got.File, got.Line)
	}
}

func TestUnanalysedIsScannedByTokens(t *testing.T) {
	code := "let broken = ;\nrequire('child_process').exec('ls');\nx.execSync('a'); new Function('b'); process.env.A; " +
		"'eval(1)' // fetch()\n"
	d := policy.Default().Decide(policy.Request{Code: code, Tier: "strict"})
	if !d.Analysis.Unanalysed || d.Analysis.Level != threat.Critical || d.Telemetry.IsValid {
		t.Errorf("got %+v", d.Analysis)
	}
	want := []string{"1:14 unanalysed", "2:1 command_execution", "2:1 module_loading", "3:3 command_execution",
		"3:22 code_injection", "3:37 environment_access"}
	if got := places(d); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if d := policy.Default().Decide(policy.Request{Code: "let x = ;"}); d.Analysis.Level != threat.Medium ||
		d.Analysis.Score != 4 {
		t.Errorf("got %+v", d.Analysis)
	}
}

func TestTelemetry(t *testing.T) {
	code := `for (const x of input) { if (x && process.env) setTimeout(() => fetch(x)); }
while (y) { y.__proto__; eval(z); } await import('a'); require('b'); WebAssembly;`
	tele := policy.Default().Decide(policy.Request{Code: code}).Telemetry
	flags := threat.Flags{HasEval: true, HasRequire: true, HasProcess: true, HasDynamicImport: true, HasFetch: true,
		HasTimers: true, HasWebAssembly: true, HasProtoAccess: true}
	if tele.Flags != flags {
		t.Errorf("flags %+v", tele.Flags)
	}
	want := []string{"WebAssembly", "eval", "fetch", "input", "process", "require", "setTimeout", "y", "z"}
	if !slices.Equal(tele.AccessedIdentifiers, want) {
		t.Errorf("identifiers %v", tele.AccessedIdentifiers)
	}
	m := threat.Metrics{
		LoopCount: 2, FunctionCount: 1, Cyclomatic: 5, Lines: 2, Bytes: len(code), ASTNodeCount: 35, MaxDepth: 8,
	}
	if diff := cmp.Diff(m, tele.Metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestScoreAddsRepeatsOnce(t *testing.T) {
	set := policy.Default()
	for code, score := range map[string]int{
		"process.env.A": 3, "process.env.A; process.env.B": 6, "process.env.A; process.env.B; process.env.C": 6,
		"process.env.A; WebAssembly.compile(x)": 6,
	} {
		if d := set.Decide(policy.Request{Code: code, Tier: "strict"}); d.Analysis.Score != score {
			t.Errorf("%s: score %d, want %d", code, d.Analysis.Score, score)
		}
	}
	d := set.Decide(policy.Request{Code: strings.Repeat("eval(x);\n", 500), Tier: "strict"})
	if len(d.Analysis.Findings) != 100 || !d.Analysis.Truncated || d.Analysis.Score != 20 {
		t.Errorf("%d findings, truncated %v, score %d", len(d.Analysis.Findings), d.Analysis.Truncated, d.Analysis.Score)
	}
	var imports strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&imports, "import 'm%d';\n", i)
	}
	imports.WriteString("import { exec } from 'child_process'; exec('id')")
	if d := set.Decide(policy.Request{Code: imports.String(), Tier: "agent"}); d.Effect != policy.Deny {
		t.Error("a flood of granted modules hides one that is never granted")
	}
	many := strings.Repeat("fetch(x);\n", 500) + "process.binding('a')"
	if d := set.Decide(policy.Request{Code: many, Tier: "agent"}); d.Effect != policy.Deny {
		t.Error("a flood of granted findings hides one that counts")
	}
}

// Code of many names is analysed, also if esbuild must read it. Names that look alike are not taken for names that are
// declared twice.
func TestManyNamesAreAnalysed(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&code, "const name%d = call%d(first%d!, second%d);\n", i, i, i, i)
	}
	d := policy.Default().Decide(policy.Request{Code: code.String(), Language: "typescript"})
	if d.Analysis.Unanalysed {
		t.Errorf("%d bytes are unanalysed: %+v", code.Len(), d.Analysis)
	}
}
