// No name, computed or escaped, of the global object leads to state of the library.
// GHSA-2cm2-m3w5-gp2f and GHSA-wp5r-2gw5-m7q7 (vm2): internal state under a guessable name.
// expect: value []
const found = [];
const odd = /internal|private|airlock|sandbox|quickjs|host|native|bridge|primordial|^_|^\$/i;
for (let o = globalThis; o !== null; o = Object.getPrototypeOf(o)) {
  for (const k of Reflect.ownKeys(o)) {
    if (o !== Object.prototype && odd.test(String(k.description ?? k)) && k !== 'InternalError' && k !== 'airlock') found.push(String(k));
  }
}
for (const n of ['host', 'ho\u0073t', 'call', 'op', '$airlock', 'std', 'os', 'bjson', 'scriptArgs', '__date_clock', 'navigator_', 'InternalError_']) {
  if (n in globalThis || Reflect.get(globalThis, n) !== undefined || Object.getOwnPropertyDescriptor(globalThis, n)) found.push(n);
}
try { h\u006fst; found.push('escaped'); } catch (e) { if (e.name !== 'ReferenceError') found.push(e.name); }
return found;
