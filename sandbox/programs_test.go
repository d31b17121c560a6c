package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// programHead defines the globals that scripts have here for modules in Node.
const programHead = "import { createRequire } from 'module'; const require = createRequire(import.meta.url);\n"

// TestProgramsPrintAsNode runs whole scripts of the kind that people write and compares their output with Node's:
// testdata/programs. A file of programs has many of them, each after a line ">>> name" and with its output behind a
// line "<<<". -update-node asks the node of this machine again.
func TestProgramsPrintAsNode(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"},
		Limits: sandbox.Limits{Wall: 30 * time.Second, LogChars: 1 << 16}}
	eachProgram(t, func(t *testing.T, p *program) {
		if *updateNode {
			p.output = nodeOutput(t, p)
		}
		seed := int64(1) // its clock does not stop for a busy machine
		r := run(t, e, sandbox.Script{Code: p.code, Seed: &seed}, grants)
		same := r.Error == "" && r.Output == p.output
		if oldBuild() && onlyNewBuild[p.name] {
			if same {
				t.Error("quickjs-ng 0.10.1 prints what Node prints: take the program off onlyNewBuild")
			}
			return
		}
		if !same {
			t.Errorf("printed\n%s\n(%s) and Node\n%s", r.Output, r.Error, p.output)
		}
	})
}

// TestNodeStillPrintsThis compares what was recorded with the node of this machine, if its major version is the one
// that the outputs come from.
func TestNodeStillPrintsThis(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), recordedNode) {
		t.Skipf("the outputs are those of Node %s, and this machine has %q (%v)", recordedNode, out, err)
	}
	if testBuild != sandbox.EngineBuilds()[0] {
		return // Node has no engine builds: once is enough
	}
	eachProgram(t, func(t *testing.T, p *program) {
		t.Parallel()
		var got string
		for range 5 { // on a busy machine, files and timers may be ready in another order
			if got = nodeOutput(t, p); got == p.output {
				return
			}
		}
		t.Errorf("Node printed\n%s\nand before\n%s", got, p.output)
	})
}

// recordedNode is the version of Node that the outputs come from.
const recordedNode = "v20."

// onlyNewBuild holds the programs that quickjs-ng 0.10.1 does not run as Node does.
var onlyNewBuild = map[string]bool{"private-division": true, "generators": true, "regex-log-lines": true,
	"regex-match-printed": true, "regex-features": true, "regular-expressions": true, "strings-and-numbers": true,
	"spread-strings-into-objects": true, "atomics": true, "dates-in-words-and-figures": true,
	"captures-of-repeated-groups": true, "changes-that-are-refused.cjs": true, "names-and-messages-set-later.cjs": true,
	"methods-called-on-other-values.cjs": true, "calls-of-what-calls-return.cjs": true}

// program is a script and what Node prints for it.
type program struct{ name, code, output string }

