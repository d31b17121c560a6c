// Sorting as many elements as make the size of the index wrap around.
// CVE-2026-120439 (quickjs-ng): a heap overflow on machines of 32 bits, as WebAssembly is.
// expect: error any or limit any or value true
for (const n of [0x40000001, 0x3fffffff, 0x20000001, 0x10000001]) {
  try { new Uint8Array(n).sort(() => 0); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  try { Array.prototype.sort.call({ length: n, 0: 2, 1: 1 }, () => 0); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
}
return true;
