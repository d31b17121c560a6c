// Errors of refused operations lead to no constructor but the guest's.
// CVE-2026-22686 (enclave-vm, GHSA-7qm7-455j-5p63): a tool's error is the host's, and its prototype chain leads out.
// expect: value []
const found = [];
const fails = [
  () => fetch('http://127.0.0.1/'), () => fetch('https://none.invalid/'), () => fetch('x:y'), () => require('none'), () => import('none'), () => process.chdir('/x'), () => new URL(''),
  () => crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-GCM', true, ['encrypt']), () => crypto.getRandomValues(new Float32Array(1)), () => structuredClone(Symbol()), () => atob('\u0100'),
  () => new TextDecoder('none'), () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])), () => new Response('x').json(), () => new Intl.DateTimeFormat('en', { timeZone: 'none' }), () => decodeURIComponent('%'),
  () => BigInt(1.5), () => 'x'.repeat(-1), () => new Array(-1), () => null.x, () => { throw new AggregateError([new TypeError('x')]); }, () => AbortSignal.abort().throwIfAborted(), () => new DecompressionStream('none'),
];
const names = new Set(['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'URIError', 'EvalError', 'AggregateError', 'InternalError', 'DOMException']);
for (const f of fails) {
  try { await f(); } catch (e) {
    const c = e.constructor;
    if (!(e instanceof Error) || !names.has(c.name) || c !== globalThis[c.name] || c.constructor !== Function) found.push(String(e));
    for (let p = e; p !== null; p = Object.getPrototypeOf(p)) {
      for (const k of Reflect.ownKeys(p)) {
        const d = Object.getOwnPropertyDescriptor(p, k);
        for (const v of [d.value, d.get, d.set]) if (typeof v === 'function' && v.constructor !== Function) found.push(String(k));
      }
    }
    try { if (c.constructor('return 1')() === 1) found.push('compiled'); } catch { /* refused */ }
  }
}
return found;
