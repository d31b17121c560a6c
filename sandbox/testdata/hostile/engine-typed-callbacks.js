// Callbacks and conversions that shrink, grow or hand away a buffer in the middle of every method of typed arrays.
// expect: value true
// expect on quickjs-ng-0.10.1: value true or error the engine crashed or limit cpu
const odd = (f) => { try { return f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
for (const T of [Int8Array, Uint16Array, Float32Array, Float64Array, BigUint64Array]) {
  const one = T === BigUint64Array ? 1n : 1;
  for (const change of [(b) => b.resize(0), (b) => b.resize(8), (b) => b.resize(1024), (b) => b.transfer(), (b) => b.transferToFixedLength?.(16)]) {
    const fresh = () => { const b = new ArrayBuffer(128, { maxByteLength: 1024 }); const v = new T(b); return [v, () => { try { change(b); } catch {} return one; }, b]; };
    for (const name of ['every', 'some', 'find', 'findIndex', 'findLast', 'findLastIndex', 'forEach', 'map', 'filter', 'reduce', 'reduceRight', 'sort', 'toSorted']) {
      const [v, go] = fresh();
      odd(() => v[name]((...a) => { go(); return name.startsWith('some') || name.startsWith('find') ? false : one; }));
    }
    const num = (go) => ({ valueOf() { go(); return 0; }, toString() { go(); return ','; } });
    for (const call of [
      (v, o) => v.fill(o), (v, o) => v.fill(one, o), (v, o) => v.indexOf(one, o), (v, o) => v.includes(one, o), (v, o) => v.lastIndexOf(one, o),
      (v, o) => v.copyWithin(o, 8), (v, o) => v.copyWithin(0, o, 16), (v, o) => v.set([o, o]), (v, o) => v.set([one, one], o), (v, o) => v.subarray(o, 8).fill(one),
      (v, o) => v.with(o, one), (v, o) => v.with(3, o), (v, o) => v.at(o), (v, o) => v.slice(o, 9), (v, o) => v.join(o), (v, o) => { v[5] = o; },
      (v, o, b) => new DataView(b).getFloat64(o), (v, o, b) => new DataView(b, 8).setBigUint64(o, 5n), (v, o, b) => new T(b, o, 4), (v, o, b) => b.slice(o, 64),
      (v, o) => Atomics.add?.(v, o, one), (v, o) => v.toLocaleString(o), (v, o) => v.set(v.subarray(1), o), (v, o) => T.from({ length: 4, get 0() { o.valueOf(); return one; } }),
      (v, o) => Object.defineProperty(v, 3, { get value() { o.valueOf(); return one; }, writable: true, enumerable: true, configurable: true }), (v, o) => Reflect.set(v, 3, o),
    ]) { const [v, go, b] = fresh(); odd(() => call(v, num(go), b)); }
    const [w, go] = fresh();
    odd(() => { for (const x of w) go(); });
    odd(() => { for (const x of w.entries()) go(); });
    odd(() => new T(new Proxy(w, { get(t, k) { go(); return Reflect.get(t, k); } })));
  }
}
const filler = Array.from({ length: 2000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
