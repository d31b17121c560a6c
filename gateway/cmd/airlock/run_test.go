package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestRunCommand(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "double.ts")
	if err := os.WriteFile(script, []byte("export default (n: number): number => n * 2"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AIRLOCK_CACHE_DIR": filepath.Join(os.TempDir(), "airlock-test-cache")}
	for _, c := range []struct {
		name           string
		args           []string
		stdin          string
		code           int
		stdout, stderr string
	}{
		{"expression", []string{"-e", "6 * 7"}, "", 0, "42\n", ""},
		{"console", []string{"-e", "console.log('out'); console.error('err')"}, "", 0, "out\n", "err\n"},
		{"a long line", []string{"-e", "console.log('x'.repeat(5000))"}, "", 0, strings.Repeat("x", 5000) + "\n", ""},
		{"more lines than the logs list", []string{"-e", "for (let i = 0; i < 1500; i++) console.log('x')"}, "", 0,
			strings.Repeat("x\n", 1500), ""},
		{"file", []string{script, "--input", "21"}, "", 0, "42\n", ""},
		{"standard input", []string{"-"}, "input === null", 0, "true\n", ""},
		{"guest error", []string{"-e", "\nthrow new TypeError('no')"}, "", 1, "",
			"airlock: TypeError: no\n    at <anonymous> (script.js:2:"},
		{"an exit", []string{"-e", "console.log(1); process.exit(3)"}, "", 1, "1\n",
			"airlock: the code called process.exit(3)\n"},
		{"an exit code that was only set", []string{"-e", "process.exitCode = 4; 'value'"}, "", 1, "\"value\"\n",
			"airlock: the code set process.exitCode to 4\n"},
		{"nothing", nil, "", 2, "", "airlock: give a file"},
		{"both", []string{script, "-e", "1"}, "", 2, "", "not both"},
		{"no such file", []string{filepath.Join(dir, "nope.js")}, "", 2, "", "no such file"},
		{"bad input", []string{"-e", "1", "--input", "{"}, "", 2, "", "--input: is not valid JSON"},
		{"bad language", []string{"-e", "1", "--language", "perl"}, "", 2, "", "language"},
		{"bad policy", []string{"-e", "1", "--policy", "nope"}, "", 2, "", "unknown policy"},
		{"bad flag", []string{"--nope"}, "", 2, "", "unknown flag"},
		{"blocked", []string{"-e", "require('child_process').execSync('id')"}, "", 3, "", "blocked by policy"},
		{"limit", []string{"-e", "for (;;);", "--timeout", "20ms"}, "", 4, "", "timed out"},
		{"store that is none", []string{"-e", "1", "--store", "ftp://x"}, "", 5, "", "ftp://x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(append([]string{"run"}, c.args...), func(name string) string { return env[name] },
				strings.NewReader(c.stdin), &stdout, &stderr)
			if code != c.code || stdout.String() != c.stdout || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("exit %d, want %d\nstdout %q, want %q\nstderr %q, want %q", code, c.code, stdout.String(), c.stdout,
					stderr.String(), c.stderr)
			}
		})
	}
	t.Run("standard input of the code", func(t *testing.T) {
		data := filepath.Join(dir, "data.txt")
		if err := os.WriteFile(data, []byte("2 3\n\u00e9\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		const note = "airlock: the code reads --input as its standard input; nothing else is read\n"
		for _, c := range []struct{ code, input, stdout, stderr string }{
			{"require('fs').readFileSync(0, 'utf8').split('\\n')[0]", "", "\"2 3\"\n", ""},
			{"require('fs').readFileSync('/dev/stdin').length", "", "7\n", ""},
			{"for await (const l of require('readline').createInterface(process.stdin)) console.log(l)", "",
				"2 3\n\u00e9\n", ""},
			{"let n = 0; for await (const c of process.stdin) n += c.length; n", "", "7\n", ""},
			{"process.stdin.once('data', (d) => console.log(d.length))", `"abc"`, "3\n", note},
			{"input", "", "", ""},
			{"const stream = { read: () => input }; stream.read(0)", "", "", ""},
			{"require('fs').read(0, Buffer.alloc(3), (e, n, b) => console.log(String(b)))", "", "2 3\n", ""},
			{"input", `"abc"`, "\"abc\"\n", ""},
		} {
			stdin, err := os.Open(data)
			if err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			args := []string{"run", "--policy", "agent", "-e", c.code}
			if c.input != "" {
				args = append(args, "--input", c.input)
			}
			code := run(args, func(name string) string { return env[name] }, stdin, &stdout, &stderr)
			_ = stdin.Close() // only read
			if code != 0 || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("%s: exit %d, printed %q and %q, want %q and %q", c.code, code, stdout.String(), stderr.String(),
					c.stdout, c.stderr)
			}
		}
	})
	t.Run("standard input that is not text", func(t *testing.T) {
		image := filepath.Join(dir, "image.png")
		if err := os.WriteFile(image, []byte("\x89PNG\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		stdin, err := os.Open(image)
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close() // only read
		var stdout, stderr bytes.Buffer
		code := run([]string{"run", "-e", "require('fs').readFileSync(0).length"},
			func(name string) string { return env[name] }, stdin, &stdout, &stderr)
		if code != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "standard input: is not UTF-8 text") {
			t.Errorf("exit %d, printed %q and %q", code, stdout.String(), stderr.String())
		}
	})
	t.Run("json and a record", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		env["AUDIT_STORE"] = "file://" + filepath.Join(dir, "audit")
		if code := run([]string{"run", "-e", "throw 1", "--json"}, func(name string) string { return env[name] },
			strings.NewReader(""), &stdout, &stderr); code != 1 {
			t.Fatalf("exit %d: %s", code, stderr.String())
		}
		var result execution.Result
		if err := json.Unmarshal(stdout.Bytes(), &result); err != nil || result.Status != execution.Failed ||
			stderr.Len() > 0 {
			t.Fatalf("%v: %s %s", err, stdout.String(), stderr.String())
		}
		stdout.Reset()
		if code := run([]string{"audit", "show", result.ID}, func(name string) string { return env[name] },
			strings.NewReader(""), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), `"cli"`) {
			t.Fatalf("exit %d: %s %s", code, stdout.String(), stderr.String())
		}
	})
}

