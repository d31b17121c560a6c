package sandbox_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
)

// TestMendedFunctions checks functions that the build of quickjs-ng 0.15.1 has wrong, and that the rewriting mends.
func TestMendedFunctions(t *testing.T) {
	if oldBuild() {
		return
	}
	e := newEngine(t)
	for name, code := range map[string]string{
		"sort compares identical values": `const o = {}; let same = 0;
			const note = (a, b) => { if (Object.is(a, b)) same++; return 0 };
			[o, o].sort(note); ['a', 'a'].toSorted(note); [NaN, NaN].sort(note);
			return same === 3 && [3, 1, 2, 3, 1].sort((a, b) => a - b).join() === '1,1,2,3,3'`,
		"sort throws for identical values": `const o = {};
			try { [o, o].sort(() => { throw new RangeError('x') }) } catch (e) { return e.message === 'x' }`,
		"RegExp.escape of a concatenated text": `const rope = 'a.b-c|d'.repeat(4000) + '☃'.repeat(50000);
			const flat = Array.from(rope).join('');
			return RegExp.escape(rope) === RegExp.escape(flat) &&
				[rope, rope + 'é'].map(RegExp.escape)[1] === RegExp.escape(flat + 'é') &&
				new RegExp(RegExp.escape(rope)).test(flat) && rope.length === 78000`,
		"RegExp.escape of other values": `
			const none = (...a) => { try { RegExp.escape(...a) } catch (e) { return e instanceof TypeError } };
			return none() && none(1) && none(null) && none({})`,
		"maps find keys after they have grown": `
			const keys = [NaN, 0, -1, 2 ** 31, 2 ** 53, Infinity, 0n, 2n ** 70n, true, null, Symbol.iterator, {}, 'x'];
			for (let i = 1; i < 3000; i++) keys.push(i, i + 0.5, -i * 1024, i * 2 ** 33, BigInt(i));
			const map = new Map(), set = new Set(keys);
			for (const [i, k] of keys.entries()) map.set(k, i);
			return map.get(-0) === 1 && keys.every((k, i) => map.get(k) === i && set.has(k)) && !map.has(3000) &&
				keys.filter((_, i) => i % 2).every((k) => map.delete(k) && !map.has(k)) &&
				keys.every((k, i) => map.has(k) === (i % 2 === 0))`,
		"collections during a disposal": `
			const churn = () => { for (let i = 0; i < 3000; i++) { const o = { a: [i] }; o.self = o } };
			let sum = 0;
			for (let i = 0; i < 100; i++) {
				const s = new DisposableStack(), held = { i }; held.me = held;
				s.adopt({ list: [i, { deep: i }] }, (v) => { churn(); sum += v.list[1].deep });
				s.use({ held, [Symbol.dispose]() { churn(); sum += this.held.me.i } });
				s.defer(churn);
				s.dispose();
			}
			churn();
			return sum === 9900`,
		"handlers of a disposal without arguments": `const then = Promise.prototype.then; const kept = [];
			Promise.prototype.then = function (f, r) { if (r) kept.push(r); return Promise.resolve() };
			const s = new AsyncDisposableStack(); s.use(undefined); s.defer(() => {}); s.disposeAsync();
			Promise.prototype.then = then;
			const count = (...all) => all.length; // its arguments remain on the stack
			const thrown = kept.map((f) => { count(41, 42, 43, 44); try { return f() } catch (e) { return e } });
			return thrown.length > 0 && thrown.every((v) => v === undefined)`,
	} {
		r := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{})
		if string(r.Value) != "true" {
			t.Errorf("%s: %s %s", name, r.Value, r.Error)
		}
	}
}

// TestArraysMoveElements checks that inserting and removing elements moves the others at once, that an array keeps its
// elements, and that each element keeps its count of references: the run has little more memory than the array.
func TestArraysMoveElements(t *testing.T) {
	if oldBuild() {
		return
	}
	e := newEngine(t)
	const most = 60 // polls; with a copy of each element, 100 and more
	for name, code := range map[string]string{
		"insert one":              "for (let i = 0; i < 500; i++) { a.splice(i, 0, { i }); a.pop() }",
		"insert several":          "for (let i = 0; i < 500; i++) { a.splice(i, 0, { i }, [i], i); a.length -= 3 }",
		"insert in front":         "for (let i = 0; i < 500; i++) { a.unshift({ i }); a.pop() }",
		"insert several in front": "for (let i = 0; i < 500; i++) { a.unshift({ i }, 'x' + i); a.pop(); a.pop() }",
		"remove":                  "for (let i = 0; i < 500; i++) { a.splice(i, 1); a.push({ i }) }",
		"remove several":          "for (let i = 0; i < 500; i++) { a.splice(i, 3); a.push({ i }, [i], i) }",
		"remove the first":        "for (let i = 0; i < 500; i++) { a.splice(0, 1); a.push({ i }) }",
		"delete the last":         "for (let i = 0; i < 500; i++) { delete a[a.length - 1]; a.length--; a.splice(9, 0, {}) }",
		"copy within":             "for (let i = 0; i < 500; i++) { a.copyWithin(1, 0); a.copyWithin(0, 2); a[i] = { i } }",
		"a few, then many": "a.length = 1; a.unshift(1, 2); while (a.length < 5000) a.push({}); " +
			"for (let i = 0; i < 500; i++) a.splice(2, 1)",
	} {
		script := sandbox.Script{Code: "const a = Array.from({ length: 5000 }, (_, i) => ({ i })); " + code +
			"; return a.every((v) => v !== undefined)"}
		r := run(t, e, script, sandbox.Grants{Limits: sandbox.Limits{MemoryBytes: 8 << 20}})
		if string(r.Value) != "true" || r.Usage.Ticks > most {
			t.Errorf("%s: %s %s, %d ticks, at most %d", name, r.Value, r.Error, r.Usage.Ticks, most)
		}
	}
}

// TestMathAsNode compares functions of mathematics, bit by bit, with what Node 20 printed for testdata/math.js. The
// build of quickjs-ng 0.10.1 has those of its own C library.
func TestMathAsNode(t *testing.T) {
	if oldBuild() {
		return
	}
	code, err := os.ReadFile("testdata/math.js")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/math.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, newEngine(t), sandbox.Script{Code: string(code)}, sandbox.Grants{})
	if diff := cmp.Diff(string(want), r.Output); diff != "" || r.Error != "" {
		t.Errorf("%s (-want +got):\n%s", r.Error, diff)
	}
}
