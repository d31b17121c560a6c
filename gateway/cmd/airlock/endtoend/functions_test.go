package endtoend_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
)

// call sends a request and returns the status and the body.
func (s *service) call(t testing.TB, method, path string, body any) (int, []byte) {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Cache-Control", "no-store")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, text
}

func (s *service) put(t testing.TB, name string, definition map[string]any) {
	t.Helper()
	if status, text := s.call(t, http.MethodPut, "/api/functions/"+name, definition); status != 201 {
		t.Fatalf("PUT %s: %d %s", name, status, text)
	}
}

func (s *service) invoke(t testing.TB, name string, call map[string]any) execution.Result {
	t.Helper()
	status, text := s.call(t, http.MethodPost, "/api/functions/"+name+"/invoke", call)
	var r execution.Result
	if err := json.Unmarshal(text, &r); err != nil || status != 200 {
		t.Fatalf("invoke %s: %d %s", name, status, text)
	}
	return r
}

// Saved functions of every form, in JavaScript and TypeScript, in one file and several, are called with input and
// context. They start from an image if the top level allows it; each call has its own guest; errors have the positions
// of the source.
func TestFunctions(t *testing.T) {
	s := serve(t, "on", 2)
	lib := "export type Row = { n: number };\nexport const rows: Row[] = [{ n: 1 }, { n: 2 }];\nexport function " +
		"fail(x: number): never {\n  throw new RangeError(`no ${x}`);\n}\n"
	for _, c := range []struct {
		name       string
		definition map[string]any
		want       string // of input {"n":3} and context {"k":"v"}
		cold       string
	}{
		{"default", map[string]any{"code": "let calls = 0; export default async (input, context) => [input.n, context.k, " +
			"k, ++calls]"}, `[3,"v","v",1]`, ""},
		{"named", map[string]any{"code": "export default async function main(input) { return input.n + 1 }"}, "4", ""},
		{"handler", map[string]any{"code": "export function handler(input) { return input.n * 2 }"}, "6", ""},
		{"commonjs", map[string]any{"code": "module.exports = async (input) => input.n * 3"}, "9", ""},
		{"arrow", map[string]any{"code": "async (input) => input.n * 4"}, "12", ""},
		{"statements", map[string]any{"code": "const n = input.n; n * 5"}, "15", ""},
		{"typescript", map[string]any{"language": "typescript",
			"code": "type In = { n: number };\nexport default (input: In): number => input.n * 6"}, "18", ""},
		{"files", map[string]any{"entry": "main.ts", "files": map[string]any{
			"main.ts": "import { rows, type Row } from './lib/rows.js';\nimport settings from './settings.json';\nexport " +
				"default (input: Row) => [rows.length, settings.unit, input.n];", "lib/rows.ts": lib,
			"settings.json": `{"unit":"mm"}`,
		}}, `[2,"mm",3]`, ""},
		{"env", map[string]any{"env": map[string]any{"BASE": "b"},
			"code": "const base = env.BASE; export default () => base"}, `"b"`,
			"it looks for env while it loads, which is different in each run"},
		{"clock", map[string]any{"code": "const at = Date.now(); export default (input) => at > 1e12 && input.n"}, "3",
			"it reads the clock while it loads"},
	} {
		s.put(t, c.name, c.definition)
		for i := range 4 {
			r := s.invoke(t, c.name, map[string]any{"input": map[string]any{"n": 3}, "context": map[string]any{"k": "v"}})
			if string(r.Result) != c.want {
				t.Errorf("%s, call %d: %s %v, want %s", c.name, i, r.Result, deref(r.Error), c.want)
			}
			if r.Function == nil || r.Function.Name != c.name {
				t.Errorf("%s, call %d: the function is %v", c.name, i, r.Function)
			}
			checkWarm(t, fmt.Sprintf("%s, call %d", c.name, i), r.Warm, r.ColdReason, c.cold)
			if record := s.recorded(t, r); record.Function == nil || record.Function.Name != c.name || record.CodeBytes == 0 {
				t.Errorf("%s: the record does not tell of the function: %+v", c.name, record.Function)
			}
		}
		status, text := s.call(t, http.MethodGet, "/api/functions/"+c.name, nil)
		var shown struct {
			Warm       *bool
			ColdReason string
		}
		if err := json.Unmarshal(text, &shown); err != nil || status != 200 {
			t.Errorf("GET %s: %d %v: %s", c.name, status, err, text)
		}
		checkWarm(t, "GET "+c.name, shown.Warm, shown.ColdReason, c.cold)
	}
	s.put(t, "failing", map[string]any{"entry": "src/main.ts", "files": map[string]any{
		"src/main.ts": "import { fail } from '../lib.js';\n\ninterface In { n: number }\nexport default function (input: " +
			"In) {\n  const twice: number = input.n * 2;\n  return fail(twice);\n}\n", "lib.ts": lib,
	}})
	for i := range 3 {
		r := s.invoke(t, "failing", map[string]any{"input": map[string]any{"n": 3}})
		if r.Exception == nil {
			t.Fatalf("call %d: no exception", i)
		}
		ex := *r.Exception
		if !strings.Contains(ex.Stack, "src/main.ts:6:") {
			t.Errorf("call %d: the stack is %q", i, ex.Stack)
		}
		want := execution.Exception{Name: "RangeError", Message: "no 6", File: "lib.ts", Line: 4, Column: ex.Column,
			Stack: ex.Stack}
		if diff := cmp.Diff(want, ex); diff != "" {
			t.Errorf("call %d: %s", i, diff)
		}
	}
	if status, text := s.call(t, http.MethodPut, "/api/functions/broken",
		map[string]any{"code": "\n\n  export default = 5"}); status != 400 ||
		!strings.Contains(string(text), `"line":3,"column":18`) {
		t.Errorf("%d %s", status, text)
	}
	s.put(t, "broken", map[string]any{"code": "export default /(/"}) // only the engine looks into it
	for range 2 {
		if r := s.invoke(t, "broken", map[string]any{}); r.Exception == nil || r.Exception.Name != "SyntaxError" {
			t.Errorf("%+v", r.Exception)
		}
	}
	s.put(t, "endless", map[string]any{"code": "for (;;) {}\nexport default 1", "timeout": 200})
	for range 2 {
		if r := s.invoke(t, "endless", map[string]any{}); r.Status != execution.TimedOut || deref(r.Limit) != "wall" {
			t.Errorf("%s %v", r.Status, deref(r.Error))
		}
	}
}

