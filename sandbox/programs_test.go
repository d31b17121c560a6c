package sandbox_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// programHead gives Node's modules the globals that scripts have here.
const programHead = "import { createRequire } from 'module'; const require = createRequire(import.meta.url);\n"

// TestProgramsPrintAsNode runs whole scripts of the kind that people write and compares their output with Node's:
// testdata/programs. -update-node asks the node of this machine again.
func TestProgramsPrintAsNode(t *testing.T) {
	names, err := filepath.Glob("testdata/programs/*.js")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"},
		Limits: sandbox.Limits{Wall: 30 * time.Second, LogChars: 1 << 16}}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".js"), func(t *testing.T) {
			code, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(name, ".js") + ".golden"
			if *updateNode {
				writeProgramGolden(t, golden, code)
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			seed := int64(1) // its clock waits for nobody
			r := run(t, e, sandbox.Script{Code: string(code), Seed: &seed}, grants)
			if r.Error != "" || r.Output != string(want) {
				t.Errorf("printed\n%s\n(%s) and Node\n%s", r.Output, r.Error, want)
			}
		})
	}
}

func writeProgramGolden(t *testing.T, name string, code []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.mjs")
	if err := os.WriteFile(path, append([]byte(programHead), code...), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--no-deprecation", path)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	cmd.Stdin = bytes.NewReader(nil)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, out, 0o644); err != nil {
		t.Fatal(err)
	}
}
