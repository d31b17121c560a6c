package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// attack is one file of testdata/hostile. Its first comments say what it is, the expected outcome ("limit NAME",
// "limit any", "error TEXT", "error any", "value JSON", "any", or alternatives with " or " between them) and what it
// needs ("grant: eval", "grant: node": modules and files, "grant: agent": all that the widest tier has, "memory: 16
// MiB"). "expect on quickjs-ng-0.10.1: " states the outcome on the older build where it differs, because of a defect of
// that engine that stays inside the guest. Files called advisory-* reproduce the class of public advisories, which
// their comments name.
type attack struct {
	name, code, expect string
	grants             sandbox.Grants
}

func attacks(t testing.TB) []attack {
	t.Helper()
	files, err := filepath.Glob("testdata/hostile/*.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no hostile files: %v", err)
	}
	var out []attack
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := attack{name: strings.TrimSuffix(filepath.Base(file), ".js"), code: string(b)}
		a.grants.Limits.Wall = 250 * time.Millisecond
		for line := range strings.Lines(a.code) {
			comment, ok := strings.CutPrefix(strings.TrimSpace(line), "// ")
			if !ok {
				break
			}
			if e, ok := strings.CutPrefix(comment, "expect: "); ok {
				a.expect = e
			}
			if e, ok := strings.CutPrefix(comment, "expect on quickjs-ng-0.10.1: "); ok && oldBuild() {
				a.expect = e
			}
			switch comment {
			case "grant: eval":
				a.grants.Eval = true
			case "grant: agent":
				a.grants.Eval, a.grants.Modules, a.grants.Files = true, []string{"*"}, sandbox.FilesWrite
				a.grants.Network = sandbox.Network{Mode: sandbox.NetworkPublic}
			case "grant: node":
				a.grants.Modules, a.grants.Files = []string{"*"}, sandbox.FilesWrite
			case "memory: 16 MiB":
				a.grants.Limits.MemoryBytes = 16 << 20
			}
		}
		if a.patient() {
			a.grants.Limits.Wall, a.grants.Limits.CPU = 5*time.Minute, 20*time.Second
		}
		if a.expect == "" {
			t.Fatalf("%s says not what to expect", file)
		}
		out = append(out, a)
	}
	return out
}

// patient reports whether an attack should end before its deadline. It then gets more time, for busy machines:
// the deadline is far, and 20 s of processor time end what never ends.
func (a attack) patient() bool {
	return a.expect != "any" && a.expect != "limit any" && a.expect != "limit wall"
}

// judge returns what is wrong with a result, "" if it is as expected. An expectation may have alternatives.
func (a attack) judge(r sandbox.Result) (wrong string) {
	for expect := range strings.SplitSeq(a.expect, " or ") {
		if wrong = judgeOne(expect, r); wrong == "" {
			return ""
		}
	}
	return wrong
}

func judgeOne(expect string, r sandbox.Result) string {
	kind, want, _ := strings.Cut(expect, " ")
	switch kind {
	case "any":
		return ""
	case "limit":
		if r.Limit == "" || want != "any" && string(r.Limit) != want {
			return "limit " + string(r.Limit) + ", error " + r.Error
		}
	case "error":
		if r.Error == "" || r.Limit != "" || want != "any" && !strings.Contains(r.Error, want) {
			return "limit " + string(r.Limit) + ", error " + r.Error
		}
	case "value":
		if string(r.Value) != want {
			return "value " + string(r.Value) + ", error " + r.Error
		}
	default:
		return "unknown expectation"
	}
	return ""
}

// clean runs after every attack and must find no trace of it.
const clean = `const left = Object.getOwnPropertyNames(Object.prototype).length + Object.keys(globalThis).length;
globalThis.mark = (globalThis.mark ?? 0) + 1;
return [left, mark, JSON.stringify([1, { a: 2 }]), await Promise.resolve(3), [...'ab'].join('-')];`

func TestHostile(t *testing.T) {
	e := newEngine(t)
	fresh, err := e.Run(t.Context(), sandbox.Script{Code: clean}, sandbox.Grants{})
	if err != nil || fresh.Error != "" {
		t.Fatal(fresh.Error, err)
	}
	for _, a := range attacks(t) {
		t.Run(a.name, func(t *testing.T) {
			r, err := e.Run(t.Context(), sandbox.Script{Code: a.code}, a.grants)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := a.judge(r); wrong != "" {
				t.Errorf("want %s, got %s", a.expect, wrong)
			}
			after, err := e.Run(t.Context(), sandbox.Script{Code: clean}, sandbox.Grants{})
			if err != nil || string(after.Value) != string(fresh.Value) {
				t.Errorf("the next execution got %s (%s, %v), want %s", after.Value, after.Error, err, fresh.Value)
			}
		})
	}
}
