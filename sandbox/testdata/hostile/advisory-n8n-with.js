// with statements change what names mean in the guest, and nothing about what is compiled.
// CVE-2026-1470 (n8n): an identifier inside with is not seen by the checks.
// expect: value [] or error any
const found = [];
with (function () {}) {
  try { const c = constructor; if (c('return 1')() === 1) found.push('constructor'); } catch { /* refused */ }
}
with (new Proxy({}, { has: () => true, get: (t, k) => (k === Symbol.unscopables ? undefined : k === 'found' ? found : k === 'host' ? undefined : globalThis[k])})) {
  try { if (typeof host === 'function') found.push('host'); } catch { /* not there */ }
  try { if (Function('return 1')() === 1) found.push('Function'); } catch { /* refused */ }
}
return found;
