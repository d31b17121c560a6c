package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway/console/bundle/registry"
)

// The locks pin exactly what each package.json asks for, under licences that may go into the binary.
func TestPins(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"editor", "viewer"} {
		lock, err := os.ReadFile(source + "/package-lock.json")
		if err != nil {
			t.Fatal(err)
		}
		packages, err := registry.ReadLock(lock)
		if err != nil {
			t.Fatal(err)
		}
		versions := map[string]string{}
		for _, p := range packages {
			versions[p.Name] = p.Version
			if p.Licence != "MIT" && p.Licence != "Apache-2.0" {
				t.Errorf("%s: %s is under %q", source, p.Name, p.Licence)
			}
		}
		text, err := os.ReadFile(source + "/package.json")
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ Dependencies map[string]string }
		if err := json.Unmarshal(text, &manifest); err != nil || len(manifest.Dependencies) == 0 {
			t.Fatal(source, manifest, err)
		}
		for name, version := range manifest.Dependencies {
			if versions[name] != version {
				t.Errorf("%s/package.json asks for %s %s, the lock has %q", source, name, version, versions[name])
			}
		}
	}
}

// Without a registry, the command says so in one line, fails, and writes nothing. The build continues with the text
// area.
func TestNoRegistry(t *testing.T) {
	t.Parallel()
	tool := filepath.Join(t.TempDir(), "bundle")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	room := t.TempDir()
	source := filepath.Join(room, "gateway/console/bundle/editor")
	if err := os.CopyFS(source, os.DirFS("editor")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(room, "gateway/console/playground/bundled")
	if err := os.MkdirAll(out, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tool)
	cmd.Dir = room
	cmd.Env = []string{"HOME=" + room, "PATH=" + t.TempDir()}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil || !strings.HasPrefix(said.String(), "bundle: npm is not installed") ||
		strings.Count(said.String(), "\n") != 1 {
		t.Errorf("%v: %s", err, said.String())
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}
