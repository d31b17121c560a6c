package scan_test

import (
	"flag"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// FuzzScan checks that any bytes get a consistent decision within the bound of work, and in a time that is in
// proportion to what the largest ordinary code takes. The time shows work that is not counted. A search for such code
// allows three times as much. A run of the seeds allows ten times: how the two kinds of code compare depends on the
// caches of the machine (1.8 times on one, 3.4 on another), and work that grows with the square of the size takes far
// more than ten.
func FuzzScan(f *testing.F) {
	factor := time.Duration(10)
	if search := flag.Lookup("test.fuzz"); search != nil && search.Value.String() != "" {
		factor = 3
	}
	archives, _ := filepath.Glob(filepath.Join("testdata", "corpus", "*.txtar"))
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(string(file.Data), false)
		}
	}
	for _, code := range hostileShapes() {
		f.Add(code, false)
		f.Add(code, true)
	}
	f.Add("```js\nlet x: number = `${`${1}`}`\n```", true)
	f.Add("a\\u{65}val\xff\xfe\x00/*", false)
	for _, code := range costlyValues() {
		f.Add(code[:min(len(code), 16<<10)], false)
	}
	set := policy.Default()
	ordinary := strings.Repeat(ordinaryUnit, most/len(ordinaryUnit))
	allowed := func() time.Duration { return factor * fastest(func() { set.Decide(policy.Request{Code: ordinary}) }) }
	longest := allowed()
	f.Fuzz(func(t *testing.T, code string, typed bool) {
		language := "javascript"
		if typed {
			language = "typescript"
		}
		before := processorTime()
		strict := set.Decide(policy.Request{Code: code, Language: language, Tier: "strict"})
		took := processorTime() - before
		agent := set.Decide(policy.Request{Code: code, Language: language, Tier: "agent"})
		for _, r := range strict.Reasons {
			if strings.Contains(r.Message, "failed") && r.Rule == "scan" {
				t.Fatalf("the scan panicked on %q", code)
			}
		}
		if taken, most := scan.Work(code, language); taken > most {
			t.Errorf("%d units of work, of %d", taken, most)
		}
		// Processor time also grows when other processes use the machine. A time that seems too long is measured again,
		// together with its reference.
		for tries, longest := 0, longest; took > longest && len(code) <= full; tries++ {
			if tries == 5 {
				t.Errorf("%v; %d times the largest ordinary code takes %v", took, factor, longest)
				break
			}
			took, longest = fastest(func() { set.Decide(policy.Request{Code: code, Language: language}) }), allowed()
		}
		if strict.Analysis.Score < agent.Analysis.Score {
			t.Errorf("strict scores %d, agent %d", strict.Analysis.Score, agent.Analysis.Score)
		}
		if strict.Effect == policy.Allow && agent.Effect == policy.Deny {
			t.Error("agent denies what strict allows")
		}
		lines := 1 + strings.Count(code, "\n") + strings.Count(code, "\r")
		for _, x := range strict.Analysis.Findings {
			if x.Line < 1 || x.Line > lines || x.Column < 1 {
				t.Errorf("at %d:%d of %d lines: %+v", x.Line, x.Column, lines, x)
			}
			if x.Category == "" || x.Message == "" {
				t.Errorf("no category or message: %+v", x)
			}
			if strings.ContainsAny(x.Excerpt, "\n\r") {
				t.Errorf("the excerpt has several lines: %q", x.Excerpt)
			}
		}
	})
}

// fastest returns the least processor time of a few runs, which other processes disturb the least.
func fastest(run func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 3 {
		before := processorTime()
		run()
		best = min(best, processorTime()-before)
	}
	return best
}

// hostileShapes returns short forms of what makes parsers recurse, backtrack or remember too much.
func hostileShapes() []string {
	repeat := func(s string) string { return strings.Repeat(s, 40) }
	return []string{
		repeat("("), repeat("["), repeat("{"), "let " + repeat("["), repeat("!"), repeat("a=>"), repeat("a?"), repeat("`${"),
		repeat("if(a)"),
		repeat("if(a);else "), repeat("a+") + "1", repeat("a.") + "a", "a" + repeat("()"), repeat("a=") + "1",
		repeat("class A{};"), repeat("``"),
		repeat("new "), repeat("a:"), repeat("async "), repeat("a<"), repeat("function f(){"), repeat("({a(){"), repeat("/"),
		repeat("'"), repeat("\\u{"),
		repeat("<!--"), repeat("import a from 'b';"), repeat("x?.["), repeat("yield "), repeat("**"), repeat("\u2028"),
		repeat("#a"), repeat("..."),
	}
}
