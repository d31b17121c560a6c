// A list of keys whose length makes the size of its memory wrap around.
// CVE-2026-120438 (quickjs-ng, GHSA-jp52-chwg-2p9p): a heap overflow on machines of 32 bits, as WebAssembly is.
// expect: error any or limit any or value true
const lengths = [0x20000001, 0x40000001, 0x15555556, 0x10000001, 0x80000001, 0xffffffff];
for (const length of lengths) {
  let n = 0;
  const list = new Proxy({}, { get(t, k) { if (k === 'length') return length; if (n++ > 5000) throw new Error('enough'); return 'k' + String(k); } });
  const p = new Proxy({}, { ownKeys: () => list });
  for (const use of [() => Reflect.ownKeys(p), () => Object.keys(p), () => ({ ...p }), () => JSON.stringify(p)]) {
    n = 0;
    try { use(); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  }
}
return true;
