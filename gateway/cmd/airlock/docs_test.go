package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/deployment"
)

// documents are those whose snippets are run from top to bottom, as a reader would run them.
var documents = []string{
	"README.md", "CONTRIBUTING.md", "functions/README.md", "functions/MIGRATION.md", "functions/examples/README.md",
	"gateway/API.md",
	"gateway/OPERATIONS.md", "gateway/cmd/airlock/README.md", "gateway/hooks/README.md", "gateway/mcp/README.md",
	"policy/README.md", "sandbox/README.md", "sandbox/COMPARISON.md", "sandbox/SECURITY-MODEL.md",
	"infra/deploy/README.md",
}

// needs are the requirements that a test does not have. A snippet with one of them is only checked for its syntax. The
// mark follows the language: ```sh needs=aws
var needs = []string{"aws", "browser", "checkout", "network", "node", "npm", "root", "sam"}

// snippet is one fenced block.
type snippet struct {
	line     int
	language string
	marks    []string // the words after the language
	text     string
}

func (s snippet) marked(name string) bool { return slices.Contains(s.marks, name) }

func (s snippet) need() string {
	for _, m := range s.marks {
		if n, ok := strings.CutPrefix(m, "needs="); ok {
			return n
		}
	}
	return ""
}

var fence = regexp.MustCompile("(?ms)^```(\\w*)([^\\n]*)\\n(.*?)^```$")

func snippets(text string) []snippet {
	var out []snippet
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, snippet{
			line: 1 + strings.Count(text[:m[0]], "\n"), language: text[m[2]:m[3]], marks: strings.Fields(text[m[4]:m[5]]),
			text: text[m[6]:m[7]],
		})
	}
	return out
}

const repository = "../../.."

func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "jq", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed, which the documents' commands use", tool)
		}
	}
	for _, name := range documents {
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(repository, name))
			if err != nil {
				t.Fatal(err)
			}
			r := newReader(t, name)
			all := snippets(string(text))
			if open := strings.Count(string(text), "\n```"); open != 2*len(all) {
				t.Fatalf("%d fences, %d snippets", open, len(all))
			}
			for i, s := range all {
				var after *snippet
				if i+1 < len(all) {
					after = &all[i+1]
				}
				r.read(s, after)
			}
			r.links(string(text))
		})
	}
}

// documentReader follows a document in a folder of its own, which links to the repository's folders.
type documentReader struct {
	*testing.T
	name, dir string
	gateway   *program
	printed   string // the output of the previous command
	told      bool   // the previous snippet was a command
}

