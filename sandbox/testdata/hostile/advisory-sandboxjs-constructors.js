// No kind of function leads to a constructor that compiles text.
// CVE-2026-23830 (SandboxJS), CVE-2025-61927 (happy-dom), GHSA-7qm7-455j-5p63 (enclave-vm): one of the kinds is forgotten.
// expect: value []
const found = [];
const kinds = [function () {}, () => {}, async () => {}, async function () {}, function* () {}, async function* () {}, class {}, class extends Array {}, { m() {} }.m, { get g() { return 1; } }.__lookupGetter__('g'),
  console.log, fetch, setTimeout, URL, new Proxy(function () {}, {}), (() => {}).bind(), Math.max, Symbol, process.on, require, Reflect.construct];
for (const f of kinds) {
  for (const c of [f.constructor, Object.getPrototypeOf(f).constructor, Reflect.get(f, 'constructor'), f['con' + 'structor'], f[['constructor']], f.__proto__.constructor, f.constructor.constructor]) {
    if (typeof c !== 'function') continue;
    for (const make of [() => c('return 1'), () => new c('return 1'), () => Reflect.construct(c, ['return 1']), () => Reflect.construct(Array, ['return 1'], c), () => c.call(null, 'a', 'return 1'), () => c.bind(null, 'return 1')(), () => class extends c { constructor() { super('return 1'); } } && new (class extends c { constructor() { super('return 1'); } })()]) {
      try { const v = make(); if (typeof v === 'function' && c !== Proxy && v() === 1) found.push(f.name); } catch { /* refused */ }
    }
  }
}
for (const text of ['eval', 'Function', 'AsyncFunction', 'GeneratorFunction', 'ShadowRealm', 'execScript']) {
  try { const v = globalThis[text]('1'); if (v === 1) found.push(text); } catch { /* refused */ }
}
for (const t of [() => setTimeout('globalThis.hit = 1'), () => setInterval('globalThis.hit = 1', 1), () => queueMicrotask('globalThis.hit = 1'), () => import('data:text/javascript,globalThis.hit=1').catch(() => {}), () => new Worker('data:text/javascript,1')]) {
  try { await t(); } catch { /* refused */ }
}
await new Promise((ok) => setTimeout(ok, 3));
if (globalThis.hit) found.push('hit');
return found;
