package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/engines"
)

// firstExecution is the first execution of SandboxAI's README.
const firstExecution = `{
    "code": "const fib = n => n <= 1 ? n : fib(n-1) + fib(n-2); console.log(fib(10));",
    "engine": "v8",
    "policy": "strict"
  }`

// needsV8 skips a test where V8 cannot be turned on.
func needsV8(t *testing.T) {
	t.Helper()
	version, err := engines.Output(t.Context(), nil, "node", "--version")
	if err != nil || version < "v20" || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("needs Node.js 20 or newer, and Linux on amd64")
	}
}

// Where V8 is turned on, requests for it run there, through a sealed function process, and the record says so.
func TestServeV8(t *testing.T) {
	t.Parallel()
	needsV8(t)
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000", "ENGINES=quickjs,v8", "PATH="+os.Getenv("PATH"), "AUDIT_CODE=keep")
	if !strings.Contains(p.start, "engine v8 (node-") || !strings.Contains(p.start, "no new code") {
		t.Errorf("the start says\n%s", p.start)
	}
	ctx := context.Background()
	status, r := p.post(ctx, t, "/api/execute", firstExecution)
	if status != 200 || r["engine"] != "v8" || r["output"] != "55\n" {
		t.Errorf("%d %v", status, r)
	}
	if build, _ := r["engineBuild"].(string); !strings.HasPrefix(build, "node-") || !strings.HasSuffix(build, "-jitless") {
		t.Errorf("the build is %q", build)
	}
	id, _ := r["id"].(string)
	var record map[string]any
	decode(t, get(t, p.url+"/api/audit/execution/"+id), &record)
	if record["engine"] != "v8" || record["engineBuild"] != r["engineBuild"] {
		t.Errorf("the record says engine %v, %v", record["engine"], record["engineBuild"])
	}
	_, r = p.post(ctx, t, "/api/audit/execution/"+id+"/replay", "")
	if detail, _ := r["detail"].(string); !strings.Contains(detail, "it ran on v8, which cannot be replayed") {
		t.Errorf("replay: %v", r)
	}
	for _, c := range []struct{ name, body, field, want string }{
		{"limit", `{"code": "for (;;) {}", "engine": "v8", "timeout": 200}`, "limit", "wall"},
		{"exception", `{"code": "let n: number = 1\nthrow new Error('no')", "language": "typescript", "engine": "v8"}`,
			"error", "Error: no"},
		{"default", `{"code": "1"}`, "engine", "quickjs"},
		{"seed", `{"code": "1", "engine": "v8", "seed": 1}`, "field", "seed"},
		{"debug", `{"code": "1", "engine": "v8", "debug": {"steps": true}}`, "field", "debug"},
		{"jsc", `{"code": "1", "engine": "jsc"}`, "field", "engine"},
	} {
		if status, r := p.post(ctx, t, "/api/execute", c.body); r[c.field] != c.want {
			t.Errorf("%s: %d %v", c.name, status, r)
		}
	}
	var engines struct {
		Items []struct {
			Name       string
			Available  bool
			Executions int
			Build      string
			Walls      []string
			Live       int

			TemplateBytes, ProcessBytes int
		}
	}
	decode(t, get(t, p.url+"/api/engines"), &engines)
	if len(engines.Items) != 3 {
		t.Fatalf("%d engines, want 3: %+v", len(engines.Items), engines)
	}
	v8 := engines.Items[1]
	if v8.Name != "v8" || !v8.Available {
		t.Errorf("the second engine is %s, available: %v", v8.Name, v8.Available)
	}
	if v8.Executions != 3 {
		t.Errorf("%d executions on v8, want 3", v8.Executions)
	}
	if len(v8.Walls) == 0 {
		t.Error("v8 has no walls")
	}
	if v8.TemplateBytes > 128<<20 || v8.ProcessBytes > 4<<20 || v8.ProcessBytes < 1<<10 {
		t.Errorf("v8 has %d bytes, and %d for each process", v8.TemplateBytes, v8.ProcessBytes)
	}
	if engines.Items[2].Available {
		t.Errorf("%s is available", engines.Items[2].Name)
	}
}

