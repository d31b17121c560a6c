package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/infra/engines"
	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/otherengine"
)

// processes makes processes of engines in this process.
type processes map[string]*engines.Pool

func (p processes) Take(ctx context.Context, engine string, memory int64) (sandbox.Process, error) {
	pool := p[engine]
	if pool == nil {
		return sandbox.Process{}, errors.New("no such engine")
	}
	proc, err := pool.Take(ctx, memory)
	if err != nil {
		return sandbox.Process{}, err
	}
	return sandbox.Process{Conn: proc.Conn, PID: proc.PID, Build: "build", Kill: proc.Kill}, nil
}

// openPool starts an engine, or skips the test where the engine's program is missing.
func openPool(t testing.TB, k otherengine.Kind, jit, warm bool) *engines.Pool {
	t.Helper()
	binary, err := exec.LookPath(k.Binary)
	if err != nil {
		t.Skip("needs " + k.Binary)
	}
	setup, err := k.SetUp(t.Context(), binary, jit, engines.Output)
	if errors.Is(err, otherengine.ErrUnfit) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !warm {
		setup.Warm, setup.Rehearsal = nil, nil
	}
	p, err := engines.Open(t.Context(), engines.Config{
		Name: k.Name, Command: setup.Command, Env: setup.Env, Program: setup.Program, Warm: setup.Warm,
		Rehearsal: setup.Rehearsal, JIT: jit,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// otherEngine returns a sandbox that has an engine besides QuickJS, and the engine's processes.
func otherEngine(t testing.TB, k otherengine.Kind) (*sandbox.Engine, *engines.Pool) {
	t.Helper()
	return otherEngineOf(t, k, false)
}

func otherEngineOf(t testing.TB, k otherengine.Kind, jit bool) (*sandbox.Engine, *engines.Pool) {
	t.Helper()
	return otherEngineWith(t, k, jit, true)
}

// otherEngineWith returns a sandbox as otherEngine does. warm says whether processes do a job's work before their job.
func otherEngineWith(t testing.TB, k otherengine.Kind, jit, warm bool) (*sandbox.Engine, *engines.Pool) {
	t.Helper()
	pool := openPool(t, k, jit, warm)
	e, err := sandbox.New(t.Context(), sandbox.Config{
		CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache"), Processes: processes{k.Name: pool},
		SkipSelfTest: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(context.Background()) })
	return e, pool
}

// eachOtherEngine runs f for each engine besides QuickJS that this machine has. One build of QuickJS besides is enough.
func eachOtherEngine(t *testing.T, f func(t *testing.T, e *sandbox.Engine, engine string)) {
	t.Helper()
	if oldBuild() {
		return
	}
	for _, k := range otherengine.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			e, _ := otherEngine(t, k)
			f(t, e, k.Name)
		})
	}
}

func TestOtherEngineShapes(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		for _, c := range codeShapes {
			if got := shapeOf(t, e, engine, c.code); got != c.want {
				t.Errorf("%q gave %s, want %s", c.code, got, c.want)
			}
		}
	})
}

// otherWords are messages of TestOtherEngineExceptions that differ on some engine.
var otherWords = map[string]string{
	"jsc/ReferenceError: foo is not defined":     "ReferenceError: Can't find variable: foo",
	"jsc/ReferenceError: oops is not defined":    "ReferenceError: Can't find variable: oops",
	"jsc/ReferenceError: missing is not defined": "ReferenceError: Can't find variable: missing",
}

