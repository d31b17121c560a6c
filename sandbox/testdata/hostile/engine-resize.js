// A typed array that shrinks while it is sorted.
// expect: any
const b = new ArrayBuffer(4096, { maxByteLength: 8192 });
const v = new Uint8Array(b);
try { v.sort(() => { b.resize(16); return 1; }); } catch {}
return 1;
