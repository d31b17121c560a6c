package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// TestWarmCode checks that code that can start from an image does, that other code reports why it cannot, and that
// both have the result that they have without a version.
func TestWarmCode(t *testing.T) {
	e := newEngine(t)
	tools := []sandbox.Tool{{Name: "a:b",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("7"), nil }}}
	for _, c := range []struct{ code, cold string }{
		{"export default (x) => x.n + 1", ""},
		{"export default function main(x, context) { return [x.n, context.k, k, input.n, typeof output] }", ""},
		{"export default async (x) => { await null; return x }", ""},
		{"export function handler(x) { return ['handler', x.n] }", ""},
		{"exports.handler = async (x) => ['lambda', x.n]", "none"}, // exports an object: the default export is not a function
		{"module.exports = (x) => x.n * 2", ""},
		{"export default {a: [1, 2]}", ""},
		{"export default 5; globalThis.output = 6", ""},
		{"globalThis.output = 6; export default undefined", ""},
		{"export default () => undefined; globalThis.output = 7", ""},
		{
			"const m = new Map([[1, {}]]); const w = new WeakMap(); class A { #x = 1; get x() { return this.#x } } export " +
				"default () => [m.size, new A().x, w.has(m)]", "",
		},
		{"const p = Promise.resolve(3); export default async () => await p", ""},
		{"const x = await Promise.all([1, Promise.resolve(2)]); export default () => x", ""},
		{"import lib from './lib.js'; export default (x) => lib(x.n)", ""},
		{"import lib from './lib.js'; lib(input.n) + k", ""},
		{"import data from './data.json'; const twice = data.n * 2; export default () => twice", ""},
		{
			"import {createHash} from 'node:crypto'; const h = createHash('sha256').update('a').digest('hex'); export " +
				"default () => h", "",
		},
		{
			"const d = Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(3))).toString('hex'); export " +
				"default () => d", "",
		},
		{
			"const u = new URL('http://h/p?a=1'); const t = new TextDecoder().decode(new TextEncoder().encode('é')); " +
				"export default () => [u.searchParams.get('a'), t, structuredClone({a: 1}), atob('YQ==')]", "",
		},
		{"const f = new Intl.NumberFormat('en', {minimumFractionDigits: 2}); export default () => f.format(1234.5)", ""},
		{"let ok; try { require('child_process') } catch (e) { ok = e.code } export default () => ok", ""},
		{
			"let deep = 0; const f = () => { deep++; f() }; try { f() } catch (e) { deep = e instanceof RangeError } " +
				"export default () => deep", "",
		},
		{"export default async () => await a.b()", ""},
		{"export default async () => (await fetch('http://x.invalid/').catch((e) => e.name))", ""},
		{"export default () => { throw new TypeError('late') }", ""},
		{
			"Object.prototype.polluted = 1; Array.prototype.map = () => 'mine'; export default () => [({}).polluted, " +
				"[1].map(String)]", "",
		},
		{"globalThis.fetch = () => 'mine'; export default () => fetch()", ""},
		{"(x) => x.n", ""},
		{"async function main(x) { return x.n }", ""},
		{"input.n + k", ""},
		{"const s = []; for (let i = 0; i < input.n; i++) s.push(Math.sqrt(i)); return s", ""},
		{"output = input.n", ""},
		{"console.log('each time'); await a.b()", ""},
		{"process.on('exit', (c) => { output = ['exit', c] }); export default () => undefined", ""},

		{"const t = Date.now(); export default () => typeof t", "it reads the clock while it loads"},
		{"const t = new Date(); export default () => typeof t", "it reads the clock while it loads"},
		{"const t = performance.now(); export default () => typeof t", "it reads the clock while it loads"},
		{"const t = performance.timeOrigin; export default () => typeof t", "it reads the clock while it loads"},
		{"const t = Math.random(); export default () => t < 1", "it draws random numbers while it loads"},
		{"const t = crypto.randomUUID(); export default () => t.length", "it draws random numbers while it loads"},
		{"const t = crypto.getRandomValues(new Uint8Array(2)); export default () => t.length",
			"it draws random numbers while it loads"},
		{
			"const t = await crypto.subtle.generateKey({name: 'HMAC', hash: 'SHA-256'}, true, ['sign']); export default () " +
				"=> t.type", "it draws random numbers while it loads",
		},
		{"setTimeout(() => {}, 1); export default () => 1", "it sets a timer while it loads"},
		{"await new Promise((done) => setTimeout(done, 1)); export default () => 1", "it sets a timer while it loads"},
		{"console.log('loaded'); export default () => 1", "it prints while it loads"},
		{"const v = await a.b(); export default () => v", "it looks for a while it loads"},
		{"const v = input.n; export default () => v", "it looks for input while it loads"},
		{"const v = typeof input; export default () => v", "it looks for input while it loads"},
		{"input = 9; export default () => input", "it looks for input while it loads"},
		{"const v = k; export default () => v", "it looks for k while it loads"},
		{"const v = {...globalThis}; export default () => v.k", "it looks for k while it loads"},
		{"Object.defineProperty(globalThis, 'input', {value: 1}); export default () => input",
			"it looks for input while it loads"},
		{"Object.freeze(globalThis); export default () => 1", "it looks for "},
		{"Object.preventExtensions(globalThis); export default () => input.n", "it looks for globalThis while it loads"},
		{"let r; try { r = await fetch('http://x.invalid/') } catch (e) { r = e.name } export default () => r",
			"it calls the host while it loads (fetch"},
		{
			"const b = await new Response(new Blob(['x']).stream().pipeThrough(new " +
				"CompressionStream('gzip'))).arrayBuffer(); export default () => typeof b",
			"it calls the host while it loads (zip.open)",
		},
		{"require('fs').writeFileSync('/x', 'y'); export default () => require('fs').readFileSync('/x', 'utf8')",
			"it uses files while it loads"},
		{"const s = require('fs').readFileSync('/data.json', 'utf8'); export default () => s",
			"it uses files while it loads"},
		{"throw new TypeError('early'); export default () => 1", "it throws while it loads"},
		{"import './bad.js'; export default () => 1", "it throws while it loads"},
		{"const f = () => f(); f(); export default f", "it throws while it loads"},
		{"await new Promise(() => {}); export default () => 1", "it waits while it loads"},
		{"queueMicrotask(() => { throw new Error('stray') }); export default () => 1", "it fails while it loads"},
		{"export default () => 1; const a = ;", "none"},
		{"const a = ;", "it fails while it loads"},
	} {
		script := sandbox.Script{
			Code: c.code, Input: json.RawMessage(`{"n":3}`), Context: map[string]json.RawMessage{"k": json.RawMessage(`"v"`)},
			Files: map[string][]byte{"lib.js": []byte("const table = [1, 2, 3]; export default (n) => table[n - 1] * 10;"),
				"data.json": []byte(`{"n": 4}`), "bad.js": []byte("\n  null.x;")},
		}
		grants := sandbox.Grants{Tools: tools, Files: sandbox.FilesWrite, Modules: []string{"*"},
			Network: sandbox.Network{Mode: sandbox.NetworkPublic}}
		want := run(t, e, script, grants)
		if want.Warm || want.Cold != "" {
			t.Fatalf("%s: warm without a version", c.code)
		}
		script.Version = "tenant\x00" + c.code
		var ticks [3]int64
		for i := range ticks {
			got := run(t, e, script, grants)
			ticks[i] = got.Usage.Ticks
			type outcome struct {
				value, err, output, exception string
				pure                          bool
				apiCalls                      int
			}
			of := func(r sandbox.Result) outcome {
				return outcome{string(r.Value), r.Error, r.Output, fmt.Sprint(r.Exception), r.Pure, r.Usage.APICalls}
			}
			if of(got) != of(want) {
				t.Errorf("%s\nrun %d: %+v, without a version %+v", c.code, i, of(got), of(want))
			}
			switch {
			case c.cold == "none":
			case got.Warm != (c.cold == "") || !strings.HasPrefix(got.Cold, c.cold):
				t.Errorf("%s: run %d: warm %v, cold %q, want %q", c.code, i, got.Warm, got.Cold, c.cold)
			}
		}
		if ticks[0] != ticks[1] || ticks[1] != ticks[2] {
			t.Errorf("%s: ticks %v", c.code, ticks)
		}
	}
}

