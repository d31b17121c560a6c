//go:build unix

package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/process"
)

// What is run from the cache folder can have been written by this user alone.
func TestCheckCache(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(above, dir, file string) error
		says   []string // empty: it is trusted
	}{
		"as it is made": {func(_, _, _ string) error { return nil }, nil},
		"the folder is a group's": {func(_, dir, _ string) error { return os.Chmod(dir, 0o770) },
			[]string{"cache", "written by others", "chmod go-w"}},
		"the folder is everybody's": {func(_, dir, _ string) error { return os.Chmod(dir, 0o707) },
			[]string{"cache", "chmod go-w"}},
		"sticky and everybody's": {func(_, dir, _ string) error { return os.Chmod(dir, 0o777|os.ModeSticky) },
			[]string{"cache", "chmod go-w"}},
		"a file is everybody's": {func(_, _, file string) error { return os.Chmod(file, 0o666) },
			[]string{"image-x", "chmod go-w"}},
		"the folder above is": {func(above, _, _ string) error { return os.Chmod(above, 0o777) },
			[]string{"above", "chmod go-w"}},
		"the folder above, but sticky": {func(above, _, _ string) error { return os.Chmod(above, 0o777|os.ModeSticky) }, nil},
		"a link in it": {func(_, dir,
			_ string) error {
			return os.Symlink("/etc/passwd", filepath.Join(dir, "link"))
		}, []string{"link", "remove it"}},
		"it does not exist": {func(_, dir, _ string) error { return os.RemoveAll(dir) }, nil},
		"nor may it be made safely": {func(above, dir,
			_ string) error {
			return joinErrors(os.RemoveAll(dir), os.Chmod(above, 0o777))
		}, []string{"above", "chmod go-w"}},
		"a folder in it is everybody's": {func(_, dir, _ string) error {
			return joinErrors(os.Mkdir(filepath.Join(dir, "wazero"), 0o700), os.Chmod(filepath.Join(dir, "wazero"), 0o777))
		}, []string{"wazero", "chmod go-w"}},
		"it belongs to another user": {func(_, dir, _ string) error {
			if os.Geteuid() != 0 {
				return os.Chmod(dir, 0o777) // only root can give a file away
			}
			return os.Chown(dir, 12345, -1)
		}, []string{"cache"}},
		"a file belongs to another user": {func(_, _, file string) error {
			if os.Geteuid() != 0 {
				return os.Chmod(file, 0o666)
			}
			return os.Chown(file, 12345, -1)
		}, []string{"image-x"}},
	} {
		t.Run(name, func(t *testing.T) {
			above := filepath.Join(t.TempDir(), "above")
			dir := filepath.Join(above, "cache")
			file := filepath.Join(dir, "image-x")
			if err := joinErrors(os.MkdirAll(dir, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := c.change(above, dir, file); err != nil {
				t.Fatal(err)
			}
			err := process.CheckCache(dir, self)
			if (err != nil) != (len(c.says) > 0) {
				t.Fatalf("got %v", err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			linked := filepath.Join(t.TempDir(), "linked")
			if err := os.Symlink(dir, linked); err != nil {
				t.Fatal(err)
			}
			viaLink := process.CheckCache(linked, self)
			unmade := err != nil && strings.Contains(name, "made safely") || name == "it does not exist"
			if !unmade && (viaLink == nil) != (err == nil) {
				t.Errorf("by a link: %v", viaLink)
			}
		})
	}
}

func joinErrors(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
