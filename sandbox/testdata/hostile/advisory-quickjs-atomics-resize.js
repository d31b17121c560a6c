// Arguments of Atomics that take the memory away after the index was checked.
// CVE-2026-1144 (quickjs-ng) and OSV-2026-703 (QuickJS): uses after free in the operations of Atomics.
// expect: value true
for (const op of ['store', 'add', 'sub', 'and', 'or', 'xor', 'exchange', 'compareExchange', 'load', 'notify']) {
  for (const away of [(b) => b.resize(0), (b) => b.transfer(), (b) => b.resize(65536)]) {
    const b = new ArrayBuffer(4096, { maxByteLength: 65536 });
    const v = new Int32Array(b);
    const late = { valueOf() { try { away(b); } catch { /* detached already */ } return 0x41414141; } };
    try { Atomics[op](v, 1000, late, late); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
    try { Atomics[op](v, { valueOf() { late.valueOf(); return 1000; } }, 1, 1); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  }
}
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
