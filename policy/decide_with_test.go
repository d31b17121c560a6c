package policy_test

import (
	"context"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// TestDecideWith checks that DecideWith decides as Decide does, and that a failed scan allows nothing.
func TestDecideWith(t *testing.T) {
	t.Parallel()
	set := parsed(t, "forbid: {patterns: [{name: marker, pattern: 'SEC' }, {name: other, pattern: 'x+y'}], "+
		"categories: [webassembly]}\n")
	reader := scan.New()
	wired := func(ctx context.Context, text scan.Input) (scan.Result, error) {
		parts, err := text.Parts()
		if err != nil {
			t.Fatal(err)
		}
		var there scan.Input
		if err := there.UnmarshalBinary([]byte(strings.Join(parts, ""))); err != nil {
			t.Fatal(err)
		}
		return reader.Scan(ctx, there)
	}
	for _, ask := range []policy.Request{
		{Code: "eval(1)"}, {Code: "let x: number = ", Language: "typescript"}, {Code: "WebAssembly.compile(x) // SECRET"},
		{Code: fib, Tier: "strict"},
		{Code: "require('./a'); fetch(x)", Files: map[string]string{"a.js": "xxy", "b.ts": "let n: = 1", "data.json": "{}"},
			Globals: []string{"fetch"}, Tier: "agent"},
		{Code: "import y from './nope'", Tier: "agent", Modules: []string{"crypto"}}, {Code: "x", Tier: "none"},
		{Code: strings.Repeat("x", 300<<10)},
	} {
		if got, err := set.DecideWith(t.Context(), ask, wired); err != nil || !reflect.DeepEqual(got, set.Decide(ask)) {
			t.Errorf("%.30q: with a reader %+v, %v", ask.Code, got, err)
		}
		if got, err := set.AnalyzeWith(t.Context(), ask, wired); err != nil || !reflect.DeepEqual(got, set.Analyze(ask)) {
			t.Errorf("%.30q: analysed with a reader %+v, %v", ask.Code, got, err)
		}
	}
	broken := func(context.Context, scan.Input) (scan.Result, error) {
		return scan.Result{}, os.ErrDeadlineExceeded
	}
	for _, sum := range []string{"", "a"} {
		if d, err := set.DecideWith(t.Context(), policy.Request{Code: "1", Sum: sum}, broken); err == nil ||
			d.Effect == policy.Allow {
			t.Errorf("unread code: %v %v", d.Effect, err)
		}
	}
	// An unfinished scan is not remembered.
	n := 0
	half := func(ctx context.Context, text scan.Input) (scan.Result, error) {
		n++
		found, err := reader.Scan(ctx, text)
		found.Unfinished = n == 1
		return found, err
	}
	for range 3 {
		if _, err := set.DecideWith(t.Context(), policy.Request{Code: "2", Sum: "b"}, half); err != nil {
			t.Fatal(err)
		}
	}
	if n != 2 {
		t.Errorf("it was read %d times", n)
	}
}
