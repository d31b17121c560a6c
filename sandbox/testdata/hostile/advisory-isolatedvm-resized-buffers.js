// Bytes that a host operation reads are those that are there when it reads them, whatever its arguments do meanwhile.
// The resized and detached buffer fixes of isolated-vm 7.0.0 and CVE-2025-12745 (QuickJS): a length that is read too early.
// expect: value []
// expect on quickjs-ng-0.10.1: value ["cut","cut"]
const found = [];
const make = () => { const b = new ArrayBuffer(4096, { maxByteLength: 8192 }); const v = new Uint8Array(b); v.fill(7); return { b, v }; };
const shrink = [(b) => b.resize(0), (b) => b.resize(8), (b) => b.resize(8192), (b) => b.transfer(1), (b) => structuredClone(b, { transfer: [b] })];
const uses = {
  digest: (v, late) => crypto.subtle.digest({ get name() { late(); return 'SHA-256'; } }, v),
  random: (v, late) => { late(); return crypto.getRandomValues(v); },
  decode: (v, late) => new TextDecoder().decode(v, { get stream() { late(); return false; } }),
  encode: (v, late) => new TextEncoder().encodeInto({ toString() { late(); return 'x'.repeat(9000); } }.toString(), v),
  aes: (v, late) => crypto.subtle.importKey('raw', v.subarray(0, 16), { get name() { late(); return 'AES-GCM'; } }, true, ['encrypt']),
  blob: (v, late) => new Blob([{ toString() { late(); return 'x'; } }, v]).arrayBuffer(),
  response: (v, late) => new Response(v, { get status() { late(); return 200; } }).arrayBuffer(),
  slice: (v, late) => v.slice({ valueOf() { late(); return 0; } }, { valueOf() { late(); return 4096; } }),
  cut: (v, late) => v.buffer.slice(0, { valueOf() { late(); return 4096; } }),
  copy: (v, late) => v.copyWithin(0, { valueOf() { late(); return 100; } }, 4000),
  fill: (v, late) => v.fill({ valueOf() { late(); return 9; } }),
  set: (v, late) => v.set({ get length() { late(); return 4; }, 0: 1, 1: 2, 2: 3, 3: 4 }, 8),
  at: (v, late) => v.with({ valueOf() { late(); return 4000; } }, 1),
  view: (v, late) => new DataView(v.buffer).getFloat64({ valueOf() { late(); return 4000; } }),
  buffer: (v, late) => Buffer.from(v.buffer, { valueOf() { late(); return 0; } }, 4096).toString('latin1'),
  search: (v, late) => v.lastIndexOf(9, { valueOf() { late(); return 4095; } }),
  join: (v, late) => v.join({ toString() { late(); return '-'; } }),
  string: (v, late) => String.fromCharCode.apply({ late: late() }, v),
};
for (const [name, use] of Object.entries(uses)) {
  for (const s of shrink) {
    const { b, v } = make();
    let done = false;
    const late = () => { if (!done) { done = true; try { s(b); } catch { /* refused */ } } };
    try {
      const r = await use(v, late);
      const bytes = r instanceof ArrayBuffer ? new Uint8Array(r) : r instanceof Uint8Array ? r : null;
      if (name === 'cut' || name === 'slice') for (const x of bytes) if (x !== 7 && x !== 0) { found.push(name); break; }
    } catch (e) { if (!(e instanceof Error)) found.push(name); }
  }
}
return found;
