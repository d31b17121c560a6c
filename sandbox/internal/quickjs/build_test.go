package quickjs

import (
	"context"
	"strings"
	"testing"
)

// TestAlteredBuildIsRefused checks that a build that differs from the published one in a byte does not start.
func TestAlteredBuildIsRefused(t *testing.T) {
	for _, b := range Builds() {
		b.wasm = append([]byte(nil), b.wasm...)
		b.wasm[len(b.wasm)/2] ^= 1
		if _, err := NewRuntime(context.Background(), RuntimeConfig{Build: b}); err == nil ||
			!strings.Contains(err.Error(), b.Name) {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
	if _, err := BuildNamed("quickjs-ng-0.1"); err == nil || !strings.Contains(err.Error(), "quickjs-ng-0.1") {
		t.Errorf("an unknown build: %v", err)
	}
}

// TestRewrittenBuilds checks that the compiled module is the one whose hash names it in the cache folder.
func TestRewrittenBuilds(t *testing.T) {
	for _, b := range Builds() {
		module, _, err := b.rewrite(FuelInterval)
		if err != nil {
			t.Fatal(err)
		}
		if got := hashOf(module); got != b.rewritten {
			t.Errorf("%s: rewritten must be %s", b.Name, got)
		}
	}
}
