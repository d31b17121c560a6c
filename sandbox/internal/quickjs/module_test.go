package quickjs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"testing"

	"github.com/tetratelabs/wazero"
)

func TestRewriteTheEngine(t *testing.T) {
	out, err := rewrite(engineModule, FuelInterval)
	if err != nil {
		t.Fatal(err)
	}
	if segments, err := dataSegments(engineModule); err != nil || out.loops < 1000 || len(segments) == 0 {
		t.Errorf("%d loops, %d segments, %v", out.loops, len(segments), err)
	}
	if sum := sha256.Sum256(out.wasm); sum != rewrittenSum() {
		t.Errorf("rewrittenSHA256 must be %x", sum)
	}
	without, err := rewrite(engineModule, 0)
	if err != nil || without.loops != 0 || len(without.wasm) >= len(out.wasm) {
		t.Errorf("without fuel: %d loops, %d bytes, %v", without.loops, len(without.wasm), err)
	}
	again, err := rewrite(engineModule, FuelInterval)
	if err != nil || !bytes.Equal(again.wasm, out.wasm) {
		t.Error("rewriting is not deterministic")
	}
}

// Whatever the bytes, rewriting ends with a module or an error.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte("\x00asm\x01\x00\x00\x00"), int64(100))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x07\x01\x05\x00\x03\x40\x0b\x0b"), int64(1))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x0b\x07\x01\x00\x41\x08\x0b\x01x"), int64(0))
	f.Add(engineModule[:4096], int64(7))
	f.Fuzz(func(t *testing.T, module []byte, fuel int64) {
		out, err := rewrite(module, max(fuel, 0))
		if err == nil && !bytes.HasPrefix(out.wasm, wasmHeader) {
			t.Fatal("not a module")
		}
		_, _ = dataSegments(module)
		_, _ = shell(module)
	})
}

func BenchmarkCompile(b *testing.B) {
	out, err := rewrite(engineModule, FuelInterval)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for b.Loop() {
		ctx := context.Background()
		cache, err := wazero.NewCompilationCacheWithDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCompilationCache(cache))
		if _, err := rt.CompileModule(ctx, out.wasm); err != nil {
			b.Fatal(err)
		}
		_ = rt.Close(ctx)
		_ = cache.Close(ctx)
	}
}
