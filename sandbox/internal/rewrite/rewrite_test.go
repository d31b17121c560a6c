package rewrite_test

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
	_ "unsafe" // for go:linkname

	quickjswasi "github.com/aperturerobotics/go-quickjs-wasi-reactor"
	_ "github.com/fastschema/qjs"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

//go:linkname qjsModule github.com/fastschema/qjs.wasmBytes
var qjsModule []byte

const interval = 20_000

func builds() map[string][]byte {
	return map[string][]byte{"quickjs-ng-0.15.1": quickjswasi.QuickJSWASM, "quickjs-ng-0.10.1": qjsModule}
}

func TestRewriteTheEngines(t *testing.T) {
	for name, build := range builds() {
		t.Run(name, func(t *testing.T) {
			facts, err := rewrite.Find(build)
			if err != nil {
				t.Fatal(err)
			}
			out, loops, err := rewrite.Module(build, facts, interval)
			if err != nil || loops < 1000 {
				t.Fatalf("%d loops, %v", loops, err)
			}
			if _, err := wasm.Parse(out); err != nil {
				t.Error(err)
			}
			without, none, err := rewrite.Module(build, facts, 0)
			if err != nil || none != 0 || len(without) >= len(out) {
				t.Errorf("without fuel: %d loops, %d bytes, %v", none, len(without), err)
			}
			again, _, err := rewrite.Module(build, facts, interval)
			if err != nil || sha256.Sum256(again) != sha256.Sum256(out) {
				t.Error("rewriting is not deterministic")
			}
		})
	}
}

// TestFindNamesWhatIsMissing checks that a module in which something is not found is refused by an error that names
// it.
func TestFindNamesWhatIsMissing(t *testing.T) {
	for _, lost := range []struct{ text, names string }{
		{"Maximum call stack size exceeded", "JS_ThrowRangeError"},
		{"JS_GetException", "JS_GetException"},
		{"JS_RunGC", ""}, // found by what it does
		{"js_parse_postfix_expr", "js_parse_postfix_expr"},
	} {
		module := bytes.ReplaceAll(quickjswasi.QuickJSWASM, []byte(lost.text), []byte(strings.Repeat("?", len(lost.text))))
		_, err := rewrite.Find(module)
		if lost.names == "" {
			if err != nil {
				t.Errorf("without %q: %v", lost.text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), lost.names) {
			t.Errorf("without %q: %v", lost.text, err)
		}
	}
}

// What is mended by names is found in the build that has names, and not in the other.
func TestMendedFunctionsAreFound(t *testing.T) {
	want := map[string]int{"quickjs-ng-0.15.1": 40, "quickjs-ng-0.10.1": 0}
	for name, engine := range builds() {
		if found, err := rewrite.Mended(engine); err != nil || found != want[name] {
			t.Errorf("%s: %d functions, want %d; %v", name, found, want[name], err)
		}
	}
}

// The constants of JS_ToObject stay as they are if the address of its message is not known.
func TestUnknownMessage(t *testing.T) {
	for name, engine := range builds() {
		for _, c := range []struct {
			name    string
			message bool
			want    int
		}{{"known", true, 1}, {"unknown", false, 0}} {
			if got, err := rewrite.NullishConstants(engine, c.message); got != c.want || err != nil {
				t.Errorf("%s, %s: %d constants are replaced, want %d (%v)", name, c.name, got, c.want, err)
			}
		}
	}
}

// FuzzRewrite checks that finding and rewriting end with a module or an error for any bytes.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(wasm.Header), int64(100))
	f.Add([]byte(wasm.Header+"\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x07\x01\x05\x00\x03\x40\x0b\x0b"), int64(1))
	f.Add([]byte(wasm.Header+"\x0b\x07\x01\x00\x41\x08\x0b\x01x"), int64(0))
	f.Add(qjsModule[:4096], int64(7))
	f.Fuzz(func(t *testing.T, module []byte, fuel int64) {
		if out, err := rewrite.Dispatch(module); err == nil && !bytes.HasPrefix(out, []byte(wasm.Header)) {
			t.Fatal("not a module")
		}
		facts, err := rewrite.Find(module)
		if err != nil {
			return
		}
		if out, _, err := rewrite.Module(module, facts, max(fuel, 0)); err == nil &&
			!bytes.HasPrefix(out, []byte(wasm.Header)) {
			t.Fatal("not a module")
		}
	})
}
