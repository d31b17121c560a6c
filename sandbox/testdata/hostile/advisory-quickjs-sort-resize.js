// A comparison that shrinks, grows or hands away the buffer that is being sorted.
// CVE-2026-0822 (quickjs-ng): a heap overflow in the sort of typed arrays.
// expect: value true
for (const T of [Uint8Array, Int16Array, Float64Array, BigUint64Array]) {
  for (const size of [0, 8, 8192]) {
    const b = new ArrayBuffer(2048, { maxByteLength: 65536 });
    const v = new T(b);
    for (let i = 0; i < v.length; i++) v[i] = T === BigUint64Array ? BigInt(v.length - i) : v.length - i;
    let n = 0;
    try { v.sort((x, y) => { if (n++ === 3) b.resize(size); return x < y ? -1 : 1; }); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
    try { v.toSorted((x, y) => { b.resize(16); return x < y ? -1 : 1; }); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  }
  const c = new ArrayBuffer(2048);
  const w = new T(c);
  let m = 0;
  try { w.sort(() => { if (m++ === 2) c.transfer(); return 1; }); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
}
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