// TestWarmMessages checks that an image holds no names of the tools of the run that loaded it.
func TestWarmMessages(t *testing.T) {
	e := newEngine(t)
	of := func(tool string) sandbox.Grants {
		return sandbox.Grants{Tools: []sandbox.Tool{{Name: tool,
			Call: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }}}}
	}
	const code = "const crm = {}; let told; try { crm.none() } catch (e) { told = e.message } export default () => told"
	for _, c := range []struct{ name, before string }{
		{"as it is", ""}, {"under Error.prepareStackTrace", "Error.prepareStackTrace = () => 'prepared'; "},
	} {
		for _, tool := range []string{"crm:find", "crm:list"} {
			r := run(t, e, sandbox.Script{Version: c.name, Code: c.before + code}, of(tool))
			if want := `"crm.none is not a function"`; !r.Warm || string(r.Value) != want {
				t.Errorf("%s, with %s: warm %v, got %s (%s %s), want %s", c.name, tool, r.Warm, r.Value, r.Error, r.Cold, want)
			}
		}
	}
}

// TestWarmIsolation checks that what a run does to its memory is not there in later runs of the version or of others,
// and that each run draws what differs from run to run.
func TestWarmIsolation(t *testing.T) {
	e := newEngine(t)
	code := `const state = {n: 0, keys: []}; globalThis.shared = [];
export default (x) => {
	state.n++; state.keys.push(x); shared.push(x); globalThis['left' + x] = x;
	Object.prototype.dirt = (Object.prototype.dirt ?? 0) + 1;
	const blocks = []; for (let i = 0; i < 200; i++) blocks.push(new Uint8Array(4096).fill(x));
	return {n: state.n, keys: state.keys, shared, left: Object.keys(globalThis).filter((k) => k.startsWith('left')),
	  dirt: ({}).dirt, random: [Math.random(), crypto.randomUUID()], now: Date.now()};
}`
	seen := map[string]bool{}
	for i := range 20 {
		version := []string{"a", "b"}[i%2]
		r := run(t, e, sandbox.Script{Version: version, Code: code, Input: json.RawMessage(fmt.Sprint(i))}, sandbox.Grants{})
		if !r.Warm {
			t.Fatal(r.Error, r.Cold)
		}
		var got struct {
			N, Dirt      int
			Keys, Shared []int
			Left         []string
			Random       []any
			Now          int64
		}
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatal(err)
		}
		if got.N != 1 || got.Dirt != 1 {
			t.Fatalf("run %d sees the numbers of another: %s", i, r.Value)
		}
		if len(got.Keys) != 1 || got.Keys[0] != i {
			t.Fatalf("run %d sees the keys of another: %s", i, r.Value)
		}
		if len(got.Shared) != 1 || len(got.Left) != 1 {
			t.Fatalf("run %d sees the objects of another: %s", i, r.Value)
		}
		if age := time.Since(time.UnixMilli(got.Now)); age < -time.Second || age > time.Minute {
			t.Errorf("the clock shows %v ago", age)
		}
		if r := fmt.Sprint(got.Random); seen[r] {
			t.Fatalf("drawn twice: %s", r)
		} else {
			seen[r] = true
		}
		other := run(t, e,
			sandbox.Script{Code: "[typeof shared, ({}).dirt ?? 0, Object.keys(globalThis).filter((k) => " +
				"k.startsWith('left'))]"}, sandbox.Grants{})
		if string(other.Value) != `["undefined",0,[]]` {
			t.Fatalf("another script sees %s", other.Value)
		}
	}
	seed := int64(5)
	draws := sandbox.Script{Version: "draws",
		Code: "export default () => [Math.random(), crypto.randomUUID(), Date.now()]", Seed: &seed}
	if a, b := run(t, e, draws, sandbox.Grants{}), run(t, e, draws,
		sandbox.Grants{}); string(a.Value) != string(b.Value) || !a.Warm || len(a.Value) == 0 {
		t.Errorf("the same seed gives %s and %s", a.Value, b.Value)
	}
}

