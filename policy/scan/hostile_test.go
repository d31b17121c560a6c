package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

const (
	full = 256 << 10
	// most is the size of dense code, a token in three or four bytes, that a scan can analyse within its work.
	most = 192 << 10
)

// hostileSizes returns sources of the largest accepted size whose shape costs parsers far more than their size.
func hostileSizes() map[string]string {
	fill := func(s string) string { return strings.Repeat(s, full/len(s)) }
	var names, arrows strings.Builder
	for i := 0; names.Len() < full-16; i++ {
		fmt.Fprintf(&names, "v%x;", i)
	}
	arrows.WriteString(names.String()[:full/2])
	for arrows.Len() < full-16 {
		arrows.WriteString(";a=>1")
	}
	nested := func(depth int) string {
		return strings.Repeat("{", depth) + names.String()[:full-2*depth-16] + strings.Repeat("}", depth)
	}
	out := map[string]string{
		"distinct names": names.String(), "arrows over names": arrows.String(), "names in 10 blocks": nested(10),
		"names in 800 blocks": nested(800), "binding patterns": "let " + strings.Repeat("[", full-8),
		"one string": "'" + strings.Repeat("x", full-2) + "'", "one comment": "/*" + strings.Repeat("x", full-4) + "*/",
		"one name": strings.Repeat("x", full), "growing string": "s='';" + strings.Repeat("s+='ab';", full/8-1),
		"calls with parameters": "function f(a,b){return a[b]};" + strings.Repeat("f(globalThis,'eval');", full/21-2),
	}
	for _, shape := range hostileShapes() {
		unit := shape[:len(shape)/40]
		out[unit] = fill(unit)
	}
	for name, code := range costlyValues() {
		out[name] = code
	}
	for _, unit := range []string{"eval(x);", "e=eval;e(e);", "o.x=eval;o.x();", "f=f||eval;", "f.bind(", "require('a');",
		"var{a:{b}}=x;",
		"function f(){setTimeout(f)}", "'ab'.split('').reverse().join('');", "eval('eval(1)');", "/* x */a;", "case 1:", "é;",
		"\x00", "\r", "a;", "`"} {
		out[unit] = fill(unit)
	}
	return out
}

// costlyValues returns sources whose values, not their syntax, cost far more than their size to follow.
func costlyValues() map[string]string {
	text := "s='" + strings.Repeat("ab", 2000) + "';"
	letters := text + "q=[...s];"
	choices := "a=x?'" + strings.Repeat("b", 2000) + "':'" + strings.Repeat("c", 2000) + "';a=y?a:'" +
		strings.Repeat("d", 2000) + "';"
	out := map[string]string{
		"patterns that call":   "function f({a=f(eval)+f(eval)}){};f(eval);",
		"patterns in patterns": strings.Repeat("let{a=()=>{", 40) + strings.Repeat("}}=globalThis;", 40),
	}
	for _, c := range []struct{ before, unit string }{
		{text, "s.split('');"}, {text, "[...s];"}, {text, "atob(s);"}, {text, "s.trim();"}, {text, "eval(s);"},
		{text, "new Function('a',s);"}, {text, "new Function('a',x+s);"}, {text, "eval(x+s);"}, {text, "s=x+s;eval(s);"},
		{"class F extends Function{constructor(a){super(a,s)}};" + text, "new F(s+x);"}, {"q=[];", "q.push(x+'a');q.join();"},
		{"", "if(a){}else Function('return require(\"'+s+'\")');"}, {"", "Array.prototype.a||(Array.prototype.a=()=>1);"},
		{"", "x=g(f)?f:Function(f);"}, {"const{a}=input;", "b=a;c=b;"},
		{"const t=input+'" + strings.Repeat("x", 4000) + "';", "new Function('a',t);"},
		{text, "`${s}${s}`;"}, {choices, "a+a;"},
		{letters, "q[z];"}, {letters, "for(i of q);"}, {letters, "q.map(f);"}, {letters, "q.concat(q);"},
		{letters, "q.reverse();"}, {letters, "f(...q);"},
		{letters, "f.apply(a,q);"}, {letters, "String(q);"}, {letters, "o.set(q);"}, {text + "q=s.split('',500);", "q+q;"},
		{text, "o.set(s);"},
		{"function f(" + strings.Repeat("a,", 1000) + "a){};", "f();"}, {"", "s=x?s+'a':s+'b';"},
		{"", "JSON.parse('[[[[1]]]]');"}, {"", "'a'.replace(/a/,'b');"},
		{"", "import('fs');"}, {"", "({a,b:{c}}=globalThis);"}, {"", "(a=>a)(eval);"}, {"", "\\u0065val(1);"},
		{"", "setInterval(()=>setInterval(f));"},
		{text, "setTimeout(s);"}, {text + "s='./'+s;", "require(s);"}, {"", "'a'.repeat(4096);"}, {"o={};", "o={...o};o.x;"},
		{"o={};", "if(a)o={...o};o.x;"},
		{letters + "function f(" + strings.Repeat("a,", 1000) + "a){};", "f.apply(a,q);"},
		{letters, "String.fromCharCode.apply(a,q);"}, {text, "encodeURIComponent(s);"},
		{"", "f=f.call;f();"}, {"f=x?eval:fetch;", "f.call.call.call(f);"},
		{"", "function f(){setTimeout(g)}function g(){f()}"},
	} {
		// Spaces keep the tokens few enough for the tree parser.
		unit := c.unit + strings.Repeat(" ", 2*len(c.unit))
		out[c.unit] = c.before + strings.Repeat(unit, (full-len(c.before))/len(unit))
	}
	return out
}

