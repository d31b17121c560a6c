package quickjs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
)

// TestImageCache checks that an image from the cache equals the image that was built, and that a damaged file is
// replaced and never used.
func TestImageCache(t *testing.T) {
	for _, build := range Builds() {
		t.Run(build.Name, func(t *testing.T) { testImageCache(t, build) })
	}
}

func testImageCache(t *testing.T, build Build) {
	ctx := context.Background()
	r, err := NewRuntime(ctx, RuntimeConfig{Build: build, CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(ctx)
	cfg := ImageConfig{CacheDir: t.TempDir(), Roots: 1, MaxMemoryBytes: 8 << 20,
		Library: []Script{{"a.js", "(host) => host(() => 1, 2, 3, 4)"}}}
	memory := func() ([]byte, Value) {
		im, err := r.BuildImage(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer im.Close()
		in, err := im.NewInstance(ctx, NewBudget(8<<20), &builder{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := in.Call(im.Root(0)); err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(im.regions.image.pristine), im.Root(0)
	}
	built, root := memory()
	kept, keptRoot := memory()
	if !bytes.Equal(built, kept) || root != keptRoot {
		t.Error("the kept image is another one")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	im, err := r.BuildImage(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(im.size)/4 {
		t.Errorf("%d bytes were allocated for a kept image of %d", n, im.size)
	}
	if err := im.Close(); err != nil {
		t.Error(err)
	}
	path := r.cachePath(cfg)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string][]byte{"empty": {}, "half": file[:len(file)/2],
		"altered": append(append(bytes.Clone(file[:5000]), file[5000]^1), file[5001:]...)} {
		if err := os.WriteFile(path, damage, 0o600); err != nil {
			t.Fatal(err)
		}
		memory()
		if after, err := os.ReadFile(path); err != nil || len(after) != len(file) {
			t.Errorf("%s: the file was not replaced: %v", name, err)
		}
	}
}

// TestImageIsReproducible checks that an image is a function of what it is built from: two builds are equal byte for
// byte.
func TestImageIsReproducible(t *testing.T) {
	for _, build := range Builds() {
		t.Run(build.Name, func(t *testing.T) { testImageIsReproducible(t, build) })
	}
}

func testImageIsReproducible(t *testing.T, build Build) {
	ctx := context.Background()
	var first []byte
	for range 3 {
		r, err := NewRuntime(ctx, RuntimeConfig{Build: build, CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
		if err != nil {
			t.Fatal(err)
		}
		cfg := ImageConfig{CacheDir: t.TempDir(), Roots: 1, MaxMemoryBytes: 8 << 20,
			Library: []Script{{"a.js", "(host) => host(() => 1, Math.random(), Date.now(), {})"}}}
		im, err := r.BuildImage(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(r.cachePath(cfg))
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, file) {
			t.Error("another image was built of the same")
		}
		first = file
		if err := errors.Join(im.Close(), r.Close(ctx)); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzImageFile(f *testing.F) {
	im := &Image{size: rewrite.PageSize, roots: []Value{1}, learned: learned{FunctionCode: [][]byte{{1}}}}
	file, err := im.encode(make([]byte, rewrite.PageSize))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add([]byte(imageMagic))
	f.Fuzz(func(t *testing.T, file []byte) {
		var im Image
		r := bytes.NewReader(file)
		if err := im.decode(r, r.Size(), 1); err == nil && r.Len() != int(im.size) {
			t.Fatal("memory of another size")
		}
	})
}

// FuzzDerivedImage reads files that claim to hold an image derived from the library's.
func FuzzDerivedImage(f *testing.F) {
	f.Add([]byte(derivedMagic + "\x0e\x00\x00\x00" + `{"Size":65536}` + "\x01\x01abcdefgh"))
	f.Add([]byte(derivedMagic + "\x40\x00\x00\x00" + `{"Size":65536,"Bits":1,"At":[8],"Added":[0]}                    `))
	f.Fuzz(func(t *testing.T, file []byte) {
		h, changes, err := decodeDerived(file)
		if err != nil || h.Size > 4*rewrite.PageSize {
			return
		}
		memory := make([]byte, h.Size)
		_ = patch(memory, changes) // an error is fine
		for _, at := range h.At {
			clear(memory[at : at+8])
		}
	})
}
