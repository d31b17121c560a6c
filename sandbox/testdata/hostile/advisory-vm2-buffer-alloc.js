// Buffers count before they are made.
// GHSA-6785-pvv7-mvg7 (vm2) and the heap-limit tests of isolated-vm: one call that allocates past every limit.
// expect: limit memory
// memory: 16 MiB
const keep = [];
const tries = [() => Buffer.alloc(1e9, 'x'), () => Buffer.allocUnsafe(2 ** 30), () => Buffer.concat([], 2 ** 30), () => Buffer.from({ length: 2 ** 29 }), () => new Uint8Array(2 ** 31), () => 'x'.repeat(2 ** 29),
  () => new Array(2 ** 27).fill(1), () => new SharedArrayBuffer(2 ** 30), () => new ArrayBuffer(8, { maxByteLength: 2 ** 30 }).resize(2 ** 30), () => new Blob(new Array(1e5).fill('x'.repeat(1e5)))];
for (const t of tries) {
  try { keep.push(t()); } catch (e) { if (!(e instanceof Error)) throw 'foreign'; }
}
for (;;) keep.push(Buffer.alloc(1 << 20, 1));
