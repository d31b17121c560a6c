// Buffers over detached and resized memory, and with hostile lengths.
// expect: value "done"
const a = new ArrayBuffer(16, { maxByteLength: 64 });
const b = Buffer.from(a);
a.resize(0);
try { b.toString('hex'); b.fill(1); b.copy(Buffer.alloc(4)); } catch { /* either is well */ }
const c = new ArrayBuffer(16), d = Buffer.from(c);
c.transfer();
for (const f of [() => d.toString(), () => d.readUInt32LE(0), () => d.write('x'), () => Buffer.concat([d]), () => d.equals(b)]) {
  try { f(); } catch { /* either is well */ }
}
for (const n of [-1, NaN, Infinity, 2 ** 53, 2 ** 31, '9', { valueOf() { return 5; } }]) {
  try { Buffer.alloc(n); } catch { /* as it should be */ }
}
try { Buffer.from({ length: 2 ** 31, get 0() { throw 1; } }); } catch { /* as it should be */ }
'done';
