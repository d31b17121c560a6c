// Errors that async generators catch while they close are the guest's own.
// CVE-2026-45411 (vm2, GHSA-248r-7h7q-cr24): yield* awaits a value whose then overflows the stack.
// expect: value []
const foreign = (v) => {
  let top = v;
  for (let p = v; p !== null; p = Object.getPrototypeOf(p)) top = p;
  return top !== Object.prototype || v.constructor.constructor !== Function;
};

const found = [];
const deep = () => { const f = () => f(); f(); };
const bad = [
  { get then() { deep(); } }, { then() { deep(); } }, { get then() { const e = new Error(); e.name = Symbol(); return e.stack; } },
  new Proxy({}, { get() { deep(); } }),
];
async function* inner() {
  try { yield 1; yield 2; } catch (e) { if (foreign(e)) found.push('inner'); } finally { yield 3; }
}
async function* outer() {
  try { yield* inner(); } catch (e) { if (e instanceof Object && foreign(e)) found.push('outer'); }
}
for (const value of bad) {
  for (const how of ['return', 'throw', 'next']) {
    const it = outer();
    await it.next();
    try { await it[how](value); } catch (e) { if (e instanceof Object && e !== value && foreign(e)) found.push(how); }
    try { for await (const _ of { [Symbol.asyncIterator]: () => it }) break; } catch (e) { if (e instanceof Object && foreign(e)) found.push('for'); }
  }
}
return found;
