package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestArchiveIsAFunctionOfNamesAndContents(t *testing.T) {
	make := func(age time.Duration, mode os.FileMode) []byte {
		dir := t.TempDir()
		cache := filepath.Join(dir, "cache")
		for _, name := range []string{"b/two", "a", "b/one"} {
			path := filepath.Join(cache, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("content of "+name), mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Now(), time.Now().Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		data, err := archive([]entry{{name: "bootstrap", data: []byte("#!"), program: true}}, cache)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	first := make(0, 0o600)
	if !bytes.Equal(first, make(time.Hour, 0o644)) {
		t.Error("the age or mode of a file changed the zip")
	}
	dir := t.TempDir()
	if err := unpack(first, dir); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"bootstrap": 0o555, "cache/a": 0o444, "cache/b/one": 0o444} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestArchiveRefuses(t *testing.T) {
	if _, err := archive(nil, t.TempDir()); err == nil {
		t.Error("an empty cache was packed")
	}
	dir := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := archive(nil, dir); err == nil {
		t.Error("a link was packed")
	}
	evil, err := archive([]entry{{name: "../../evil", data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := unpack(evil, t.TempDir()); err == nil {
		t.Error("an entry that leads out of the zip was unpacked")
	}
}

func TestUsage(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		say  string
	}{
		"flag":         {[]string{"-nonsense"}, 2, "nonsense"},
		"architecture": {[]string{"-arch", "mips"}, 1, "must be arm64 or x86_64"},
		"use":          {[]string{"-arch", "arm64", "-use", "x86_64"}, 1, "is not among"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(append(tc.args, "-out", t.TempDir()), &stdout, &stderr)
			if code != tc.code || !strings.Contains(stderr.String(), tc.say) {
				t.Errorf("code %d, %s", code, stderr.String())
			}
		})
	}
}
