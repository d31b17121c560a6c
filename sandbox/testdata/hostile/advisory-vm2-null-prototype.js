// Thrown and resolved values without a prototype arrive as they were: what is written to them stays on them.
// GHSA-9vg3-4rfj-wgcm and GHSA-mpf8-4hx2-7cjg (vm2): a bridge takes them for the other side's.
// expect: value ["same","same","same","same",true]
const out = [];
const bare = { __proto__: null };
try { throw bare; } catch (e) { e.f = Buffer.prototype.write; out.push(e === bare && bare.f === e.f ? 'same' : 'other'); }
await Promise.resolve(bare).then((e) => out.push(e === bare ? 'same' : 'other'));
await Promise.reject(bare).catch((e) => out.push(e === bare ? 'same' : 'other'));
await new Promise((ok) => setTimeout(ok, 0, bare)).then((e) => out.push(e === bare ? 'same' : 'other'));
out.push(bare.f.constructor === Function);
return out;
