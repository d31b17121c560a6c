package packages_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/infra/packages"
	"github.com/airlock-run/airlock/infra/packages/registrytest"
)

// TestWriteTypes checks that declarations and manifests are written where TypeScript looks for them, that nothing is
// replaced, and that no link leads out of the folder.
func TestWriteTypes(t *testing.T) {
	t.Parallel()
	r := registrytest.New(t)
	r.Publish(t, "typed", "1.0.0", "package.json", `{"types":"lib/a.d.ts"}`, "lib/a.d.ts", "export const a: number;",
		"lib/a.js", "exports.a = 1", "node_modules/x/index.d.ts", "export {}", "README.md", "no")
	r.Publish(t, "plain", "1.0.0", "index.js", "exports.b = 1")
	s, err := open(t, t.TempDir()).Add(t.Context(), &packages.Registry{URL: r.URL}, []string{"typed", "plain"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "folder")
	without, err := s.WriteTypes(dir)
	if err != nil || strings.Join(without, " ") != "plain" {
		t.Errorf("%q %v", without, err)
	}
	var written []string
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, err = filepath.Rel(dir, name)
			written = append(written, name)
		}
		return err
	})
	want := []string{"node_modules/typed/lib/a.d.ts", "node_modules/typed/package.json"}
	if diff := cmp.Diff(want, written); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := s.WriteTypes(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	other, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(other, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WriteTypes(other); !errors.Is(err, fs.ErrExist) {
		t.Errorf("through a link: %v", err)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("it wrote %v through a link, %v", left, err)
	}
}
