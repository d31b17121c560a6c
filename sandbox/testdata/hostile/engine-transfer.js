// A known use after free of this engine: whatever happens stays inside.
// expect: any
const b = new ArrayBuffer(1024);
const v = new Uint8Array(b);
const c = b.transfer(16);
for (let i = 0; i < 1e4; i++) { try { v[i] = 255; new Uint8Array(c)[i % 16] = 1; } catch {} }
return c.byteLength;