// Where JavaScriptCore is turned on, requests for it run there. ENGINE_JSC names its program.
func TestServeJSC(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("jsc")
	if err != nil || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("needs the jsc of WebKitGTK, and Linux on amd64")
	}
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000", "ENGINES=quickjs,jsc", "ENGINE_JSC="+binary, "AUDIT_CODE=keep")
	if !strings.Contains(p.start, "engine jsc (javascriptcore-") || !strings.Contains(p.start, "no new code") {
		t.Errorf("the start says\n%s", p.start)
	}
	ctx := context.Background()
	status, r := p.post(ctx, t, "/api/execute", strings.Replace(firstExecution, `"v8"`, `"jsc"`, 1))
	if status != 200 || r["engine"] != "jsc" || r["output"] != "55\n" {
		t.Errorf("%d %v", status, r)
	}
	build, _ := r["engineBuild"].(string)
	if !strings.HasPrefix(build, "javascriptcore-") || !strings.HasSuffix(build, "-jitless") {
		t.Errorf("the build is %q", build)
	}
	id, _ := r["id"].(string)
	var record map[string]any
	decode(t, get(t, p.url+"/api/audit/execution/"+id), &record)
	if record["engine"] != "jsc" || record["engineBuild"] != r["engineBuild"] {
		t.Errorf("the record says engine %v, %v", record["engine"], record["engineBuild"])
	}
	for _, c := range []struct{ name, body, field, want string }{
		{"limit", `{"code": "for (;;) {}", "engine": "jsc", "timeout": 200}`, "limit", "wall"},
		{"memory", `{"code": "const a = []; for (;;) a.push(new Array(1000).fill(1))", "engine": "jsc"}`, "status", "error"},
		{"exception", `{"code": "let n: number = 1\nthrow new Error('no')", "language": "typescript", "engine": "jsc"}`,
			"error", "Error: no"},
		{"seed", `{"code": "1", "engine": "jsc", "seed": 1}`, "field", "seed"},
		{"v8", `{"code": "1", "engine": "v8"}`, "field", "engine"},
	} {
		if status, r := p.post(ctx, t, "/api/execute", c.body); r[c.field] != c.want {
			t.Errorf("%s: %d %v", c.name, status, r)
		}
	}
	var engines struct {
		Items []struct {
			Name      string
			Available bool
			Walls     []string
		}
	}
	decode(t, get(t, p.url+"/api/engines"), &engines)
	if len(engines.Items) != 3 {
		t.Fatalf("%d engines, want 3: %+v", len(engines.Items), engines)
	}
	jsc := engines.Items[2]
	if jsc.Name != "jsc" || !jsc.Available {
		t.Errorf("the third engine is %s, available: %v", jsc.Name, jsc.Available)
	}
	if len(jsc.Walls) == 0 {
		t.Error("jsc has no walls")
	}
	if engines.Items[1].Available {
		t.Errorf("%s is available", engines.Items[1].Name)
	}
}

// Where only QuickJS exists, ENGINE_FALLBACK runs requests for V8 on it and says so; without it they are refused with
// the setting that would allow them.
func TestServeEngineFallback(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000", "ENGINE_FALLBACK=quickjs")
	if status, r := p.post(context.Background(), t, "/api/execute", firstExecution); status != 200 ||
		r["engine"] != "quickjs" || r["output"] != "55\n" {
		t.Errorf("%d %v", status, r)
	}
	p = start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	status, r := p.post(context.Background(), t, "/api/execute", firstExecution)
	if detail, _ := r["detail"].(string); status != 400 || !strings.Contains(detail, "ENGINES=quickjs,v8") {
		t.Errorf("%d %v", status, r)
	}
}

func TestEngineSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  []string
		says string
	}{
		{[]string{"ENGINES=v8"}, "ENGINES: must contain quickjs"},
		{[]string{"ENGINES=quickjs,spidermonkey"}, "ENGINES: must be a list of quickjs, v8"},
		{[]string{"ENGINE_FALLBACK=v8"}, "ENGINE_FALLBACK: must be quickjs"},
		{[]string{"ENGINE_JIT=yes"}, "ENGINE_JIT: must be true or false"},
		{[]string{"ENGINES=quickjs,v8", "INVOKER=lambda", "LAMBDA_FUNCTION=f"}, "ENGINES: functions on Lambda"},
	} {
		if code, _, errs := command(t, env(append(c.env, "PORT=0")...), "serve"); code != exitUsage ||
			!strings.Contains(errs, c.says) {
			t.Errorf("%v: %d %q", c.env, code, errs)
		}
	}
}

// An engine that the machine does not have is named at the start.
func TestEngineMissing(t *testing.T) {
	t.Parallel()
	const says = "ENGINES: jsc needs the program jsc, on the path or in ENGINE_JSC"
	for _, name := range []string{"serve", "doctor"} {
		code, out, errs := command(t, env("ENGINES=quickjs,jsc", "ENGINE_JSC=/no/such/jsc", "PORT=0",
			"AIRLOCK_STATE="+t.TempDir()), name)
		if code == 0 || !strings.Contains(out+errs, says) {
			t.Errorf("%s: %d %q %q", name, code, out, errs)
		}
	}
}

// Naming an engine turns it on for code that runs here.
func TestRunV8(t *testing.T) {
	needsV8(t)
	env := map[string]string{"AIRLOCK_CACHE_DIR": filepath.Join(os.TempDir(), "airlock-test-cache")}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"run", "--engine", "v8", "--json", "-e", "[1, 2].at(-1)"},
		func(name string) string { return env[name] }, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	var r struct {
		Engine string
		Result int
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || r.Engine != "v8" || r.Result != 2 {
		t.Errorf("%v: %s", err, stdout.String())
	}
	stderr.Reset()
	if code := run([]string{"run", "--engine", "spidermonkey", "-e", "1"}, func(name string) string { return env[name] },
		strings.NewReader(""), &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), "quickjs, v8") {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