// TestWarmPowers checks that an image made under some grants does not serve under others.
func TestWarmPowers(t *testing.T) {
	e := newEngine(t)
	code := `let fs; try { fs = require('fs') } catch (e) { fs = e.code }
let f; try { f = Function('return 1') } catch (e) { f = () => e.name }
export default () => { let late; try { late = eval('2') } catch (e) { late = e.name }
	return [typeof fs, f(), late, typeof extra] }`
	for range 2 {
		for _, c := range []struct {
			grants sandbox.Grants
			extra  string
			want   string
		}{
			{sandbox.Grants{}, "", `["string","EvalError","EvalError","undefined"]`},
			{sandbox.Grants{Eval: true}, "", `["string",1,2,"undefined"]`},
			{sandbox.Grants{Files: sandbox.FilesRead}, "", `["object","EvalError","EvalError","undefined"]`},
			{sandbox.Grants{}, "extra", `["string","EvalError","EvalError","number"]`},
		} {
			s := sandbox.Script{Version: "v", Code: code, Context: map[string]json.RawMessage{}}
			if c.extra != "" {
				s.Context[c.extra] = json.RawMessage("1")
			}
			want := run(t, e, sandbox.Script{Code: code, Context: s.Context}, c.grants)
			if got := run(t, e, s, c.grants); string(got.Value) != string(want.Value) || !got.Warm {
				t.Errorf("%+v: %s %s, without a version %s", c.grants, got.Value, got.Error, want.Value)
			}
		}
	}
}

