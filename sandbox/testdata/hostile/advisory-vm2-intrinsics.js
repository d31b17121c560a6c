// Writes to built-in prototypes, through whatever they are reached, stay in the execution.
// GHSA-vwrp-x96c-mhwq (vm2), CVE-2026-25586, CVE-2026-25587 and CVE-2026-25881 (SandboxJS): the host's own prototypes are changed.
// expect: value "changed"
const walk = [Map, Set, WeakMap, WeakSet, Promise, Array, Object, Function, String, Number, RegExp, Date, Error, TypeError, Uint8Array, ArrayBuffer, DataView, URL, Headers, Response, Event];
for (const c of walk) {
  const [p] = [c.prototype];
  ({ p }).p.polluted = 'changed';
  for (const k of ['has', 'get', 'set', 'add', 'push', 'toJSON', 'hasOwnProperty', 'valueOf', 'toString', 'constructor']) {
    try { Object.defineProperty(p, k, { value: () => 'changed', writable: true, configurable: true }); } catch { /* not configurable */ }
  }
  try { Object.preventExtensions(p); } catch { /* refused */ }
}
JSON.stringify = JSON.parse = () => 'changed';
return new Map().polluted;
