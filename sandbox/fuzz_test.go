package sandbox_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// FuzzRun checks that Run returns for any code, with JSON or with an error of the guest, within its limits.
func FuzzRun(f *testing.F) {
	for _, a := range attacks(f) {
		f.Add(a.code, false)
	}
	for _, code := range []string{"1 + 1", "{a: 1}", "```js\n1\n```", "return 1; 2", "enum E { A }; E.A", "a\n++b",
		"`${`${1}`}`", "/[/]/ / 2", "<!-- x", "async", "}{", "\x00", "\xff", "#!x\n1"} {
		f.Add(code, false)
		f.Add(code, true)
	}
	e := newEngine(f)
	grants := sandbox.Grants{Limits: sandbox.Limits{Wall: 50 * time.Millisecond, MemoryBytes: 8 << 20}}
	f.Fuzz(func(t *testing.T, code string, typescript bool) {
		r, err := e.Run(t.Context(), sandbox.Script{Code: code, TypeScript: typescript}, grants)
		if err != nil {
			t.Fatal(err)
		}
		if r.Completed() != json.Valid(r.Value) {
			t.Fatalf("value %q, error %q", r.Value, r.Error)
		}
		ex := r.Exception
		if ex == nil {
			return
		}
		if min(ex.Line, ex.Column) < 0 || ex.Line > 1 && len(code) < ex.Line-2 {
			t.Fatalf("position %d:%d in %d bytes", ex.Line, ex.Column, len(code))
		}
	})
}
