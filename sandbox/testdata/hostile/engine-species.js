// Species constructors whose arrays are short, frozen, typed, proxies, or the array that is being read.
// expect: value true
const odd = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
const make = [
  () => [], () => Object.freeze([]), () => new Uint8Array(2), () => new Proxy([], {}), () => ({}), () => [1, 2, 3].fill({}, 0, 3),
  () => Object.defineProperty([], 'length', { writable: false }), (a) => a, () => new Proxy([], { defineProperty() { return false; } }),
  (a) => { a.length = 0; return []; }, (a) => { a.push(...Array(1000).fill(a)); return a; },
];
for (const m of make) {
  const fresh = () => { const a = [1, [2, 3], { n: 4 }, 'five']; a.constructor = { [Symbol.species]: function () { return m(a); } }; return a; };
  odd(() => fresh().map((x) => x)); odd(() => fresh().filter(() => true)); odd(() => fresh().slice(0)); odd(() => fresh().splice(0, 3, 'a', 'b', 'c', 'd'));
  odd(() => fresh().concat([1], [2])); odd(() => fresh().flat(9)); odd(() => fresh().flatMap((x) => [x, x]));
}
for (const T of [Uint8Array, Float64Array, BigInt64Array]) {
  const b = new ArrayBuffer(64, { maxByteLength: 128 });
  const results = [() => new T(0), () => new Uint8ClampedArray(3), () => new T(b), () => { b.resize(0); return new T(8); }, () => { b.resize(128); return new T(b, 0, 8); }, () => ({}), () => new T(b.transfer())];
  for (const r of results) {
    const v = new T(8);
    v.constructor = { [Symbol.species]: function () { return r(); } };
    odd(() => v.map((x) => x)); odd(() => v.filter(() => true)); odd(() => v.slice(1)); odd(() => v.subarray(1, 4));
  }
}
return JSON.stringify([1, 2, [3]].map(String)) === '["1","2","3"]';
