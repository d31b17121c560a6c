// Accessor functions taken from their prototypes give the guest what it has already.
// CVE-2026-25142 (SandboxJS, GHSA-9p4w-fq8m-2hp7) and GHSA-grj5-jjm8-h35p (vm2): __lookupGetter__ steps over a check.
// expect: value []
const found = [];
const up = ({}).__lookupGetter__('__proto__');
const set = ({}).__lookupSetter__('__proto__');
for (const v of [console, console.log, fetch, crypto, crypto.subtle, process, performance, new Headers(), new Response(), new URL('http://a/'), Buffer.from('a'), new Proxy({}, {}), structuredClone({})]) {
  let last = v;
  for (let p = v; p !== null; p = up.call(p)) last = p;
  if (last !== Object.prototype) found.push(String(v));
  for (let p = v; p !== null; p = up.call(p)) {
    for (const k of Reflect.ownKeys(p)) {
      const d = Object.getOwnPropertyDescriptor(p, k);
      for (const f of [d.get, d.set, d.value]) {
        if (typeof f !== 'function') continue;
        try { const c = f.constructor('return 1'); if (c() === 1) found.push(String(k)); } catch { /* refused */ }
        if (d.get === f) for (const receiver of [{}, Object.prototype, globalThis, null, new Proxy(p, {})]) {
          try { f.call(receiver); } catch (e) { if (e.constructor.constructor !== Function) found.push('foreign error of ' + String(k)); }
        }
      }
    }
  }
}
try { set.call(Object.prototype, { hit: 1 }); } catch { /* refused */ }
if ({}.hit) found.push('hit');
return found;