// Errors have positions in the caller's source.
func TestOtherEngineExceptions(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		for _, c := range []struct {
			code         string
			typescript   bool
			error        string
			line, column int
		}{
			{"\n  foo.bar", false, "ReferenceError: foo is not defined", 2, 3},
			{"const a = 1\na+", false, "SyntaxError: Unexpected end of input", 2, 3},
			{"'日本'; oops()", false, "ReferenceError: oops is not defined", 1, 7},
			{"const a = 1;\nfunction f() {\n  throw new Error('no')\n}\nf()", false, "Error: no", 3, 9},
			{"let a: number = 1\nlet b: string = 'é'; missing(a)", true, "ReferenceError: missing is not defined", 2, 22},
			{"}); globalThis.z = 1; (async () => {", false, "SyntaxError: the code closes the function", 1, 2},
			{"throw null", false, "Error: null", 0, 0},
			{"throw { toString() { throw this } }", false, "Error: ", 0, 0},
			{"eval('1')", false, "TypeError: eval is not supported", 1, 1},
			{"(() => {}).constructor('return 1')()", false, "TypeError: eval is not supported", 1, 12},
			{"new Promise(() => {})", false, "the promise returned by the code never settles", 0, 0},
			{"Promise.reject(new RangeError('r')); new Promise(() => {})", false, "RangeError: r", 1, 16},
		} {
			r := run(t, e, sandbox.Script{Engine: engine, Code: c.code, TypeScript: c.typescript}, sandbox.Grants{})
			line, column := 0, 0
			if r.Exception != nil {
				line, column = r.Exception.Line, r.Exception.Column
			}
			if words := otherWords[engine+"/"+c.error]; words != "" {
				c.error = words
			}
			if !strings.HasPrefix(r.Error, c.error) || line != c.line || column != c.column {
				t.Errorf("%q: %q at %d:%d, want %q at %d:%d", c.code, r.Error, line, column, c.error, c.line, c.column)
			}
			for _, name := range []string{"airlock:", "node:", "eval"} {
				if r.Exception != nil && strings.Contains(r.Exception.Stack, name) {
					t.Errorf("%q: the stack shows %s of the library: %s", c.code, name, r.Exception.Stack)
				}
			}
		}
	})
}

// Each limit ends a run, is named, and leaves what was printed before.
func TestOtherEngineLimits(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		const short = time.Second // on a busy machine, too, the guest prints before
		for _, c := range []struct {
			name, code string
			limit      sandbox.Limit
			limits     sandbox.Limits
		}{
			{"wall", "for (;;) {}", sandbox.LimitWall, sandbox.Limits{Wall: short}},
			{"wall while waiting", "await new Promise((f) => setTimeout(f, 1e6))", sandbox.LimitWall,
				sandbox.Limits{Wall: short}},
			{"wall in a regular expression", "/(a*)*b/.test('a'.repeat(100))", sandbox.LimitWall,
				sandbox.Limits{Wall: short}},
			{"wall in caught code", "for (;;) try { for (;;) {} } catch {}", sandbox.LimitWall,
				sandbox.Limits{Wall: short}},
			{"processor", "for (;;) {}", sandbox.LimitCPU, sandbox.Limits{Wall: 30 * time.Second, CPU: 300 * time.Millisecond}},
			{"memory of objects", "const a = []; for (let i = 0;; i++) a.push(new Array(1000).fill(i))", sandbox.LimitMemory,
				sandbox.Limits{MemoryBytes: 32 << 20, Wall: 30 * time.Second}},
			{"memory of strings", "let s = 'x'; const a = []; for (;;) { s += s.slice(0, 1e6); a.push([...s].join('')) }",
				sandbox.LimitMemory, sandbox.Limits{MemoryBytes: 32 << 20, Wall: 30 * time.Second}},
			{"stack", "function f() { f() } f()", sandbox.LimitStack, sandbox.Limits{}},
			{"output", "for (;;) console.log('x'.repeat(1000))", sandbox.LimitOutput,
				sandbox.Limits{OutputBytes: 10_000, LogEntries: 1000}},
			{"result", "'x'.repeat(2e6)", sandbox.LimitOutput, sandbox.Limits{}},
			{"logs", "for (;;) console.log(1)", sandbox.LimitLogs, sandbox.Limits{EndOnLogs: true}},
			{"api calls", "for (;;) await ops.ping({})", sandbox.LimitAPICalls, sandbox.Limits{APICalls: 3}},
		} {
			began := time.Now()
			r := run(t, e, sandbox.Script{Engine: engine, Code: "console.log('before'); " + c.code}, sandbox.Grants{
				Limits: c.limits, Tools: []sandbox.Tool{{Name: "ops.ping", Call: ping}},
			})
			outOfMemory := c.limit == sandbox.LimitMemory && strings.HasPrefix(r.Error, "the engine ended on this code")
			if r.Limit != c.limit && !outOfMemory || r.Error == "" {
				t.Errorf("%s: limit %q, error %q after %v", c.name, r.Limit, r.Error, time.Since(began))
			}
			if !strings.HasPrefix(r.Output, "before\n") {
				t.Errorf("%s: output %.40q", c.name, r.Output)
			}
		}
	})
}

