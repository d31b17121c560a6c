package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// different are the files of testdata/hostile that end differently on another engine, and why. They must still end with
// an ordinary result.
var different = map[string]string{
	"v8/advisory-quickjs-coroutines":  "no defect of this engine",
	"v8/advisory-quickjs-generators":  "Node.js 20 has no Iterator",
	"v8/advisory-sandboxjs-callers":   "sloppy functions have caller",
	"v8/advisory-vm2-promise-species": "Node.js 20 has no Array.fromAsync",
	"v8/c-bigint-power":               "fast enough to end",
	"v8/c-bigint-print":               "fast enough to end",
	"v8/c-join":                       "fast enough to end",
	"v8/c-repeat":                     "strings are shorter",
	"v8/output-result-array":          "strings are shorter",
	"v8/engine-iterators":             "Node.js 20 has no Iterator",
	"v8/memory-caught-once":           "an allocation that fails may be caught",
	"v8/memory-one-buffer":            "an allocation that fails may be caught",
	"v8/proto-frozen":                 "the global object of a context cannot be frozen",
	"v8/stack-forged":                 "an error that looks like an overflow counts as one",
	"v8/zlib-bomb":                    "the library's own heap is larger",

	"jsc/advisory-enclave-stack-overflow": "an overflow in the engine's part has an error of another realm",
	"jsc/advisory-sandboxjs-callers":      "sloppy functions have caller",
	"jsc/c-repeat":                        "strings are shorter",
	"jsc/engine-realms":                   "an overflow inside the engine's part may end it",
	"jsc/engine-typed-callbacks":          "the engine ends when a buffer shrinks under one of its methods",
	"jsc/memory-caught-once":              "an allocation that fails may be caught",
	"jsc/stack-forged":                    "an error that looks like an overflow counts as one",
	"jsc/zlib-bomb":                       "the library's own heap is larger",
}

// Hostile code ends as it does on QuickJS, apart from what the table says.
func TestOtherEngineHostile(t *testing.T) {
	eachOtherEngine(t, func(t *testing.T, e *sandbox.Engine, engine string) {
		for _, a := range attacks(t) {
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()                                                  // each attack has a process of its own
				a.grants.Limits.Wall = min(a.grants.Limits.Wall, time.Minute) // some attacks make an engine wait for its end
				began := time.Now()
				r, err := e.Run(t.Context(), sandbox.Script{Engine: engine, Code: a.code}, a.grants)
				if err != nil {
					t.Fatal(err)
				}
				// Which limit comes first depends on an engine's speed, and an engine may end before it can say that it has
				// no memory.
				limited := strings.Contains(a.expect, "limit") &&
					(r.Limit != "" || strings.HasPrefix(r.Error, "the engine ended on this code"))
				if wrong := a.judge(r); wrong != "" && different[engine+"/"+a.name] == "" && !limited {
					t.Errorf("%s (%v)", wrong, time.Since(began))
				}
			})
		}
	})
}
