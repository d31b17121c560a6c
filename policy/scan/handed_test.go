package scan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/policy/scan"
)

// A scan that is handed over counts for its own input only: whatever a scan depends on makes it another's.
func TestHanded(t *testing.T) {
	input := func() scan.Input {
		return scan.Input{
			Code: "process.env.A", Language: "javascript", Files: map[string]string{"a.js": "1", "b.js": "2"},
			Names: []string{"x.txt", "y.txt"}, Globals: []string{"g", "h"},
			Powers:   scan.Powers{Modules: []string{"url", "util"}, Packages: []string{"lodash", "zod"}},
			Patterns: []string{"a", "b"},
		}
	}
	found, err := scan.New().Scan(t.Context(), input())
	if err != nil {
		t.Fatal(err)
	}
	analysis, err := json.Marshal(found.Analysis)
	if err != nil {
		t.Fatal(err)
	}
	handed := scan.Hand(input(), analysis)
	for name, c := range map[string]struct {
		change func(in *scan.Input)
		same   bool
	}{
		"nothing":           {func(*scan.Input) {}, true},
		"order of names":    {func(in *scan.Input) { in.Names = []string{"y.txt", "x.txt"} }, true},
		"order of globals":  {func(in *scan.Input) { in.Globals = []string{"h", "g"} }, true},
		"code":              {func(in *scan.Input) { in.Code += " " }, false},
		"language":          {func(in *scan.Input) { in.Language = "typescript" }, false},
		"content of a file": {func(in *scan.Input) { in.Files["a.js"] = "3" }, false},
		"name of a file":    {func(in *scan.Input) { delete(in.Files, "a.js"); in.Files["c.js"] = "1" }, false},
		"files exchanged":   {func(in *scan.Input) { in.Files = map[string]string{"a.js": "2", "b.js": "1"} }, false},
		"another name":      {func(in *scan.Input) { in.Names[0] = "z.txt" }, false},
		"a name less":       {func(in *scan.Input) { in.Names = in.Names[:1] }, false},
		"a name is a global": {func(in *scan.Input) {
			in.Names, in.Globals = nil, []string{"g", "h", "x.txt", "y.txt"}
		}, false},
		"another global":  {func(in *scan.Input) { in.Globals[0] = "process" }, false},
		"another module":  {func(in *scan.Input) { in.Powers.Modules[0] = "fs" }, false},
		"another package": {func(in *scan.Input) { in.Powers.Packages[0] = "left-pad" }, false},
		"a package as module": {func(in *scan.Input) {
			in.Powers.Modules, in.Powers.Packages = []string{"lodash", "url", "util"}, []string{"zod"}
		}, false},
		"dormant functions":   {func(in *scan.Input) { in.Powers.Dormant = true }, false},
		"eval":                {func(in *scan.Input) { in.Powers.Eval = true }, false},
		"network":             {func(in *scan.Input) { in.Powers.Network = true }, false},
		"reading":             {func(in *scan.Input) { in.Powers.ReadFiles = true }, false},
		"writing":             {func(in *scan.Input) { in.Powers.WriteFiles = true }, false},
		"a pattern more":      {func(in *scan.Input) { in.Patterns = append(in.Patterns, "c") }, false},
		"order of patterns":   {func(in *scan.Input) { in.Patterns = []string{"b", "a"} }, false},
		"every syntax error":  {func(in *scan.Input) { in.Syntax = true }, false},
		"only tokens":         {func(in *scan.Input) { in.Shallow = true }, false},
		"names run together":  {func(in *scan.Input) { in.Names = []string{"x.txty.txt"} }, false},
		"code runs into file": {func(in *scan.Input) { in.Code, in.Files["a.js"] = "process.env.A1", "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := input()
			c.change(&in)
			got, ok := scan.Handed(handed, in)
			if ok != c.same {
				t.Fatalf("it counts: %v", ok)
			}
			if diff := cmp.Diff(found.Analysis, got.Analysis); ok && diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, b := range []string{
		"", "null", "{}", "[", `{"sum":"","analysis":{"level":"safe"}}`, string(handed[:len(handed)-9]),
	} {
		if _, ok := scan.Handed([]byte(b), input()); ok {
			t.Errorf("%q counts", b)
		}
	}
}