func ping(_ context.Context, params json.RawMessage) (json.RawMessage, error) { return params, nil }

// A guest has the tools, the files and the modules that it was granted, and a fresh realm.
func TestOtherEnginePowers(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		failing := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("not today") }
		grants := sandbox.Grants{
			Tools: []sandbox.Tool{{Name: "math:add", Call: ping}, {Name: "math:fail", Call: failing}},
			Files: sandbox.FilesWrite, Modules: []string{"crypto", "buffer"},
		}
		for _, c := range []struct{ code, want string }{
			{"(await math.add({ a: [1, 'é', null] })).a[1]", `"é"`},
			{"math.add.sync({ b: 2 }).b", "2"},
			{"try { await math.fail() } catch (e) { return e.message + e.tool }", `"tool math:fail: not todaymath:fail"`},
			{"require('fs').readFileSync('/a.txt', 'utf8')", `"text"`},
			{"require('fs').writeFileSync('/b.bin', Buffer.from([0, 255])); 1", "1"},
			{"require('crypto').createHash('sha256').update('abc').digest('hex').slice(0, 8)", `"ba7816bf"`},
			{"try { require('zlib') } catch (e) { return e.code }", `"ERR_ACCESS_DENIED"`},
			{"try { await fetch('http://example.com') } catch (e) { return e.name }", `"TypeError"`},
			{"globalThis.mark === undefined && (globalThis.mark = 1)", "1"},
			{"typeof WebAssembly", `"undefined"`},
			{"new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode('abc')))[0]", "169"},
			{"crypto.getRandomValues(new Uint8Array(16)).some((b) => b > 0)", "true"},
			{"structuredClone(new Map([[1, new Date(0)]])).get(1).toISOString()", `"1970-01-01T00:00:00.000Z"`},
			{"const c = new AbortController(); c.abort(); c.signal.reason.name", `"AbortError"`},
			{"try { atob('%') } catch (e) { return [e.name, e.code, e instanceof DOMException, e instanceof Error] }",
				`["InvalidCharacterError",5,true,true]`},
		} {
			files := map[string][]byte{"a.txt": []byte("text")}
			r := run(t, e, sandbox.Script{Engine: engine, Code: c.code, Files: files}, grants)
			if string(r.Value) != c.want || r.Error != "" {
				t.Errorf("%s gave %s %s, want %s", c.code, r.Value, r.Error, c.want)
			}
			if strings.Contains(c.code, "b.bin") && string(r.Files["b.bin"]) != "\x00\xff" {
				t.Errorf("the files are %q", r.Files)
			}
		}
	})
}

