// Names for import() that try to leave their string, name files of the host, or change while they are read.
// expect: value []
// expect on quickjs-ng-0.10.1: error SyntaxError
const bad = [];
let reads = 0;
for (const name of ['/etc/passwd', 'file:///etc/passwd', './../../etc/passwd', 'data:text/javascript,export default 1', 'blob:x', 'http://169.254.169.254/', "x'+globalThis.leak+'", 'x\n}; leak(); {', '\0', 'node:fs\0', 'NODE:fs', 'fs/../child_process', 'child_process', 'std', 'qjs:std', 'qjs:os', 'bjson', '__proto__', 'constructor', '', ' ', '\ud800', 'a'.repeat(100000), '\u2028', '*/', '`${1}`', 'airlock:internal', '<input>', 'file:', '.', '..', './', '/',
  { toString() { return reads++ ? '/etc/passwd' : 'child_process'; } }, { [Symbol.toPrimitive]() { throw new Error('p'); } }, Symbol('s'), null, undefined, 1n, []]) {
  try { const m = await import(name); bad.push([String(name), Object.keys(m)]); } catch (e) { if (!(e instanceof Error)) bad.push(typeof e); }
}
for (const options of [{ with: { type: 'json' } }, { with: { get type() { throw new Error('t'); } } }, { with: new Proxy({}, { ownKeys() { throw new Error('o'); } }) }, 1, { assert: {} }]) {
  try { await import('./no.json', options); bad.push('options'); } catch (e) { if (!(e instanceof Error)) bad.push(typeof e); }
}
return bad;
