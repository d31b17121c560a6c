package sandbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestCodeThatRunsAgain checks that cached code changes nothing: neither the value, nor the positions of errors, nor
// the meaning of the same text in another language.
func TestCodeThatRunsAgain(t *testing.T) {
	e := newEngine(t)
	typed := "const n: number = 1;\nthrow new Error('late' + n)"
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range 10 {
				js := run(t, e, sandbox.Script{Code: typed}, sandbox.Grants{})
				if js.Exception == nil || js.Exception.Name != "SyntaxError" || js.Exception.Line != 1 {
					t.Errorf("as JavaScript: %+v", js.Exception)
				}
				ts := run(t, e, sandbox.Script{Code: typed, TypeScript: true}, sandbox.Grants{})
				if ts.Exception == nil || ts.Exception.Message != "late1" || ts.Exception.Line != 2 {
					t.Errorf("as TypeScript: %+v", ts.Exception)
				}
				filler := fmt.Sprintf("/*%d %s*/ %d", i, strings.Repeat("x", 40<<10), i)
				if r := run(t, e, sandbox.Script{Code: filler}, sandbox.Grants{}); string(r.Value) != fmt.Sprint(i) {
					t.Errorf("%s %s", r.Value, r.Error)
				}
				if r := run(t, e, sandbox.Script{Code: "input + 1", Input: fmt.Append(nil, i)},
					sandbox.Grants{}); string(r.Value) != fmt.Sprint(i+1) {
					t.Errorf("%s, want %d", r.Value, i+1)
				}
			}
		})
	}
	workers.Wait()
}
