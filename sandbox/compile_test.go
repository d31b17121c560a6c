package sandbox_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// TestNothingRunsWhileCompiling checks that no code runs while code is compiled, not even code that closes the
// function around it. At that time eval still works and the library knows no limit.
func TestNothingRunsWhileCompiling(t *testing.T) {
	e := newEngine(t)
	for _, code := range []string{
		"}); for (;;) ; (async () => {",
		"}, (() => { for (;;) ; })(), async () => {",
		"}) ? (() => { for (;;) ; })() : (async () => {",
		"}); class A { static x = (() => { for (;;) ; })() } (async () => {",
		"}); eval('for (;;) ;'); (async () => { eval('1')",
		"})`${(() => { for (;;) ; })()}`; (async () => {",
		"}) + { [Symbol.toPrimitive]() { for (;;) ; } }; (async () => {",
		"}).x = (() => { for (;;) ; })(); (async () => {",
		"0 <!--`\n}); for (;;) ; (async ($airlock) => { //`",
		"});\nlet r = Math.random(); (async () => { return r",
		"}); (async () => {",
		"}); var x = 1; (async () => { return x",
		"}, async () => {",
	} {
		for range 3 {
			r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{Limits: sandbox.Limits{Wall: 5 * time.Second}})
			if r.Limit != "" || !r.Pure {
				t.Errorf("%q: limit %q, pure %v", code, r.Limit, r.Pure)
			}
			if x := r.Exception; x == nil || x.Name != "SyntaxError" {
				t.Errorf("%q: %q %+v", code, r.Error, x)
			} else if x.Line != 1 && x.Line != 2 {
				t.Errorf("%q: line %d", code, x.Line)
			}
		}
	}
	for code, want := range map[string]string{
		"return typeof this":                                `"object"`,
		"return typeof eval('this')":                        `"object"`,
		"const f = async () => eval('typeof this'); f()":    `"object"`,
		"const f = () => () => JSON.stringify(this); f()()": `"{}"`,
		"with ({ a: 1 }) { return a }":                      `1`,
		"'use strict'; return eval('2 + 2')":                `4`,
		"1 <!-- 2 `":                                        `1`,
	} {
		for range 3 {
			if r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{Eval: true}); string(r.Value) != want {
				t.Errorf("%s: %s %s, want %s", code, r.Value, r.Error, want)
			}
		}
	}
}
