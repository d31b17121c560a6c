// Buffers that are handed on while views, iterators and clones of them are used.
// quickjs-ng 4369dd6, c952c93, 0721419, a4439a0: double frees of a buffer and reads behind its end.
// expect: value true or error any
for (let i = 0; i < 200; i++) {
  const b = new ArrayBuffer(64 + i, { maxByteLength: 4096 });
  const v = new Uint8Array(b);
  const f = new Float64Array(new ArrayBuffer(256, { maxByteLength: 512 }));
  const late = { valueOf() { try { b.transfer(8); } catch { /* detached already */ } try { f.buffer.resize(8); } catch { /* fixed */ } return 60; } };
  for (const use of [() => v.lastIndexOf(0, late), () => f.lastIndexOf(0, { valueOf() { late.valueOf(); return 31; } }), () => f.indexOf(0, late), () => f.includes(undefined, late), () => v.subarray(late, 64), () => v.set([1, 2], late), () => structuredClone(b, { transfer: [b] }), () => b.transferToFixedLength(late), () => new DataView(b, late), () => [...v.entries()], () => b.slice(late), () => new Uint8Array(b, late), () => v.toSorted(() => late.valueOf()), () => v.map(() => late), () => f.copyWithin(late, 0, 31)]) {
    try { use(); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  }
}
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
