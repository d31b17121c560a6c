package packages_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"maps"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/infra/packages"
)

func TestUnpack(t *testing.T) {
	t.Parallel()
	files, err := packages.Unpack(archive(t, "package/index.js", "1", "package/lib/a.mjs", "2",
		"package/README.md", "no",
		"package/types.d.ts", "no", "package/index.js.map", "no", "package/link.js", "-> /etc/passwd",
		"package/node_modules/x/index.js", "no", "package/data.json", "{}",
		"package/./b.js", "3", "package//lib/./c.js", "4"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b.js", "data.json", "index.js", "lib/a.mjs", "lib/c.js"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"/package/a.js", "package/../../a.js", "../a/b.js", "package/b/../a.js",
		"package/a\\b.js", "a.js", "package/.", "package/" + strings.Repeat("x/", 300) + "a.js"} {
		if _, err := packages.Unpack(archive(t, name, "1")); err == nil {
			t.Errorf("accepted %.60q", name)
		}
	}
	for _, again := range []string{"other/a.js", "package/./a.js"} {
		if _, err := packages.Unpack(archive(t, "package/a.js", "1", again, "2")); err == nil {
			t.Errorf("accepted a file twice, as %s", again)
		}
	}
	large := strings.Repeat(" ", 4<<20)
	bomb := make([]string, 0, 40)
	for i := range 20 {
		bomb = append(bomb, "package/"+string(rune('a'+i))+".js", large)
	}
	if _, err := packages.Unpack(archive(t, bomb...)); err == nil {
		t.Error("accepted 80 MiB of sources")
	}
	for i := range bomb {
		if i%2 == 0 {
			bomb[i] = strings.TrimSuffix(bomb[i], ".js") + ".bin"
		}
	}
	if _, err := packages.Unpack(archive(t, slices.Concat(bomb, bomb, bomb, bomb)...)); err == nil {
		t.Error("accepted 320 MiB")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, "package/index.js", "1", "package/a/b.json", "{}"))
	f.Add(archive(f, "package/../x.js", "1"))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := packages.Unpack(b)
		if err != nil {
			return
		}
		for name := range files {
			if path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, "..") {
				t.Errorf("%q leads elsewhere", name)
			}
			if strings.ContainsAny(name, "\\\x00") {
				t.Errorf("%q has a character that no name has", name)
			}
		}
	})
}
