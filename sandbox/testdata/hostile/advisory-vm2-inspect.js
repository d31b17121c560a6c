// Custom inspection, hooks and getters that run while the library prints get nothing of the library but its own arguments.
// GHSA-v37h-5mfm-c47c and CVE-2026-43997 (vm2): internals leak through util.inspect and cross-realm symbols.
// expect: value []
// grant: node
const found = [];
const util = require('util');
const known = new Set([util.inspect]);
const walk = (v, path, seen = new Set()) => {
  if (v === null || typeof v !== 'object' && typeof v !== 'function' || seen.has(v)) return;
  seen.add(v);
  if (Object.getPrototypeOf(v) !== null && v.constructor?.constructor !== Function) found.push(path);
  for (const k of Reflect.ownKeys(v)) {
    let d;
    try { d = Reflect.getOwnPropertyDescriptor(v, k); } catch { continue; }
    if (!known.has(d.value)) walk(d.value, path + '.' + String(k), seen);
    if (/seen|handler|target|host/i.test(String(k)) && typeof d.value === 'function') found.push(path + '.' + String(k));
  }
};
const spy = { [Symbol.for('nodejs.util.inspect.custom')](...args) { args.forEach((a, i) => walk(a, 'argument ' + i)); return 'spied'; } };
const proxy = new Proxy({ spy }, { get(t, k, r) { if (r !== proxy) walk(r, 'receiver'); return t[k]; }, getPrototypeOf: () => Error.prototype });
for (const showProxy of [true, false]) util.inspect({ spy, proxy, list: [spy], map: new Map([[spy, spy]]) }, { showProxy, showHidden: true, depth: 9, getters: true });
console.log('%o %O %s %j', spy, spy, spy, spy, spy);
console.table([spy, { spy }]);
return found;
