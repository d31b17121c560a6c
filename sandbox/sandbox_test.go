package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

func newEngine(t testing.TB) *sandbox.Engine {
	t.Helper()
	e, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

func TestTry(t *testing.T) {
	e := newEngine(t)
	for _, code := range []string{"1+1", "const fib = n => n <= 1 ? n : fib(n-1) + fib(n-2); console.log(fib(10));", "throw new Error('x')", "\n  foo.bar", "const a=1\na+", "async () => { await new Promise(r=>setTimeout(r,5)); return {a:[1,2n,new Date(0),new Map([[1,2]])]} }",
		"console.log({a:1,b:[1,2,{c:3}]}, 'x', new Map([[1,{a:2}]]), new Error('boo'), ()=>1); output = 5",
		"(function f(){ f() })()", "const a=[]; for(;;) a.push(new Array(1000).fill(1))", "await new Promise(()=>{})", "const o={a:{}}; o.a.b=o; o", "for(let i=0;i<200;i++) console.log(i)"} {
		r, err := e.Run(t.Context(), sandbox.Script{Code: code}, sandbox.Grants{})
		if len(r.Logs) > 3 {
			r.Logs = r.Logs[:3]
			r.Output = r.Output[:20]
		}
		t.Logf("%s\n => %s err=%q ex=%+v limit=%s out=%q logs=%v usage=%+v pure=%v %v", code, r.Value, r.Error, r.Exception, r.Limit, r.Output, r.Logs, r.Usage, r.Pure, err)
	}
}

func BenchmarkRun(b *testing.B) {
	e := newEngine(b)
	for b.Loop() {
		r, err := e.Run(b.Context(), sandbox.Script{Code: "const f=n=>n<2?n:f(n-1)+f(n-2); JSON.stringify({a:f(10)})"}, sandbox.Grants{})
		if err != nil || r.Error != "" {
			b.Fatal(r, err)
		}
	}
}
