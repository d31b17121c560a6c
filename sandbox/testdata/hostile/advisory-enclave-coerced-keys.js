// Keys that only become names at run time reach what their names reach, and nothing else.
// CVE-2026-25533 and CVE-2026-27597 (enclave-vm, GHSA-f229-3862-4942): checks of syntax see no constructor in them.
// expect: value []
const found = [];
const spell = (s) => [s, [s], [[s]], { toString: () => s }, { [Symbol.toPrimitive]: () => s }, new String(s), s.split('').join(''), String.fromCharCode(...[...s].map((c) => c.charCodeAt(0))), `${s}`, s.normalize('NFKC'), Object(s)];
for (const a of spell('constructor')) {
  for (const o of [() => {}, async () => {}, [].at, ''.at, console.log, fetch, Buffer.from]) {
    try { if (o[a]('return 1')() === 1) found.push('call'); } catch { /* refused */ }
    try { const { [a]: c } = o; if (c('return 1')() === 1) found.push('pattern'); } catch { /* refused */ }
    try { if (Reflect.get(o, a)('return 1')() === 1) found.push('Reflect'); } catch { /* refused */ }
    try { if (Object.getOwnPropertyDescriptor(Object.getPrototypeOf(o), a).value('return 1')() === 1) found.push('descriptor'); } catch { /* refused */ }
    try { if (o?.[a]?.[a]?.call(null, 'return 1')() === 1) found.push('optional'); } catch { /* refused */ }
  }
}
for (const a of spell('__proto__')) {
  const o = {};
  o[a] = { hit: 1 };
  if ({}.hit) found.push('prototype');
}
return found;
