// Functions that the library calls back see no caller and no arguments of the library.
// CVE-2026-43898 (SandboxJS, GHSA-g8f2-4f4f-5jqw): a function's caller is the interpreter's own.
// expect: value []
const found = [];
function look() {
  for (const k of ['caller', 'arguments', 'callee']) {
    try { const v = look[k]; if (typeof v === 'function') found.push(k); } catch { /* refused */ }
  }
  try { if (typeof arguments.callee.caller === 'function') found.push('callee.caller'); } catch { /* refused */ }
  return 1;
}
const own = { toString: look, valueOf: look, toJSON: look, get a() { return look(); }, [Symbol.toPrimitive]: look };
[1].map(look);
JSON.stringify(own);
structuredClone({ get a() { return look(); } });
`${own}`;
new Headers({ a: own });
new EventTarget().addEventListener('x', look);
const target = new EventTarget();
target.addEventListener('x', look);
target.addEventListener('y', { handleEvent: look });
target.dispatchEvent(new Event('x'));
target.dispatchEvent(new Event('y'));
queueMicrotask(look);
setTimeout(look, 0);
await new Promise((ok) => { look(); ok(); }).then(look).finally(look);
const r = new ReadableStream({ start: look, pull(c) { look(); c.close(); }, cancel: look }, { size: look });
await r.getReader().read();
new URLSearchParams({ a: own }).forEach(look);
console.log(own, { [Symbol.for('nodejs.util.inspect.custom')]: look });
[2, 1].sort(look);
'a'.replace(/a/, look);
await new Promise((ok) => setTimeout(ok, 2));
return found;
