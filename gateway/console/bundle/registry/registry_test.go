package registry_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/gateway/console/bundle/registry"
)

// entry is one member of an archive.
type entry struct {
	name, content string
	kind          byte
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	for _, e := range entries {
		head := &tar.Header{Name: e.name, Mode: 0o777, Typeflag: e.kind, Size: int64(len(e.content))}
		if e.kind != tar.TypeReg {
			head.Size, head.Linkname = 0, e.content
		}
		if err := files.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if e.kind == tar.TypeReg {
			if _, err := files.Write([]byte(e.content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pinned(name string, content []byte) registry.Package {
	return registry.Package{Name: name, Version: "1.2.3", Licence: "MIT", Sum: sha512.Sum512(content)}
}

func TestReadLock(t *testing.T) {
	t.Parallel()
	sum := sha512.Sum512(nil)
	entry := func(key, version, integrity string) string {
		return fmt.Sprintf(
			`{"lockfileVersion":3,"packages":{"":{"name":"x"},%q:{"version":%q,"integrity":%q,"license":"MIT"}}}`, key, version,
			integrity,
		)
	}
	good := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	packages, err := registry.ReadLock([]byte(entry("node_modules/@a/b", "1.2.3", good)))
	if err != nil || len(packages) != 1 || packages[0] != pinned("@a/b", nil) {
		t.Fatalf("%+v, %v", packages, err)
	}
	if name := packages[0].File(); name != "b-1.2.3.tgz" {
		t.Errorf("its file is %s", name)
	}
	for name, lock := range map[string]string{
		"no JSON":          "x",
		"old":              `{"lockfileVersion":1}`,
		"nested":           entry("node_modules/a/node_modules/b", "1.2.3", good),
		"leaves":           entry("node_modules/../b", "1.2.3", good),
		"elsewhere":        entry("/etc/b", "1.2.3", good),
		"upper case":       entry("node_modules/B", "1.2.3", good),
		"long name":        entry("node_modules/"+strings.Repeat("b", 215), "1.2.3", good),
		"a range":          entry("node_modules/b", "^1.2.3", good),
		"a path":           entry("node_modules/b", "1.2.3-/../x", good),
		"no integrity":     entry("node_modules/b", "1.2.3", ""),
		"a weak integrity": entry("node_modules/b", "1.2.3", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
		"half a digest":    entry("node_modules/b", "1.2.3", "sha512-AAAA"),
		"a link": `{"lockfileVersion":3,"packages":{"node_modules/b":{"version":"1.2.3","link":true,"integrity":"` +
			good + `"}}}`,
	} {
		if packages, err := registry.ReadLock([]byte(lock)); err == nil {
			t.Errorf("%s: taken as %v", name, packages)
		}
	}
}

// An archive that the lock pins is kept, and fetched once.
func TestFetch(t *testing.T) {
	t.Parallel()
	one, two := []byte("archive one"), []byte("archive two")
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path]++
		switch r.URL.Path {
		case "/npm/@a/one/-/one-1.2.3.tgz":
			_, _ = w.Write(one)
		case "/npm/two/-/two-1.2.3.tgz":
			_, _ = w.Write(two)
		case "/npm/big/-/big-1.2.3.tgz":
			_, _ = w.Write(make([]byte, 17<<20))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	source := registry.Source{Cache: filepath.Join(t.TempDir(), "cache"), URL: server.URL + "/npm/"}
	packages := []registry.Package{pinned("@a/one", one), pinned("two", two)}
	for range 2 {
		archives, err := source.Fetch(t.Context(), packages)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([][]byte{one, two}, archives); diff != "" {
			t.Fatalf("the archives differ (-want +got):\n%s", diff)
		}
	}
	if asked["/npm/@a/one/-/one-1.2.3.tgz"] != 1 || asked["/npm/two/-/two-1.2.3.tgz"] != 1 {
		t.Errorf("asked for %v", asked)
	}
	for name, c := range map[string]struct {
		packages []registry.Package
		says     string
	}{
		"other content": {[]registry.Package{pinned("two", []byte("what was pinned"))}, "SHA-512"},
		// the content of two is in the cache already
		"not there": {[]registry.Package{pinned("three", two), pinned("four", two)}, ""},
		"missing":   {[]registry.Package{pinned("three", []byte("3"))}, "404"},
		"too large": {[]registry.Package{pinned("big", []byte("4"))}, "more than"},
	} {
		_, err := source.Fetch(t.Context(), c.packages)
		if (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A damaged cache entry is not used.
	files, err := filepath.Glob(filepath.Join(source.Cache, "*.tgz"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if archives, err := source.Fetch(t.Context(), packages); err != nil || !bytes.Equal(archives[0], one) {
		t.Errorf("%q, %v", archives, err)
	}
	nobody := registry.Source{Cache: t.TempDir()}
	if _, err := nobody.Fetch(t.Context(), packages); !errors.Is(err, registry.ErrNoRegistry) {
		t.Error(err)
	}
}

// npm gets the names and the folder, and is trusted no more than a registry.
func TestFetchWithNPM(t *testing.T) {
	t.Parallel()
	npm := filepath.Join(t.TempDir(), "npm")
	script := `#!/bin/sh
[ "$1" = pack ] || exit 1
for a in "$@"; do case $a in
	--pack-destination=*) dir=${a#*=} ;;
	@a/one@1.2.3) printf 'archive one' >"$dir/a-one-1.2.3.tgz" ;;
	fails@1.2.3) echo 'npm error code ENOTFOUND' >&2; exit 1 ;;
esac; done`
	if err := os.WriteFile(npm, []byte(script), 0o700); err != nil { // a program
		t.Fatal(err)
	}
	source := registry.Source{Cache: t.TempDir(), NPM: npm}
	archives, err := source.Fetch(t.Context(), []registry.Package{pinned("@a/one", []byte("archive one"))})
	if err != nil || string(archives[0]) != "archive one" {
		t.Fatalf("%q, %v", archives, err)
	}
	for name, says := range map[string]string{"fails": "ENOTFOUND", "absent": "absent-1.2.3.tgz"} {
		if _, err := source.Fetch(t.Context(), []registry.Package{pinned(name, []byte("5"))}); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (registry.Source{Cache: t.TempDir(), NPM: npm}).Fetch(
		t.Context(), []registry.Package{pinned("@a/one", []byte("another"))},
	); err == nil {
		t.Error("an archive that is not the pinned one was taken")
	}
	left, err := filepath.Glob(filepath.Join(source.Cache, "npm-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	whole := archive(
		t, entry{"package/", "", tar.TypeDir}, entry{"package/package.json", "{}", tar.TypeReg},
		entry{"package/dist/index.js", "1", tar.TypeReg},
	)
	if err := registry.Unpack(whole, root, "node_modules/@a/b"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", "@a", "b", "dist", "index.js"))
	if err != nil || string(text) != "1" {
		t.Fatalf("%q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "node_modules", "@a", "b", "package.json")); err != nil ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	many := make([]entry, 2001)
	for i := range many {
		many[i] = entry{fmt.Sprint("package/", i), "", tar.TypeReg}
	}
	for name, bad := range map[string][]byte{
		"a path upwards":   archive(t, entry{"package/../../out", "x", tar.TypeReg}),
		"an absolute path": archive(t, entry{"package//etc/x", "x", tar.TypeReg}),
		"no folder":        archive(t, entry{"index.js", "x", tar.TypeReg}),
		"a backslash":      archive(t, entry{`package/..\x`, "x", tar.TypeReg}),
		"a symbolic link":  archive(t, entry{"package/x", "/etc", tar.TypeSymlink}),
		"a hard link":      archive(t, entry{"package/x", "/etc/passwd", tar.TypeLink}),
		"a device":         archive(t, entry{"package/x", "", tar.TypeChar}),
		"twice":            archive(t, entry{"package/x", "1", tar.TypeReg}, entry{"package/x", "2", tar.TypeReg}),
		"many":             archive(t, many...),
		"a bomb":           archive(t, entry{"package/x", strings.Repeat("\x00", 65<<20), tar.TypeReg}),
		"cut":              whole[:len(whole)/2],
		"no archive":       []byte("x"),
	} {
		sub := strings.ReplaceAll(name, " ", "-")
		if err := registry.Unpack(bad, root, sub); err == nil {
			t.Errorf("%s: unpacked", name)
		}
	}
	if outside, err := filepath.Glob(filepath.Join(dir, "..", "out")); err != nil || len(outside) > 0 {
		t.Errorf("%v, %v", outside, err)
	}
}

func FuzzReadLock(f *testing.F) {
	f.Add(
		[]byte(`{"lockfileVersion":3,"packages":{"":{},"node_modules/a":{"version":"1.0.0","integrity":"sha512-AA=="}}}`),
	)
	lock, err := os.ReadFile(filepath.Join("..", "editor", "package-lock.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(lock)
	f.Fuzz(func(t *testing.T, text []byte) {
		packages, err := registry.ReadLock(text)
		if err != nil {
			return
		}
		for _, p := range packages {
			if !filepath.IsLocal(p.Name) || strings.Contains(p.Name, "/..") {
				t.Errorf("the name %q leads elsewhere", p.Name)
			}
			if filepath.Base(p.File()) != p.File() {
				t.Errorf("the file %q leads elsewhere", p.File())
			}
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, entry{"package/package.json", "{}", tar.TypeReg}))
	f.Add(archive(f, entry{"package/../x", "{}", tar.TypeReg}, entry{"package/y", "/etc", tar.TypeSymlink}))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "inside"), 0o700); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(filepath.Join(dir, "inside"))
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		_ = registry.Unpack(content, root, "p") // it may fail; it may not leave its folder
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}