// A guest has no function of the JavaScriptCore shell under any name that the program of the shell contains.
func TestOtherEngineHasNoShell(t *testing.T) {
	if oldBuild() {
		return
	}
	e, _ := otherEngine(t, otherengine.JSC)
	binary, err := exec.LookPath(otherengine.JSC.Binary)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	// The linker keeps a text that is the end of another only once.
	names := map[string]bool{}
	for _, text := range regexp.MustCompile(`[$\w]{1,40}\x00`).FindAll(program, -1) {
		for i := range len(text) - 1 {
			names[string(text[i:len(text)-1])] = true
		}
	}
	for _, name := range []string{"load", "readFile", "writeFile", "run", "quit", "$vm", "$262", "print"} {
		if !names[name] {
			t.Fatalf("the shell has no text %q", name)
		}
	}
	input, err := json.Marshal(slices.Sorted(maps.Keys(names)))
	if err != nil {
		t.Fatal(err)
	}
	// Under these names the guest has only what the library and the language define.
	const reach = `const allowed = new Set(Object.getOwnPropertyNames(globalThis));
const found = input.filter((name) => name in globalThis && !(name in Object.prototype) && !allowed.has(name));
const seen = new Set(), texts = new Set();
const walk = (v) => {
  if (v === null || typeof v !== 'object' && typeof v !== 'function' || seen.has(v)) return;
  seen.add(v);
  if (typeof v === 'function') texts.add(v.name);
  for (const key of Reflect.ownKeys(v)) {
    const d = Object.getOwnPropertyDescriptor(v, key);
    walk(d.value), walk(d.get), walk(d.set);
  }
  walk(Object.getPrototypeOf(v));
};
for (const name of [...allowed, ...input]) walk(Object.getOwnPropertyDescriptor(globalThis, name)?.value);
const shell = ['loadString', 'readFile', 'writeFile', 'openFile', 'run', 'runString', 'quit', 'print', 'readline',
  'createGlobalObject', 'createRealm', 'evalScript', 'createBuiltin', 'describe', 'addressOf', 'checkScriptSyntax',
  'generateHeapSnapshot', 'drainMicrotasks', 'setUnhandledRejectionCallback', 'sleepSeconds', 'gc', 'jscOptions'];
// An overflow inside the engine's part has an error of another realm.
const down = () => {
  try { down(); } catch (e) {
    try { new TextEncoder().encode('a'); } catch (o) { walk(o); }
    throw e;
  }
};
try { down(); } catch {}
return [found, shell.filter((name) => texts.has(name)), seen.size > 1000];`
	r := run(t, e, sandbox.Script{Engine: "jsc", Code: reach, Input: input}, sandbox.Grants{
		Limits: sandbox.Limits{Wall: time.Minute, CPU: time.Minute}})
	// The shell hides its names in lists of keys. The library redefines these lists.
	if string(r.Value) != `[["atob","btoa","console","performance","setTimeout"],[],true]` || r.Error != "" {
		t.Errorf("%.2000s %s", r.Value, r.Error)
	}
}

// No two runs draw the same numbers, although all processes are copies of one.
func TestOtherEngineRandom(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		seen := map[string]bool{}
		for range 5 {
			r := run(t, e, sandbox.Script{Engine: engine, Code: "[Math.random(), crypto.randomUUID()]"}, sandbox.Grants{})
			if seen[string(r.Value)] || r.Error != "" {
				t.Errorf("%s again (%s)", r.Value, r.Error)
			}
			seen[string(r.Value)] = true
		}
	})
}

// Runs that are killed do not keep others from their processes.
func TestOtherEngineManyAtOnce(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				code, want, limits := fmt.Sprintf("%d * 2", i), fmt.Sprint(i*2), sandbox.Limits{Wall: time.Minute}
				if i%3 == 0 {
					code, want, limits.CPU = "for (;;) {}", "", 30*time.Millisecond
				}
				r, err := e.Run(t.Context(), sandbox.Script{Engine: engine, Code: code}, sandbox.Grants{Limits: limits})
				if err != nil || string(r.Value) != want {
					t.Errorf("%s: %s %s %v, want %s", code, r.Value, r.Error, err, want)
				}
				if i%3 == 0 && r.Limit != sandbox.LimitCPU {
					t.Errorf("%s: limit %q, %s", code, r.Limit, r.Error)
				}
			})
		}
		all.Wait()
	})
}

// What only QuickJS can do is refused before anything runs.
func TestOtherEngineRefuses(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		seed := int64(1)
		for name, c := range map[string]struct {
			script sandbox.Script
			grants sandbox.Grants
		}{
			"seed":   {sandbox.Script{Seed: &seed}, sandbox.Grants{}},
			"debug":  {sandbox.Script{}, sandbox.Grants{Debug: sandbox.Debug{Steps: true}}},
			"replay": {sandbox.Script{}, sandbox.Grants{Replay: &sandbox.Journal{}}},
			"ticks":  {sandbox.Script{}, sandbox.Grants{Limits: sandbox.Limits{Ticks: 1}}},
		} {
			c.script.Engine, c.script.Code = engine, "1"
			if _, err := e.Run(t.Context(), c.script, c.grants); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	})
}

