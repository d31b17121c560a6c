package vfs

import (
	"maps"
	"slices"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// unlimited is a memory that counts what is charged.
type unlimited struct{ held int64 }

func (m *unlimited) Charge(n int64) error      { m.held += n; return nil }
func (m *unlimited) Release(n int64)           { m.held -= n }
func (m *unlimited) ChargeAside(n int64) error { return m.Charge(n) }
func (m *unlimited) ReleaseAside(n int64)      { m.Release(n) }

func newFS(t *testing.T, writable bool, memory *unlimited) *FS {
	t.Helper()
	f, err := New(Config{
		Writable: writable, MaxBytes: 100, MaxFiles: 10, TooMuch: &hostops.LimitError{Limit: "files"}, Memory: memory,
	}, map[string][]byte{"a.txt": []byte("abc"), "lib/b.txt": []byte("b")})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		name     string
		writable bool
		do       func(f *FS) (string, error)
		want     string
	}{
		{"write", true, func(f *FS) (string, error) { return f.write("/a.txt", -1, []byte("d")) }, ""},
		{"write without access", false, func(f *FS) (string, error) { return f.write("/a.txt", -1, nil) }, "EROFS"},
		{"write to a folder", true, func(f *FS) (string, error) { return f.write("/lib", 0, nil) }, "EISDIR"},
		{"write below a file", true, func(f *FS) (string, error) { return f.write("/a.txt/x", 0, nil) }, "ENOTDIR"},
		{"write below nothing", true, func(f *FS) (string, error) { return f.write("/x/y", 0, nil) }, "ENOENT"},
		{"make a folder again", true, func(f *FS) (string, error) { return f.makeFolder("/lib", false) }, "EEXIST"},
		{"make folders", true, func(f *FS) (string, error) { return f.makeFolder("/x/y", true) }, ""},
		{"remove a full folder", true, func(f *FS) (string, error) { return f.remove("/lib", true, false), nil },
			"ENOTEMPTY"},
		{"remove the root", true, func(f *FS) (string, error) { return f.remove("/", true, true), nil }, "EBUSY"},
		{"rename into itself", true, func(f *FS) (string, error) { return f.rename("/lib", "/lib/x"), nil }, "EINVAL"},
		{"rename over a folder", true, func(f *FS) (string, error) { return f.rename("/a.txt", "/lib"), nil }, "EISDIR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := c.do(newFS(t, c.writable, &unlimited{})); got != c.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestWritten(t *testing.T) {
	memory := &unlimited{}
	f := newFS(t, true, memory)
	if len(f.Written()) != 0 {
		t.Error("the files of the script count as written")
	}
	for range 3 {
		if code, err := f.write("/new.txt", -1, []byte("x")); code != "" || err != nil {
			t.Fatal(code, err)
		}
	}
	if code := f.rename("/lib", "/moved"); code != "" {
		t.Fatal(code)
	}
	got := f.Written()
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"moved/b.txt", "new.txt"}) ||
		string(got["new.txt"]) != "xxx" {
		t.Errorf("written: %q", got)
	}
	if memory.held == 0 {
		t.Error("nothing is charged")
	}
	if f.remove("/", true, true); f.remove("/new.txt", false, false) != "" || memory.held != 0 {
		t.Errorf("%d bytes stay charged", memory.held)
	}
}

func TestTooMuch(t *testing.T) {
	f := newFS(t, true, &unlimited{})
	if _, err := f.write("/big", 0, make([]byte, 200)); hostops.AsLimit(err) == nil {
		t.Errorf("too many bytes: %v", err)
	}
	var err error
	for i := 0; err == nil && i < 20; i++ {
		_, err = f.makeFolder("/d"+string(rune('a'+i)), false)
	}
	if hostops.AsLimit(err) == nil {
		t.Errorf("too many files: %v", err)
	}
}

func TestPathsStayInside(t *testing.T) {
	for path, want := range map[string]string{"../../etc/passwd": "/etc/passwd", "/a/../../b": "/b", "": "/",
		"a//b/.": "/a/b"} {
		if got, ok := cleanPath(path); !ok || got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	if _, ok := cleanPath("a\x00b"); ok {
		t.Error("a path with a NUL byte is accepted")
	}
}
