package sandbox_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

var updateNode = flag.Bool("update-node", false, "write testdata/node/*.golden with the node of this machine")

// nodeHarness evaluates one expression as JSON, including errors. %s is the expression.
const nodeHarness = `await (async () => {
  try {
    return { value: await (async () => (%s))() };
  } catch (e) {
    return { name: e.name, code: e.code, message: String(e.message).replace(/x-[A-Za-z0-9]{6}/g, 'x-'),
      syscall: e.syscall };
  }
})()`

// TestNode compares the Node modules with Node's own answers, line by line.
func TestNode(t *testing.T) {
	names, err := filepath.Glob("testdata/node/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	e := newEngine(t)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".js"), func(t *testing.T) {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(source)), "\n")
			golden := strings.TrimSuffix(name, ".js") + ".golden"
			if *updateNode {
				writeGolden(t, golden, lines)
			}
			text, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(string(text)), "\n")
			if len(want) != len(lines) {
				t.Fatalf("%d lines, %d answers; run with -update-node", len(lines), len(want))
			}
			grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"}}
			for i, line := range lines {
				r, err := e.Run(t.Context(), sandbox.Script{Code: "return " + fmt.Sprintf(nodeHarness, line)}, grants)
				if err != nil {
					t.Fatal(err)
				}
				got := string(r.Value)
				if r.Error != "" {
					got = r.Error
				}
				if canonical(got) != canonical(want[i]) {
					t.Errorf("line %d: %s\n got %s\nwant %s", i+1, line, got, want[i])
				}
			}
		})
	}
}

// canonical orders the members of objects.
func canonical(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(out)
}

func writeGolden(t *testing.T, name string, lines []string) {
	t.Helper()
	var script bytes.Buffer
	script.WriteString(
		"(async () => {\nconst plain = (k, v) => v === undefined ? null : typeof v === 'bigint' ? String(v) : v;\n")
	for _, line := range lines {
		fmt.Fprintf(&script, "console.log(JSON.stringify(%s, plain));\n", fmt.Sprintf(nodeHarness, line))
	}
	script.WriteString("})()")
	path := filepath.Join(t.TempDir(), "golden.cjs")
	if err := os.WriteFile(path, script.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "node", "--no-deprecation", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, out, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNavigator checks the global that Node has since version 21.
func TestNavigator(t *testing.T) {
	e := newEngine(t)
	r := run(t, e, sandbox.Script{Code: "[typeof navigator, String(navigator), navigator.userAgent]"}, sandbox.Grants{})
	if want := `["object","[object Navigator]","Node.js/22"]`; string(r.Value) != want {
		t.Errorf("%s %s, want %s", r.Value, r.Error, want)
	}
}