func newReader(t *testing.T, name string) *documentReader {
	t.Helper()
	r := &documentReader{T: t, name: name, dir: t.TempDir()}
	for _, room := range []string{"functions", "gateway", "infra", "policy", "sandbox", "template.yaml"} {
		from, err := filepath.Abs(filepath.Join(repository, room))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(from, filepath.Join(r.dir, room)); err != nil {
			t.Fatal(err)
		}
	}
	cache := filepath.Join(os.TempDir(), "airlock-test-cache")
	wrapper := fmt.Sprintf("#!/bin/sh\nAIRLOCK_CACHE_DIR=%s AIRLOCK_TEST_AS_PROGRAM=1 exec %s \"$@\"\n", cache, os.Args[0])
	if err := os.Mkdir(filepath.Join(r.dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "bin", "airlock"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *documentReader) failf(s snippet, format string, args ...any) {
	r.Helper()
	r.Errorf("%s:%d: %s\n%s", r.name, s.line, fmt.Sprintf(format, args...), s.text)
}

func (r *documentReader) read(s snippet, after *snippet) {
	told := r.told
	r.told = false
	if n := s.need(); n != "" {
		if !slices.Contains(needs, n) {
			r.failf(s, "needs=%s is not among %v", n, needs)
		}
		r.readOnly(s)
		return
	}
	switch s.language {
	case "sh":
		if s.marked("serves") {
			r.serve(s)
			return
		}
		r.command(s)
		r.told = true
	case "json":
		if told {
			r.sameJSON(s)
		} else if !json.Valid([]byte(s.text)) {
			r.failf(s, "is not JSON")
		}
	case "js", "ts":
		r.guest(s, after)
	case "go":
		r.program(s)
	case "yaml":
		if _, err := deployment.Parse("policy.yaml", []byte(s.text)); err != nil {
			r.failf(s, "%v", err)
		}
		r.write(s)
	case "text":
		if told {
			r.sameText(s)
		}
	case "", "mermaid":
	default:
		r.failf(s, "nothing knows how to check %s", s.language)
	}
}

// write stores a snippet in the file that a mark names: ```yaml file=policy.yaml
func (r *documentReader) write(s snippet) {
	for _, m := range s.marks {
		if name, ok := strings.CutPrefix(m, "file="); ok {
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(s.text), 0o600); err != nil {
				r.Fatal(err)
			}
		}
	}
}

// readOnly checks a snippet that cannot be run here.
func (r *documentReader) readOnly(s snippet) {
	var cmd *exec.Cmd
	switch s.language {
	case "sh":
		cmd = exec.CommandContext(r.Context(), "bash", "-n", "-c", s.text)
	case "js", "ts":
		file := filepath.Join(r.dir, "read."+s.language)
		if err := os.WriteFile(file, []byte(s.text), 0o600); err != nil {
			r.Fatal(err)
		}
		code, _, errs := command(r.T, env(), "scan", file, "--policy", "agent")
		if code == exitUsage {
			r.failf(s, "%s", errs)
		}
		return
	case "json":
		if !json.Valid([]byte(s.text)) {
			r.failf(s, "is not JSON")
		}
		return
	default:
		return
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.failf(s, "%v: %s", err, out)
	}
}

func (r *documentReader) environment() []string {
	return append([]string{
		"PATH=" + filepath.Join(r.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + r.dir, "FUNCTION_PROCESSES=2",
	}, r.inherited()...)
}

// inherited returns the variables that serve snippets export, which readers then have in their shell, too.
func (r *documentReader) inherited() []string {
	text, err := os.ReadFile(filepath.Join(r.dir, ".exported"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// serve stops the previous gateway and runs the command of a snippet until it serves.
func (r *documentReader) serve(s snippet) {
	if r.gateway != nil {
		_ = r.gateway.Process.Signal(os.Interrupt)
		_ = r.gateway.Wait()
	}
	text := strings.ReplaceAll(s.text, "make run", "bin/airlock serve")
	script := "set -eu\n" + text
	// signals are for airlock, not for the shell
	if at := strings.LastIndex(strings.TrimRight(script, "\n"), "\n"); at >= 0 {
		last := strings.TrimSpace(script[at:])
		assigned := regexp.MustCompile(`^((?:[A-Z_0-9]+=\S* )*)(\S*airlock serve)$`).FindStringSubmatch(last)
		if assigned == nil {
			r.failf(s, "does not end with airlock serve")
			return
		}
		script = script[:at] + "\nenv > .all; exec env " + assigned[1] + "PORT=0 " + assigned[2] + "\n"
	}
	r.gateway = startCommand(r.T, r.dir, exec.Command("bash", "-c", script), r.environment())
	before, err := os.ReadFile(filepath.Join(r.dir, ".all"))
	if err != nil {
		r.Fatal(err)
	}
	var exported []string
	for line := range strings.Lines(string(before)) {
		name, _, _ := strings.Cut(line, "=")
		if strings.Contains(s.text, "export "+name+"=") {
			exported = append(exported, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(exported) > 0 {
		if err := os.WriteFile(filepath.Join(r.dir, ".exported"), []byte(strings.Join(exported, "\n")), 0o600); err != nil {
			r.Fatal(err)
		}
	}
}

// command runs a snippet's commands in one shell. With the mark exit=N, the last one must exit with N.
func (r *documentReader) command(s snippet) {
	text, want := s.text, 0
	if r.gateway != nil {
		text = strings.ReplaceAll(text, "http://127.0.0.1:3000", r.gateway.url)
	}
	for _, m := range s.marks {
		if n, ok := strings.CutPrefix(m, "exit="); ok {
			want, _ = strconv.Atoi(n)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", "set -euo pipefail\n"+text)
	cmd.Dir, cmd.Env = r.dir, r.environment()
	if r.gateway != nil {
		_, port, _ := strings.Cut(r.gateway.url, "127.0.0.1:")
		cmd.Env = append(cmd.Env, "PORT="+port)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	r.printed = string(out)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		r.failf(s, "%v, want exit %d\nstdout %s\nstderr %s", err, want, out, errs.String())
	}
	if s.marked("stderr") {
		r.printed = errs.String()
	}
}

// guest runs code under the tier that a mark names. The following text snippet is its output.
func (r *documentReader) guest(s snippet, after *snippet) {
	tier, input := "standard", "null"
	for _, m := range s.marks {
		if name, ok := strings.CutPrefix(m, "tier="); ok {
			tier = name
		}
		if text, ok := strings.CutPrefix(m, "input="); ok {
			input = text
		}
	}
	r.write(s)
	file := filepath.Join(r.dir, fmt.Sprintf("guest-%d.%s", s.line, s.language))
	if err := os.WriteFile(file, []byte(s.text), 0o600); err != nil {
		r.Fatal(err)
	}
	getenv := env("AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache"))
	code, out, errs := command(r.T, getenv, "run", file, "--policy", tier, "--input", input)
	r.printed, r.told = out+errs, after != nil && after.language == "text"
	if code != 0 && !s.marked("fails") {
		r.failf(s, "exit %d\n%s%s", code, out, errs)
	}
}

// program runs a program in Go, which may import the packages of this module. The cache folder that it names is that of
// the tests.
func (r *documentReader) program(s snippet) {
	file := filepath.Join(r.dir, fmt.Sprintf("program-%d.go", s.line))
	text := strings.ReplaceAll(s.text, "/var/cache/airlock", filepath.Join(os.TempDir(), "airlock-test-cache"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
	cmd := exec.CommandContext(r.Context(), "go", "run", "-buildvcs=false", file)
	cmd.Dir = repository
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.failf(s, "%v\n%s", err, errs.String())
	}
	r.printed, r.told = string(out), true
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)

// links checks that links within the repository lead to files that exist.
func (r *documentReader) links(text string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		if _, err := os.Stat(filepath.Join(repository, filepath.Dir(r.name), m[1])); err != nil {
			r.Errorf("%s links to %s, which is not there", r.name, m[1])
		}
	}
}
