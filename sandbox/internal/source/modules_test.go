package source

import "testing"

// A quote or a bracket in a regular expression hides no import behind it, wherever the expression starts.
func TestImportBehindSlash(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		`for(const c of l)/["(]/.test(c);`, `for await(const c of l)/"/.test(c);`, `if(a)/{/.test(a);`,
		"while(a)/`/.test(a);", `{}/'/.test(a);`, `function f(){}/[{]/.test(a);`, `if(a){}else{}/"/.test(a);`,
		`try{}finally{}/"/.test(a);`, `()=>{};{{}/"/.test(a)}`, `n=o.if(8)/2;s="'"/2;`, `m={}/2;"/";`, `(a)/2;"/";`,
		`a[0]/2;"/";`, "`${a}`/2;'/';", `f({if:1})/2;"/";`, `m={a:{}/2};"/";`,
	} {
		if found := moduleSyntax(code + `import{a}from"./a.js";`); len(found.imports) != 1 {
			t.Errorf("%s: %+v", code, found)
		}
	}
}

// Decorators and TypeScript's x! hide no export behind them.
func TestExportBehindTypeScript(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"class A { @d f() {} }\n", "@d class A {}\n", "a! / 2;\n", "a()! / 2;\n", "a[0]! / 2;\n", "if (a) !/'/.test(b);\n",
		"a\n!/'/.test(b);\n", "x = a! / 2 + '/';\n",
	} {
		if !moduleSyntax(code + "export const b = 1").exports {
			t.Errorf("%s: no export was found", code)
		}
	}
}

// Code in which the quick search finds no computed path has none.
func TestMayHaveGlobs(t *testing.T) {
	t.Parallel()
	for code, may := range map[string]bool{
		`import("./" + x)`: true, "import(`./${x}.js`)": true, `require ( ( './a' + x ) )`: true,
		`import/* a */("./" + x)`: true, `import(/* a */ "./" + x)`: true, "require\u00a0('./' + x)": true,
		`require("./\"" + x)`: true, `important; require("./a" + x)`: true, "import\v('./' + x)": true,
		"require\n-->\n('./' + x)": true, `require("./a"`: true,
		`import a from "./a"`: false, `import("./a")`: false, "require(`a`), require( './b', 1)": false,
		`import(x + "./a")`: false, `require(x)`: false, `import.meta.url + "./a"`: false, `important("./a" + x)`: false,
	} {
		if got := mayHaveGlobs(code); got != may {
			t.Errorf("%s: %v, want %v", code, got, may)
		}
		if changed := withoutGlobs(code) != code; changed && !may {
			t.Errorf("%s is changed to %s", code, withoutGlobs(code))
		}
	}
}
