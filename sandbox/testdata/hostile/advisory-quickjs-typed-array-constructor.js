// A buffer that shrinks while a view of it is made.
// CVE-2026-0821 and CVE-2026-1145 (quickjs-ng): heap overflows in the constructors of typed arrays.
// expect: value true
// expect on quickjs-ng-0.10.1: error the engine crashed on this code
for (const target of [0, 1, 512]) {
  for (const T of [Uint8Array, Float64Array, BigInt64Array, Uint16Array]) {
    for (const source of [(b) => b, (b) => new T(b), (b) => new Uint32Array(b)]) {
      const b = new ArrayBuffer(1024, { maxByteLength: 65536 });
      const from = source(b);
      const late = new Proxy(function () {}, { get(t, k) { if (k === 'prototype') { b.resize(target); return T.prototype; } return Reflect.get(t, k); } });
      try {
        const v = Reflect.construct(T, [from], late);
        for (let i = 0; i < v.length; i++) v[i] = T === BigInt64Array ? 1n : 255;
      } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
    }
  }
}
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