// TestHostileSizes scans every shape in both languages. What would cost too much is scanned by tokens. Without the
// bounds some of these take minutes, and others overflow the Go stack, from which nothing can recover.
func TestHostileSizes(t *testing.T) {
	set := policy.Default()
	for name, code := range hostileSizes() {
		for _, language := range []string{"javascript", "typescript"} {
			d := set.Decide(policy.Request{Code: code, Language: language, Tier: "strict"})
			if bad, ok := d.BadField(); ok {
				t.Errorf("%.20q: %v", name, bad)
			}
			for _, r := range d.Reasons {
				if r.Rule == "scan" {
					t.Errorf("%.20q in %s: %v", name, language, r)
				}
			}
			if len(d.Analysis.Findings) > 101 {
				t.Errorf("%.20q: %d findings", name, len(d.Analysis.Findings))
			}
		}
	}
}

// TestEvasionByNoise hides an attack behind shapes that make the parser give up. The scan by tokens finds it.
func TestEvasionByNoise(t *testing.T) {
	for _, noise := range []string{strings.Repeat("[", 2000) + strings.Repeat("]", 2000), strings.Repeat("a;", 90_000),
		strings.Repeat("a+", 3000) + "1",
		strings.Repeat("if(a){}else ", 2000) + ";", "x = y /re'`/ 2;", "@@@@"} {
		for _, code := range []string{noise + ";\nrequire('child_process').exec('ls')",
			"require('child_process').exec('ls');\n" + noise} {
			d := policy.Default().Decide(policy.Request{Code: code, Tier: "agent"})
			if d.Effect != policy.Deny {
				t.Errorf("%.20q…: %v", code, d.ReasonLines())
			}
		}
	}
}

// TestTooMuchWork checks that code whose values cost too much to follow gets a finding that says so, and a scan by
// tokens.
func TestTooMuchWork(t *testing.T) {
	for name, code := range costlyValues() {
		d := policy.Default().Decide(policy.Request{Code: code[:min(len(code), full-100)] +
			"*/\n;require('child_process').exec('ls')", Tier: "agent"})
		if d.Effect != policy.Deny {
			t.Errorf("%.20q…: %v", name, d.ReasonLines())
		}
	}
	d := policy.Default().Decide(policy.Request{Code: costlyValues()["s.split('');"]})
	if !d.Analysis.Unanalysed || d.Analysis.Level != threat.Medium {
		t.Fatalf("unanalysed %v, level %s", d.Analysis.Unanalysed, d.Analysis.Level)
	}
	for _, f := range d.Analysis.Findings {
		if f.Category == threat.Unanalysed && strings.Contains(f.Message, "exceed the limit on work") {
			return
		}
	}
	t.Errorf("no finding says why: %+v", d.Analysis.Findings)
}

// TestLargeCodeIsAnalysed checks that the bounds leave room for large programs: dense ones, and the largest with the
// usual share of comments and indentation.
func TestLargeCodeIsAnalysed(t *testing.T) {
	spaced := "// What the next function is for, in a line.\n" + strings.ReplaceAll(ordinaryUnit, "\n", "\n    ")
	for name, code := range map[string]string{
		"dense": strings.Repeat(ordinaryUnit, most/len(ordinaryUnit)), "spaced": strings.Repeat(spaced, full/len(spaced)),
	} {
		if d := policy.Default().Decide(policy.Request{Code: code, Tier: "strict"}); d.Analysis.Unanalysed ||
			d.Analysis.Score != 0 {
			t.Errorf("%s: %+v", name, d.Analysis)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	set := policy.Default()
	ordinary := strings.Repeat(ordinaryUnit, 10<<10/len(ordinaryUnit))
	for _, c := range []struct{ name, code, language string }{
		{"small", fib, ""},
		{"ordinary 10 KiB", ordinary, ""},
		{"ordinary 192 KiB", strings.Repeat(ordinaryUnit, most/len(ordinaryUnit)), ""},
		{"typescript small", "const f = (n: number): number => n + 1; console.log(f(1));", "typescript"},
		{"typescript 10 KiB", ordinary, "typescript"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.code)))
			b.ReportAllocs()
			for b.Loop() {
				set.Decide(policy.Request{Code: c.code, Language: c.language})
			}
		})
	}
}

// BenchmarkHostile shows that no shape of 256 KiB costs far more than its size: under 20 ms each on a quiet core.
func BenchmarkHostile(b *testing.B) {
	set := policy.Default()
	for name, code := range hostileSizes() {
		b.Run(fmt.Sprintf("%.16q", name), func(b *testing.B) {
			for b.Loop() {
				set.Decide(policy.Request{Code: code})
			}
		})
	}
}

const ordinaryUnit = `
// Sums the orders of each customer and keeps the best ones.
function best(orders, limit = 10) {
  const totals = new Map();
  for (const { customer, items } of orders) {
    const sum = items.reduce((acc, item) => acc + item.price * item.quantity, 0);
    totals.set(customer, (totals.get(customer) ?? 0) + sum);
  }
  return [...totals].sort(([, a], [, b]) => b - a).slice(0, limit).map(([name, total]) => ({
    name: name.trim().toLowerCase(), total: Math.round(total * 100) / 100, label: ` + "`${name}: ${total}`" + `,
  }));
}
`
