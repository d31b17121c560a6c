package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

func TestDebug(t *testing.T) {
	e := newEngine(t)
	code := `function outer() { return inner() }
function inner() { let n = 0; for (let i = 0; i < 3e6; i++) n += i; return n }
console.log('a');
const o = {b: 1, c() { return 2 }};
if (o.b) { outer(); }
for (let i = 0; i < 2; i++) {
  o.c()
  o.b++
}
o.b`
	r, err := e.Run(t.Context(), sandbox.Script{Code: code},
		sandbox.Grants{Debug: sandbox.Debug{StackTraces: true, Profile: true, Steps: true},
			Limits: sandbox.Limits{Wall: 10 * time.Second}})
	if err != nil || string(r.Value) != "3" {
		t.Fatalf("%s %s %v", r.Value, r.Error, err)
	}
	d := r.Debug
	if len(d.StackTraces) != 1 || !strings.Contains(d.StackTraces[0].Stack, "script.js:3:") {
		t.Errorf("stack traces: %+v", d.StackTraces)
	}
	var lines []string
	for _, s := range d.Steps {
		lines = append(lines, fmt.Sprint(s.Line))
	}
	if got := strings.Join(lines, ","); got != "3,4,5,5,1,2,2,2,6,7,4,8,7,4,8,10" {
		t.Errorf("steps: %s", got)
	}
	var file struct {
		Shared struct {
			Frames []struct{ Name string }
		}
		Profiles []struct {
			Type    string
			Samples [][]int
			Weights []int64
		}
	}
	if err := json.Unmarshal(d.Profile, &file); err != nil || len(file.Profiles) != 1 ||
		len(file.Profiles[0].Samples) == 0 {
		t.Fatalf("profile: %v %s", err, d.Profile)
	}
	var names []string
	for _, i := range file.Profiles[0].Samples[len(file.Profiles[0].Samples)/2] {
		names = append(names, file.Shared.Frames[i].Name)
	}
	if got := strings.Join(names, " "); !strings.HasSuffix(got, "outer inner") {
		t.Errorf("profile: %s", got)
	}
}

// TestEntrySteps checks that steps are reported for an entry among the files as they are for code.
func TestEntrySteps(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{
		Entry: "src/main.ts", Version: "v", Input: []byte("2"),
		Files: files("src/main.ts",
			"import { twice } from './twice.js';\nlet seen: number = 0;\nexport default (n: number) => {\n  const m = "+
				"twice(n);\n  return m + seen;\n};\n", "src/twice.ts",
			"export const twice = (n: number) => {\n  return n * 2;\n};\n"),
	}
	r := run(t, e, script, sandbox.Grants{Debug: sandbox.Debug{Steps: true}})
	lines := []int{}
	if r.Debug != nil {
		for _, s := range r.Debug.Steps {
			lines = append(lines, s.Line)
		}
	}
	if string(r.Value) != "4" || fmt.Sprint(lines) != "[2 4 5]" || r.Warm {
		t.Errorf("%s %q, lines %v, warm %v", r.Value, r.Error, lines, r.Warm)
	}
}

// TestDebugChangesNothing checks that code has the same result with every report on.
func TestDebugChangesNothing(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ code, want string }{
		{"'use strict'; (function () { return this })() === undefined", "true"},
		{"do { var x = 1 } while (0)\nx", "1"},
		{"const f = x => ({a: x,\n b: 2}); f(1).a\n+ 1", "2"},
		{"label: for (const a of [1, 2]) { for (;;) { continue label } } 5", "5"},
		{"switch (1) { case 1: 1; break; default: 2 } 7", "7"},
		{"class A { x = 1; static { A.y = 2 } get z() { return this.x } } [new A().z, A.y]", "[1,2]"},
		{"const s = `${[1, 2].map(x => { return x + 1; }).join()}`; s", `"2,3"`},
		{"let a = 1\nlet b = a\n/2/1\nb", "0.5"},
		{"async () => { await 1; return 3 }", "3"},
		{"({a: 1})", `{"a":1}`},
		{"try { throw 1 } catch { 2 } finally { 3 } 4", "4"},
		{"if (0) 1; else 2; 9", "9"},
		{"for (var i = 0; i < 3; i++);\ni", "3"},
		{"import {a} from './a.js'; a", "1"},
	} {
		script := sandbox.Script{Code: c.code, Files: files("a.js", "export const a = 1")}
		r, err := e.Run(t.Context(), script,
			sandbox.Grants{Debug: sandbox.Debug{StackTraces: true, Profile: true, Steps: true}})
		if err != nil || string(r.Value) != c.want {
			t.Errorf("%s: %s %s %v, want %s", c.code, r.Value, r.Error, err, c.want)
		}
	}
	r, err := e.Run(t.Context(),
		sandbox.Script{Code: "Error.stackTraceLimit = 0; Object.defineProperty(Error, 'stackTraceLimit', {get() { throw " +
			"1 }}); Error.prepareStackTrace = () => { throw 2 }; for (;;) [1].map(x => x)"},
		sandbox.Grants{Debug: sandbox.Debug{Profile: true, Steps: true}, Limits: sandbox.Limits{Wall: 50 * time.Millisecond}})
	if err != nil || r.Limit != sandbox.LimitWall || r.Debug == nil {
		t.Errorf("hostile: %+v %v", r, err)
	}
}