// TestWarmHostile checks that loading obeys the limits of the run that does it, and that no later run escapes them.
func TestWarmHostile(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		code  string
		limit sandbox.Limit
	}{
		{"for (;;) {} export default 1", sandbox.LimitWall},
		{"try { for (;;) {} } catch {} export default 1", sandbox.LimitWall},
		{"const again = () => { Promise.resolve().then(again) }; again(); export default 1", sandbox.LimitWall},
		{"[].indexOf.call({length: 2**40}, 1); export default 1", sandbox.LimitWall},
		{"const a = []; for (;;) a.push(new Uint8Array(1 << 20)); export default 1", sandbox.LimitMemory},
		{"let s = 'x'; try { for (;;) s += s } catch { for (;;) {} } export default 1", ""},
		{"export default () => { for (;;) {} }", sandbox.LimitWall},
		{"const a = []; export default () => { for (;;) a.push(new Uint8Array(1 << 20)) }", sandbox.LimitMemory},
	} {
		for i := range 2 {
			wall := 150 * time.Millisecond
			if c.limit == sandbox.LimitMemory {
				wall = 10 * time.Second
			}
			began := func(r sandbox.Result) bool { return r.Limit != sandbox.LimitWall || r.Usage.Ticks > 0 }
			script := sandbox.Script{Version: c.code, Code: c.code}
			start := time.Now()
			r := run(t, e, script, sandbox.Grants{Limits: sandbox.Limits{Wall: wall, MemoryBytes: 16 << 20}})
			for ; !began(r) && wall < 10*time.Second; wall *= 2 { // on a busy machine it ended before it began
				start = time.Now()
				r = run(t, e, script, sandbox.Grants{Limits: sandbox.Limits{Wall: 2 * wall, MemoryBytes: 16 << 20}})
			}
			if r.Limit == "" || c.limit != "" && r.Limit != c.limit {
				t.Errorf("%s: run %d: limit %q, want %q; %q", c.code, i, r.Limit, c.limit, r.Error)
			}
			if !began(r) {
				t.Errorf("%s: run %d ended before it began: %+v", c.code, i, r.Usage)
			}
			if r.Usage.MemoryBytes > 16<<20 {
				t.Errorf("%s: run %d: %d bytes", c.code, i, r.Usage.MemoryBytes)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%s: run %d took %v", c.code, i, took)
			}
		}
	}
	fat := sandbox.Script{Version: "fat",
		Code: "const a = new Uint8Array(12 << 20).fill(1); export default () => a.length"}
	if r := run(t, e, fat, sandbox.Grants{}); !r.Warm || r.Usage.MemoryBytes < 12<<20 {
		t.Errorf("%v %q: %d bytes", r.Warm, r.Error, r.Usage.MemoryBytes)
	}
	if r := run(t, e, fat, sandbox.Grants{Limits: sandbox.Limits{MemoryBytes: 8 << 20}}); r.Limit != sandbox.LimitMemory {
		t.Errorf("what loading took does not count: %q %q", r.Limit, r.Error)
	}
	huge := sandbox.Script{Version: "huge",
		Code: "const a = new Uint8Array(44 << 20).fill(1); export default () => a.length"}
	for range 2 {
		if r := run(t, e, huge, sandbox.Grants{}); r.Warm || !strings.Contains(r.Cold, "too much to be kept") ||
			string(r.Value) != fmt.Sprint(44<<20) {
			t.Errorf("%v %q %s %q", r.Warm, r.Cold, r.Value, r.Error)
		}
	}
}

