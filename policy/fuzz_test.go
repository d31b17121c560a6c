package policy_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
	"golang.org/x/tools/txtar"
)

// FuzzScan checks that any bytes get a decision that holds together.
func FuzzScan(f *testing.F) {
	archives, _ := filepath.Glob(filepath.Join("testdata", "scan", "*.txtar"))
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
	set := policy.Default()
	f.Fuzz(func(t *testing.T, code string, typed bool) {
		language := "javascript"
		if typed {
			language = "typescript"
		}
		strict := set.Decide(policy.Ask{Code: code, Language: language, Tier: "strict"})
		agent := set.Decide(policy.Ask{Code: code, Language: language, Tier: "agent"})
		for _, r := range strict.Reasons {
			if strings.Contains(r.Message, "failed") && r.Rule == "scan" {
				t.Fatalf("the scan panicked on %q", code)
			}
		}
		if strict.Analysis.Score < agent.Analysis.Score {
			t.Errorf("strict scores %d, agent %d", strict.Analysis.Score, agent.Analysis.Score)
		}
		if strict.Effect == policy.Allow && agent.Effect == policy.Deny {
			t.Error("agent denies what strict allows")
		}
		lines := 1 + strings.Count(code, "\n") + strings.Count(code, "\r")
		for _, x := range strict.Analysis.Findings {
			if x.Line < 1 || x.Line > lines || x.Column < 1 || x.Category == "" || x.Message == "" || strings.ContainsAny(x.Excerpt, "\n\r") {
				t.Errorf("finding %+v", x)
			}
		}
	})
}

// hostileShapes are short forms of what makes parsers recurse, backtrack or remember too much.
func hostileShapes() []string {
	repeat := func(s string) string { return strings.Repeat(s, 40) }
	return []string{
		repeat("("), repeat("["), repeat("{"), "let " + repeat("["), repeat("!"), repeat("a=>"), repeat("a?"), repeat("`${"), repeat("if(a)"),
		repeat("if(a);else "), repeat("a+") + "1", repeat("a.") + "a", "a" + repeat("()"), repeat("a=") + "1", repeat("class A{};"), repeat("``"),
		repeat("new "), repeat("a:"), repeat("async "), repeat("a<"), repeat("function f(){"), repeat("({a(){"), repeat("/"), repeat("'"), repeat("\\u{"),
		repeat("<!--"), repeat("import a from 'b';"), repeat("x?.["), repeat("yield "), repeat("**"), repeat("\u2028"), repeat("#a"), repeat("..."),
	}
}