// otherOutput are what a program prints on an engine instead of what Node.js prints, and why.
var otherOutput = map[string][2]string{
	"jsc/language": {" 1709251200000 ", " NaN "}, // Date.parse refuses days that do not exist
}

func TestOtherEngineProgramsPrintAsNode(t *testing.T) {
	names, err := filepath.Glob("testdata/programs/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"},
		Limits: sandbox.Limits{Wall: 30 * time.Second, LogChars: 1 << 16}}
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		for _, name := range names {
			code, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(name, ".js") + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := otherOutput[engine+"/"+strings.TrimSuffix(filepath.Base(name), ".js")]; ok {
				want = bytes.Replace(want, []byte(other[0]), []byte(other[1]), 1)
			}
			r := run(t, e, sandbox.Script{Engine: engine, Code: string(code)}, grants)
			if r.Error != "" || r.Output != string(want) {
				t.Errorf("%s: %s; %s", name, r.Error, firstDifference(r.Output, string(want)))
			}
		}
	})
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: %q, want %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// Engines that compile to machine code run the same code, and code that runs long enough to be compiled.
func TestOtherEngineJIT(t *testing.T) {
	if oldBuild() {
		return
	}
	for _, k := range otherengine.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			e, _ := otherEngineOf(t, k, true)
			for _, c := range codeShapes {
				if got := shapeOf(t, e, k.Name, c.code); got != c.want {
					t.Errorf("%q gave %s, want %s", c.code, got, c.want)
				}
			}
			const hot = `const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2);
				const words = {}; for (let i = 0; i < 2e5; i++) { const w = 'w' + i % 100; words[w] = (words[w] ?? 0) + 1 }
				[f(25), Object.keys(words).length, words.w7]`
			r, err := e.Run(t.Context(), sandbox.Script{Engine: k.Name, Code: hot}, sandbox.Grants{})
			if err != nil || string(r.Value) != "[75025,100,2000]" {
				t.Errorf("hot code gave %s, %s, %v", r.Value, r.Error, err)
			}
		})
	}
}

// Code that may make functions of strings gets functions with the properties that the language defines.
func TestOtherEngineEval(t *testing.T) {
	const code = `
		const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
		const about = (f) => {
			const p = Object.getPrototypeOf(f), d = Object.getOwnPropertyDescriptor(p, 'constructor');
			let made;
			try { made = typeof d.value('return 1') } catch (e) { made = e.message }
			return [d.value.name, d.writable, d.enumerable, d.configurable, d.value.prototype === p, made].join(' ');
		};
		let plain;
		try { plain = eval('1 + 1') } catch (e) { plain = e.message }
		[plain, typeof Function === 'function' && Function === (() => {}).constructor, ...kinds.map(about)]`
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		for allowed, want := range map[bool][]any{
			true: {2.0, true, "Function true false true true function", "AsyncFunction false false true true function",
				"GeneratorFunction false false true true function", "AsyncGeneratorFunction false false true true function"},
			false: {"eval is not supported", true, "Function true false true true eval is not supported",
				"AsyncFunction false false true true eval is not supported",
				"GeneratorFunction false false true true eval is not supported",
				"AsyncGeneratorFunction false false true true eval is not supported"},
		} {
			r, err := e.Run(t.Context(), sandbox.Script{Engine: engine, Code: code}, sandbox.Grants{Eval: allowed})
			if err != nil {
				t.Fatal(err)
			}
			var got []any
			if err := json.Unmarshal(r.Value, &got); err != nil {
				t.Fatalf("eval %t: %s: %v", allowed, r.Error, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("eval %t (-want +got):\n%s", allowed, diff)
			}
		}
	})
}
