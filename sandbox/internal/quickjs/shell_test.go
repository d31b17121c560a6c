package quickjs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// TestShell checks that later starts load what the first start leaves, and that damage to it is found and repaired.
func TestShell(t *testing.T) {
	for _, build := range Builds() {
		t.Run(build.Name, func(t *testing.T) { testShell(t, build) })
	}
}

func testShell(t *testing.T, build Build) {
	ctx, dir := context.Background(), t.TempDir()
	start := func() {
		t.Helper()
		r, err := NewRuntime(ctx, RuntimeConfig{Build: build, CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close(ctx)
		if err := r.hasMark(ctx); err != nil {
			t.Error(err)
		}
		im, err := r.BuildImage(ctx,
			ImageConfig{Roots: 1, MaxMemoryBytes: 8 << 20, Library: []Script{{"a.js", "(host) => host(() => 1, 2, 3, 4)"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := im.Close(); err != nil {
			t.Error(err)
		}
	}
	load := func() error {
		r, err := loadShell(ctx, dir, build)
		if err == nil {
			err = r.Close(ctx)
		}
		return err
	}
	if err := load(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	start()
	if err := load(); err != nil {
		t.Fatal(err)
	}
	name, err := onlyFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	code := filepath.Join(dir, name)
	whole, err := os.ReadFile(code)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	for name, damage := range map[string]func() error{
		"shell's code":  func() error { return errors.Join(os.Remove(code), mustBe(errShell, load())) },
		"half the code": func() error { return os.WriteFile(code, whole[:len(whole)/2], 0o600) },
		"no shell":      func() error { return os.Remove(build.shellPath(dir)) },
		"half a shell":  func() error { return os.Truncate(build.shellPath(dir), 1000) },
		"another shell": func() error { return writeKept(build.shellPath(dir), []byte(wasm.Header)) },
	} {
		if err := damage(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if load() == nil {
			t.Errorf("%s: was loaded", name)
		}
		start()
		if err := load(); err != nil {
			t.Errorf("%s: was not repaired: %v", name, err)
		}
		if again, err := os.ReadFile(code); err != nil || !bytes.Equal(again, whole) {
			t.Errorf("%s: other code, %v", name, err)
		}
	}
}

func mustBe(want, err error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("another error"), err)
}

// TestShellWithoutFolder checks that a folder that cannot be written costs only time.
func TestShellWithoutFolder(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("there is no /proc here, which has folders that not even root can write to")
	}
	r, err := NewRuntime(t.Context(), RuntimeConfig{CacheDir: "/proc/self/fd"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.hasMark(t.Context()), r.Close(context.Background())); err != nil {
		t.Error(err)
	}
}
