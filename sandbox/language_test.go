package sandbox_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// The library corrects the engine's built-ins where they return wrong values.
func TestCorrectedBuiltins(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct{ name, code, want string }{
		{"asUintN of a value with all bits", "String(BigInt.asUintN(64, -1n))", `"18446744073709551615"`},
		{"asUintN of several limbs", "String(BigInt.asUintN(128, -1n))", `"340282366920938463463374607431768211455"`},
		{"asUintN of fewer bits", "String(BigInt.asUintN(8, -1n))", `"255"`},
		{"asUintN of a positive value", "String(BigInt.asUintN(64, 5n))", `"5"`},
		{"asUintN of no width", "String(BigInt.asUintN(undefined, -1n))", `"0"`},
		{"asUintN converts its arguments once and in order",
			"const o = []; BigInt.asUintN({ valueOf() { o.push(1); return 64 } }, { valueOf() { o.push(2); return -1n } }); o",
			"[1,2]"},
		{"asUintN of a negative width", "let n; try { BigInt.asUintN(-1, 0n) } catch (e) { n = e.name } n", `"RangeError"`},
		{"asUintN of a number", "let n; try { BigInt.asUintN(64, 1) } catch (e) { n = e.name } n", `"TypeError"`},
		{"asUintN looks native",
			"[BigInt.asUintN.name, BigInt.asUintN.length, 'prototype' in BigInt.asUintN, /native code/.test(BigInt.asUintN)]",
			`["asUintN",2,false,true]`},
		{"fromAsync of an array", "Object.keys(await Array.fromAsync([1, 2]))", `["0","1"]`},
		{"fromAsync with a mapper", "await Array.fromAsync((async function* () { yield 1; yield 2 })(), (x) => x * 2)",
			"[2,4]"},
		{"fromAsync of nothing", "await Array.fromAsync(null).catch((e) => e.name)", `"TypeError"`},
		{"take from a filtered array", "[1, 2, 3, 4].values().filter((x) => x > 1).take(1).toArray()", "[2]"},
		{"take from a chain", "[1, 2].values().map((x) => x + 1).flatMap((x) => [x, x]).drop(1).take(2).toArray()", "[2,3]"},
		{"break out of a helper",
			"const r = []; for (const x of new Set([1, 2]).values().map((x) => x)) { r.push(x); break } r", "[1]"},
		{"take closes a generator",
			"const r = []; function* g() { try { yield 1; yield 2 } finally { r.push('closed') } } for (const x of " +
				"g().filter(() => true).take(1)) r.push(x); r", `[1,"closed"]`},
		{"an error of return is thrown",
			"let n; const s = { __proto__: Iterator.prototype, next: () => ({ value: 1, done: false }), return() { throw " +
				"new Error('mine') } }; try { s.map((x) => x).take(0).next(); for (const x of s.map((x) => x)) break } catch " +
				"(e) { n = e.message } n", `"mine"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := e.Run(t.Context(), sandbox.Script{Code: c.code}, sandbox.Grants{})
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Value) != c.want {
				t.Errorf("%s\nreturned %s (error %q), want %s", c.code, r.Value, r.Error, c.want)
			}
		})
	}
}