// TestWarmReplay checks that a run that started warm can be repeated from its record on another engine, warm or
// loading.
func TestWarmReplay(t *testing.T) {
	first, second := newEngine(t), newEngine(t)
	for _, code := range []string{
		"const t = []; for (let i = 0; i < 50000; i++) t.push({i}); export default () => [t.length, Date.now(), " +
			"Math.random(), crypto.randomUUID()]",
		"const t = Date.now(); export default () => [t, Math.random()]",
		"const t = []; for (let i = 0; i < 30000; i++) t.push(i); export default () => { for (;;) t.push(Date.now()) }",
		"for (;;) Math.sqrt(2); export default 1",
		"import lib from './lib.js'; await new Promise((d) => setTimeout(d, 2)); [lib, Date.now()]",
	} {
		grants := sandbox.Grants{Limits: sandbox.Limits{CPU: 100 * time.Millisecond}}
		script := sandbox.Script{Version: code, Code: code,
			Files: map[string][]byte{"lib.js": []byte("export default [1, 2].map((x) => x * 2)")}}
		for range 2 {
			was := run(t, first, script, grants)
			again := grants
			again.Replay = was.Journal
			for range 2 {
				if d := same(was, run(t, second, script, again)); d != "" {
					t.Errorf("%s: %s", code, d)
				}
			}
		}
	}
}

// images counts the images that this process holds.
func images(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not list open files")
	}
	n := 0
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(to, "memfd:airlock-image") {
			n++
		}
	}
	return n
}

// TestWarmBounded checks that the images of many versions stay within their bound, also when they run at once.
func TestWarmBounded(t *testing.T) {
	before := images(t)
	e, err := sandbox.New(t.Context(),
		sandbox.Config{EngineBuild: testBuild, CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache"),
			WarmBytes: 20 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range 40 {
				n := (i*7 + w) % 12
				code := fmt.Sprintf("const t = Array.from({length: 5000}, (_, i) => [i, %d]); export default () => t[17]", n)
				r, err := e.Run(context.Background(), sandbox.Script{Version: fmt.Sprint(n), Code: code}, sandbox.Grants{})
				if want := fmt.Sprintf("[17,%d]", n); err != nil || string(r.Value) != want || !r.Warm {
					t.Errorf("%s %q %v, want %s", r.Value, r.Error, err, want)
				}
			}
		})
	}
	workers.Wait()
	if n := images(t) - before; n < 2 || n > 1+20/3 {
		t.Errorf("%d images are held", n)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := images(t) - before; n != 0 {
		t.Errorf("%d images are left", n)
	}
}