// checkWarm checks that a saved function is warm, or that it is cold for the reason cold.
func checkWarm(t testing.TB, name string, warm *bool, reason, cold string) {
	t.Helper()
	if warm == nil {
		t.Errorf("%s: does not say whether it is warm", name)
	} else if *warm != (cold == "") {
		t.Errorf("%s: warm is %v", name, *warm)
	}
	if reason != cold {
		t.Errorf("%s: cold because %q, want %q", name, reason, cold)
	}
}

func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// bundleOf returns code of about n bytes as bundlers write it.
func bundleOf(n int) string {
	var out strings.Builder
	out.WriteString("const modules = {};\n")
	for i := 0; out.Len() < n; i++ {
		fmt.Fprintf(&out, "modules.m%[1]d = (() => { const table = { name: 'module %[1]d', weights: [%[1]d, %[1]d * 2, 3] "+
			"};\n"+
			"  class Shape { #area = %[1]d; constructor(side) { this.side = side; } get area() { return this.#area * "+
			"this.side; } }\n"+
			"  const score = (input) => table.weights.reduce((sum, w) => sum + w * input.n, 0); return { table, Shape, score "+
			"}; })();\n", i)
	}
	out.WriteString("export default (input) => modules.m7.score(input);")
	return out.String()
}

// BenchmarkFunction compares, in turns and over HTTP, a function of nothing with one of 500 KB.
func BenchmarkFunction(b *testing.B) {
	s := serve(b, "on", 1)
	s.put(b, "nothing", map[string]any{"code": "export default () => 0"})
	s.put(b, "bundle", map[string]any{"code": bundleOf(500_000)})
	took := map[string][]time.Duration{}
	call := map[string]any{"input": map[string]any{"n": 1}}
	for range 3 {
		if r := s.invoke(b, "bundle", call); string(r.Result) != "24" || !deref(r.Warm) {
			b.Fatalf("%s %v %v", r.Result, deref(r.Error), r.ColdReason)
		}
		s.invoke(b, "nothing", call)
	}
	for b.Loop() {
		for _, name := range []string{"nothing", "bundle"} {
			start := time.Now()
			s.invoke(b, name, call)
			took[name] = append(took[name], time.Since(start))
		}
	}
	p50 := func(name string) float64 {
		slices.Sort(took[name])
		return float64(took[name][len(took[name])/2].Microseconds())
	}
	b.ReportMetric(p50("nothing"), "µs-p50-nothing")
	b.ReportMetric(p50("bundle"), "µs-p50-bundle")
	b.ReportMetric(p50("bundle")/p50("nothing"), "bundle/nothing")
}
