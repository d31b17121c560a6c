// Every way of reading a stack of an error with a symbol or a proxy for a name gives text or throws in the guest's realm.
// CVE-2026-44001 and GHSA-v27g-jcqj-v8rw (vm2).
// expect: value []
// grant: node
const found = [];
const util = require('util');
for (const name of [Symbol(), Symbol.iterator, new Proxy({}, { get() { throw 1; } }), { toString: null, valueOf: null }, { [Symbol.toPrimitive]: () => Symbol() }]) {
  for (const read of [(e) => e.stack, (e) => String(e), (e) => util.inspect(e), (e) => console.error(e), (e) => structuredClone(e), (e) => util.format('%s %o', e, e)]) {
    const e = new Error('m');
    e.name = name;
    try { read(e); } catch (x) { if (typeof x === 'object' && x.constructor?.constructor !== Function) found.push('foreign'); }
  }
}
return found;
