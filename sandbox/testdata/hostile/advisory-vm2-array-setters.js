// Setters and getters on the prototypes of arrays and objects catch no function and no handle of the library.
// CVE-2026-44008 (vm2, GHSA-9qj6-qjgg-37qq): internal state goes through Array.prototype[N].
// expect: value []
const caught = [];
const trap = (proto, k) => Object.defineProperty(proto, k, {
  __proto__: null, configurable: true, get() { return undefined; },
  set(v) { if (typeof v === 'function' || typeof v === 'object' && v !== null) caught[caught.length] = String(k); },
});
const mine = Object.defineProperty;
const list = [];
for (let i = 0; i < 40; i++) list[i] = i; // own slots, before the setters are there
const names = ['then', 'callback', 'resolve', 'reject', 'handler', 'target', 'listener', 'controller', 'reader', 'op', 'id', 'promise', 'body', 'key', 'headers', 'signal', 'state', 'queue'];
for (const i of list) { trap(Array.prototype, i); trap(Object.prototype, i); }
for (let i = 0; i < names.length; i++) { trap(Object.prototype, names[i]); }
const before = caught.length;
const buffer = new Uint8Array(8);
crypto.getRandomValues(buffer);
await crypto.subtle.digest('SHA-256', buffer);
new URL('http://a.example/?b=c#d').searchParams.append('e', 'f');
new Headers({ a: 'b' }).append('a', 'c');
structuredClone({ a: [{ b: 1 }] });
queueMicrotask(() => {});
setTimeout(() => {}, 0);
await fetch('http://127.0.0.1/').catch(() => {});
const target = new EventTarget();
target.addEventListener('x', () => {});
target.dispatchEvent(new Event('x'));
new AbortController().abort();
await new Response(new ReadableStream({ start(c) { c.enqueue(buffer); c.close(); } })).arrayBuffer();
console.log({ a: [1, { b: 2 }] }, new Map([[1, 2]]), new Error('x'));
for (const p of [Array.prototype, Object.prototype]) for (const k of Object.getOwnPropertyNames(p)) if (/^\d+$/.test(k) || names.includes(k)) delete p[k];
return caught.slice(before);