// eachProgram calls f for each program in a subtest. With -update-node it writes the outputs back.
func eachProgram(t *testing.T, f func(t *testing.T, p *program)) {
	t.Helper()
	names, err := filepath.Glob("testdata/programs/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		golden := strings.TrimSuffix(name, ".js") + ".golden"
		p := &program{name: strings.TrimSuffix(filepath.Base(name), ".js"), code: read(t, name), output: read(t, golden)}
		t.Run(p.name, func(t *testing.T) { f(t, p) })
		if *updateNode {
			write(t, golden, p.output)
		}
	}
	if names, err = filepath.Glob("testdata/programs/*.txt"); err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		var updated strings.Builder
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text := strings.TrimSuffix(read(t, name), "\n")
			for text := range strings.SplitSeq(strings.TrimPrefix(text, ">>> "), "\n>>> ") {
				p := &program{}
				p.name, text, _ = strings.Cut(text, "\n")
				p.code, p.output, _ = strings.Cut(text+"\n", "\n<<<\n")
				t.Run(p.name, func(t *testing.T) { f(t, p) })
				fmt.Fprintf(&updated, ">>> %s\n%s\n<<<\n%s", p.name, strings.TrimSuffix(p.code, "\n"), p.output)
			}
		})
		if *updateNode {
			write(t, name, updated.String())
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// nodeOutput runs a program with the node of this machine: as a CommonJS module if its name ends with .cjs.
func nodeOutput(t *testing.T, p *program) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.mjs")
	code := programHead + p.code
	if strings.HasSuffix(p.name, ".cjs") {
		path, code = strings.TrimSuffix(path, ".mjs")+".cjs", p.code
	}
	write(t, path, code)
	cmd := exec.CommandContext(t.Context(), "node", "--no-deprecation", path)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	cmd.Stdin = bytes.NewReader(nil)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestStandardInput checks that standard input is the input of the run.
func TestStandardInput(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"}}
	const lines = `const rl = require('readline').createInterface({ input: process.stdin });
const out = []; for await (const line of rl) out.push(line); return out`
	for _, c := range []struct{ name, code, input, want string }{
		{"lines", lines, `"a b\n1 2\r\nlast"`, `["a b","1 2","last"]`},
		{"JSON", lines, `{"a":[1]}`, `["{\"a\":[1]}"]`},
		{"none", lines, "", "[]"},
		{"a file", "require('fs').readFileSync(0, 'utf8').split('\\n')", `"1\n2"`, `["1","2"]`},
		{"a path", "require('fs').readFileSync('/dev/stdin').length", `"é"`, "2"},
		{"a path of a descriptor", "require('fs').readFileSync('/dev/fd/0', 'utf8')", `"a"`, `"a"`},
		{"read to the end", "const fs = require('fs'); [fs.readFileSync(0, 'utf8'), fs.readFileSync(0, 'utf8')]", `"ab"`,
			`["ab",""]`},
		{"in pieces", `const fs = require('fs'), b = Buffer.alloc(2), out = [];
for (let n; (n = fs.readSync(0, b)) > 0;) out.push(b.toString('utf8', 0, n));
out`, `"abc"`, `["ab","c"]`},
		{"opened", "const fs = require('fs'), fd = fs.openSync('/dev/stdin'); [fs.readFileSync(fd, 'utf8'), " +
			"fs.fstatSync(0).isFIFO(), fs.existsSync('/dev/stdin')]", `"ab"`, `["ab",true,true]`},
		{"a stream after a file", `const text = require('fs').readFileSync(0, 'utf8'); let more = '';
process.stdin.on('data', (d) => { more += d });
await new Promise((r) => process.stdin.on('end', r)); return [text, more]`, `"ab"`, `["ab",""]`},
		{"a stream of the path", `let s = '';
for await (const d of require('fs').createReadStream('/dev/stdin', 'utf8')) s += d;
s`, `"abc"`, `"abc"`},
		{"a stream of the descriptor", `let s = '';
for await (const d of require('fs').createReadStream(null, { fd: 0 })) s += d;
s`, `"abc"`, `"abc"`},
		{"events", `let s = ''; process.stdin.on('data', (d) => { s += d });
await new Promise((r) => process.stdin.on('end', r)); return s`, `"text"`, `"text"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, e, sandbox.Script{Code: c.code, Input: []byte(c.input)}, grants)
			if string(r.Value) != c.want {
				t.Errorf("returned %s (%s), want %s", r.Value, r.Error, c.want)
			}
		})
	}
}

// TestStandardInputEndsLater checks that a promise which the data settles goes on before the end, as with a pipe in
// Node: a second question to a readline is asked before it closes.
func TestStandardInputEndsLater(t *testing.T) {
	e := newEngine(t)
	const code = `const { createInterface } = require('readline/promises'), { stdin: input, stdout: output } = process;
const rl = createInterface({ input, output });
rl.on('close', () => console.log('closed'));
(async () => { await rl.question('first? '); console.log('answered'); rl.question('second? '); })();`
	grants := sandbox.Grants{Modules: []string{"*"}}
	r := run(t, e, sandbox.Script{Code: code, Input: []byte(`"1\n2\n"`)}, grants)
	if want := "first? answered\nsecond? closed\n"; r.Output != want || r.Error != "" {
		t.Errorf("printed %q (%s), want %q", r.Output, r.Error, want)
	}
}

// TestArguments checks that the arguments of a program are in process.argv.
func TestArguments(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		name, code, want string
		args             []string
	}{
		{"none", "process.argv.length", "2", nil},
		{"some", "process.argv.slice(2)", `["1","a b","é"]`, []string{"1", "a b", "é"}},
		{"destructured", "const [, , a, b] = process.argv; return [a, b]", `["x",""]`, []string{"x", ""}},
		{"parsed", "require('util').parseArgs({ options: { n: { type: 'string' } } }).values.n", `"7"`, []string{"--n", "7"}},
		{"of the module", "require('process').argv[2]", `"x"`, []string{"x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			grants := sandbox.Grants{Modules: []string{"*"}}
			r := run(t, e, sandbox.Script{Code: c.code, Args: c.args}, grants)
			if string(r.Value) != c.want {
				t.Errorf("returned %s (%s), want %s", r.Value, r.Error, c.want)
			}
		})
	}
}

// TestUnreferencedTimers checks that a run does not wait for a timer that is unreferenced.
func TestUnreferencedTimers(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ name, code, want string }{
		{"an interval that nobody waits for", "setInterval(() => {}, 1000).unref(); console.log('end')", "end\n"},
		{"one that fires while the run waits",
			"setTimeout(() => console.log('fired'), 5).unref(); setTimeout(() => console.log('end'), 10)", "fired\nend\n"},
		{"one that is referenced again", "setTimeout(() => console.log('fired'), 5).unref().ref(); console.log('end')",
			"end\nfired\n"},
		{"one that is cleared", "const t = setTimeout(() => {}, 5); t.unref(); clearTimeout(t); " +
			"setTimeout(() => console.log('end'), 1)", "end\n"},
		{"one that starts again", "const t = setInterval(() => { console.log('tick'); t.unref() }, 5).refresh()", "tick\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			seed := int64(1)
			r := run(t, e, sandbox.Script{Code: c.code, Seed: &seed}, sandbox.Grants{})
			if r.Output != c.want || r.Error != "" {
				t.Errorf("printed %q (%s), want %q", r.Output, r.Error, c.want)
			}
		})
	}
}

// TestTicksOfOtherEngines checks the order of ticks on the engines in processes; testdata/programs/ticks.txt has more
// of it for QuickJS.
func TestTicksOfOtherEngines(t *testing.T) {
	const code = `Promise.resolve().then(() => console.log('reaction')); process.nextTick(() => console.log('tick'));
setTimeout(() => { Promise.resolve().then(() => console.log('then'));
	process.nextTick(() => console.log('first')) }, 1);`
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		r := run(t, e, sandbox.Script{Engine: engine, Code: code}, sandbox.Grants{})
		if want := "tick\nreaction\nfirst\nthen\n"; r.Output != want || r.Error != "" {
			t.Errorf("printed %q (%s), want %q", r.Output, r.Error, want)
		}
		module := run(t, e, sandbox.Script{Engine: engine, Code: code + " await undefined"}, sandbox.Grants{})
		if want := "reaction\ntick\nfirst\nthen\n"; module.Output != want || module.Error != "" {
			t.Errorf("an ES module printed %q (%s), want %q", module.Output, module.Error, want)
		}
	})
}

// TestEndlessTicks checks that a limit ends ticks that always ask for the next one, alone and between microtasks.
func TestEndlessTicks(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Limits: sandbox.Limits{CPU: 200 * time.Millisecond}}
	for _, code := range []string{
		"(function again() { process.nextTick(again) })()",
		"await undefined; (function again() { Promise.resolve().then(() => process.nextTick(again)) })(); " +
			"await new Promise(() => {})",
	} {
		if r := run(t, e, sandbox.Script{Code: code}, grants); r.Limit != sandbox.LimitCPU {
			t.Errorf("%s\nended with limit %q (%s)", code, r.Limit, r.Error)
		}
	}
}
