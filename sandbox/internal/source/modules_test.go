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
