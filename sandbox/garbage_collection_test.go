package sandbox_test

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestGarbageInCyclesIsCollected checks that cyclic garbage does not fill the memory of a run, however large its
// pieces are.
func TestGarbageInCyclesIsCollected(t *testing.T) {
	e := newEngine(t)
	for _, code := range []string{
		"for (let i = 0; i < 100; i++) { const a = {b: new Uint8Array(1 << 20).fill(i)}; a.self = a } 'done'",
		"for (let i = 0; i < 400; i++) { const a = {b: 'x'.repeat(100000) + i}; a.self = a } 'done'",
		"for (let i = 0; i < 300000; i++) { const a = {i}; a.self = a } 'done'",
		"for (let i = 0; i < 60; i++) { const f = () => f; f.rows = Array.from({length: 1000}, (_, k) => ({k, f})) } 'done'",
	} {
		r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{Limits: sandbox.Limits{MemoryBytes: 16 << 20}})
		if string(r.Value) != `"done"` || r.Usage.MemoryBytes > 16<<20 {
			t.Errorf("%s\n%s %q: %d bytes", code, r.Value, r.Error, r.Usage.MemoryBytes)
		}
	}
}

// TestSuspendedFunctionsSurviveCollections checks that async functions and generators that only a closure can resume
// are there when it does, however often garbage is collected before. quickjs-ng 0.10.1, whose build has no names,
// frees them.
func TestSuspendedFunctionsSurviveCollections(t *testing.T) {
	if oldBuild() {
		return
	}
	e := newEngine(t)
	const churn = `async function churn() {
		for (let k = 0; k < 5; k++) {
			for (let i = 0; i < 20000; i++) { const o = {i}; o.self = o }
			await new Promise((r) => setTimeout(r, 1));
		}
	}`
	for name, code := range map[string]string{
		"async functions": `async function task(i) {
				let done; const p = new Promise((r) => { done = r });
				setTimeout(() => done(i), 5);
				return await p;
			}
			const all = await Promise.all([churn(), ...Array.from({length: 100}, (_, i) => task(i))]);
			return all.slice(1).every((v, i) => v === i)`,
		"async generators": `async function* stream(i) {
				let done; const p = new Promise((r) => { done = r });
				setTimeout(() => done(i), 5);
				yield await p; yield i;
			}
			async function sum(i) { let s = 0; for await (const v of stream(i)) s += v; return s }
			const all = await Promise.all([churn(), ...Array.from({length: 100}, (_, i) => sum(i))]);
			return all.slice(1).every((v, i) => v === 2 * i)`,
		"async generators without await": `const listeners = [];
			async function* events(i) {
				const queue = []; let wake = () => {};
				listeners.push((v) => { queue.push(v); wake() });
				while (true) {
					while (queue.length) yield queue.shift();
					await new Promise((r) => { wake = r });
				}
			}
			let sum = 0;
			for (let i = 0; i < 50; i++) {
				const it = events(i), step = (r) => { sum += r.value; it.next().then(step) };
				it.next().then(step);
			}
			for (let k = 1; k <= 3; k++) { await churn(); for (const l of listeners) l(k) }
			await churn(); return sum === 300`,
		"generators of a runner": `const done = [];
			const runner = (f) => new Promise((resolve) => {
				const it = f(), step = (v) => { const r = it.next(v); r.done ? resolve(r.value) : r.value.then(step) };
				step();
			});
			const all = Array.from({length: 100}, (_, i) => runner(function* () {
				let go; const p = new Promise((r) => { go = r });
				done.push(() => go(i));
				return yield p;
			}));
			await churn(); for (const f of done) f();
			return (await Promise.all(all)).every((v, i) => v === i)`,
		"generators in a cycle": `const read = [];
			for (let i = 0; i < 50; i++) (() => {
				let g = (function* () { const o = {i, g}; read.push(() => o); yield; o.g = g; yield; yield o.i })();
				g.next(); g.next(); g = null;
			})();
			await churn();
			return read.every((f, i) => f().i === i && f().g.next().value === i)`,
		"generators that are given up": `class Lines {
				constructor(i) { this.i = i; this.all = this.walk(); this.all.next() }
				* walk() { const get = () => this.i; while (true) yield get() }
			}
			let sum = 0;
			for (let i = 0; i < 10000; i++) sum += new Lines(i).all.next().value;
			await churn(); return sum === 49995000`,
		"a cycle that never ends": `const wait = async () => { const o = {}; o.p = new Promise(() => o); await o.p };
			for (let i = 0; i < 1000; i++) wait();
			await churn(); return true`,
	} {
		r := run(t, e, sandbox.Script{Code: churn + code}, sandbox.Grants{})
		if string(r.Value) != "true" {
			t.Errorf("%s: %s %s", name, r.Value, r.Error)
		}
	}
}
