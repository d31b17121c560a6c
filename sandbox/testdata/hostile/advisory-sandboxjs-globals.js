// Functions that are reached as values of lists and entries are the ones that names reach.
// CVE-2026-25520 and CVE-2026-26954 (SandboxJS): wrappers are lost on the way through Object.values and Object.fromEntries.
// expect: value []
process.on('unhandledRejection', () => {});
const found = [];
const values = [...Object.values(globalThis), ...Reflect.ownKeys(globalThis).map((k) => { try { return globalThis[k]; } catch { return null; } })];
const all = new Set(values);
for (const v of values) if (typeof v === 'function') for (const k of Reflect.ownKeys(v)) { try { all.add(v[k]); } catch { /* an accessor that refuses */ } }
for (const f of all) {
  if (typeof f !== 'function') continue;
  const copy = Object.fromEntries([['f', f], ['then', f]]);
  for (const call of [() => copy.f('globalThis.hit = 1'), () => [f][0]('globalThis.hit = 1')(), () => f.call('', 'return globalThis.hit = 1')(), () => new copy.f('globalThis.hit = 1'), () => new f('globalThis.hit = 1')]) {
    if (f === globalThis.reportError) continue;
    try { const v = call(); if (typeof v === 'function' && !/class|bound/.test(String(v))) v(); if (typeof v?.catch === 'function') v.catch(() => {}); } catch { /* refused */ }
    if (globalThis.hit) { found.push(f.name); delete globalThis.hit; }
  }
}
return found;
