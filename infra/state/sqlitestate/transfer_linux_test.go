package sqlitestate_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/transfer"
)

// A copy of a folder that somebody else has made reads nothing outside of it, waits for no pipe, and reads no anchor
// without end.
func TestExportOfHostileAnchors(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"a pipe":              func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a link":              func(path string) error { return os.Symlink("/etc/passwd", path) },
		"a link to a device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"a folder":            func(path string) error { return os.Mkdir(path, 0o700) },
		"a file without data": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a file without end": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := sqlitestate.Open(dir, sqlitestate.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { shut(t, s) })
			if err := os.Mkdir(filepath.Join(dir, "anchors"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := make(filepath.Join(dir, "anchors", "a.json")); err != nil {
				t.Fatal(err)
			}
			items := 0
			err = sqlitestate.Transfer{Store: s}.Export(t.Context(), func(transfer.Item) error { items++; return nil })
			if good := name == "a file without data"; good != (err == nil) || good != (items == 1) {
				t.Errorf("%d items, %v", items, err)
			}
		})
	}
}
