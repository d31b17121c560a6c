package main

import (
	"strings"
	"testing"
)

func TestSuggestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"run --polcy strict", "unknown flag: --polcy; did you mean --policy? (airlock run --help"},
		{"run --inptu 1", "did you mean --input?"},
		{"run --polic strict", "did you mean --policy?"},
		{"run --zzz", "unknown flag: --zzz (airlock run --help"},
		{"run -x", "unknown shorthand flag: 'x' in -x (airlock run --help"},
		{"run --timeout soon", "--timeout"},
		{"scan --servr x", "unknown flag: --servr ("},
		{"functions list --jsn", "did you mean --json?"},
		{"functions list --sever x", "did you mean --server?"},
		{"srve", `unknown command "srve" for "airlock"; did you mean serve?`},
		{"audti", "did you mean audit?"},
		{"functons", "did you mean functions?"},
		{"zzzzzz", `unknown command "zzzzzz" for "airlock" (airlock --help`},
	} {
		code, out, errs := command(t, env(), strings.Fields(c.args)...)
		if code != exitUsage || out != "" {
			t.Errorf("%s: %d %q", c.args, code, out)
		}
		if !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %q", c.args, errs)
		}
	}
}