func TestReplayCommand(t *testing.T) {
	env := map[string]string{
		"AIRLOCK_CACHE_DIR": filepath.Join(os.TempDir(), "airlock-test-cache"), "AUDIT_CODE": "keep",
		"AUDIT_STORE": "file://" + filepath.Join(t.TempDir(), "audit"),
	}
	getenv := func(name string) string { return env[name] }
	for _, code := range []string{
		"6 * 7", "[Date.now(), Math.random(), crypto.randomUUID()]", "setTimeout(() => console.log(Date.now()), 2)",
		"throw new Error(String(Math.random()))", "for (let i = 0; ; i++) Math.random()",
	} {
		var stdout, stderr bytes.Buffer
		run([]string{"run", "--json", "--timeout", "50ms", "-e", code}, getenv, strings.NewReader(""), &stdout, &stderr)
		var result execution.Result
		if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
			t.Fatalf("%v: %s %s", err, stdout.String(), stderr.String())
		}
		stdout.Reset()
		if exit := run([]string{"replay", result.ID}, getenv, strings.NewReader(""), &stdout, &stderr); exit != 0 ||
			!strings.Contains(stdout.String(), "the same execution") {
			t.Errorf("%s: exit %d: %s %s", code, exit, stdout.String(), stderr.String())
		}
	}
	var stdout, stderr bytes.Buffer
	if exit := run([]string{"replay", "exec_00000000000000000000000000"}, getenv, strings.NewReader(""), &stdout,
		&stderr); exit != 5 || !strings.Contains(stderr.String(), "no record") {
		t.Errorf("no record: exit %d: %s", exit, stderr.String())
	}
	if exit := run([]string{"replay", "nope"}, getenv, strings.NewReader(""), &stdout, &stderr); exit != 2 {
		t.Errorf("bad id: exit %d: %s", exit, stderr.String())
	}
}
