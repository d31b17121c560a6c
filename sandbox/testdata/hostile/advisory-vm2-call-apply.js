// Replacing call, apply, bind and the functions of Reflect catches no function of the library.
// GHSA-647f-g98j-qq25 (vm2) and GHSA-3279-86j6-jpr3 (enclave-vm): live, replaceable functions on the host's side.
// expect: value []
const caught = new Set();
let watching = false;
const { apply } = Reflect;
const wrap = (o, k) => {
  const real = o[k];
  if (typeof real !== 'function') return;
  const spy = function (...args) {
    if (watching) for (let i = 0; i < args.length; i++) {
      const v = args[i];
      if (typeof v === 'function' && !mine.has(v)) caught.add(k);
    }
    return apply(real, this, args);
  };
  mine.add(spy);
  Object.defineProperty(o, k, { value: spy, writable: true, configurable: true });
};
const mine = new Set();
const has = mine.has.bind(mine);
mine.has = has;
const listener = () => {};
mine.add(listener);
for (const k of Object.getOwnPropertyNames(Reflect)) wrap(Reflect, k);
for (const k of ['defineProperty', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'assign', 'keys', 'entries', 'create', 'freeze', 'setPrototypeOf']) wrap(Object, k);
for (const k of ['push', 'map', 'forEach', 'slice', 'concat', 'indexOf', 'splice', 'shift']) wrap(Array.prototype, k);
for (const k of ['get', 'set', 'has']) { wrap(Map.prototype, k); wrap(WeakMap.prototype, k); }
watching = true;
new URL('http://a.example/?b=c').searchParams.sort();
structuredClone(new Map([[1, { a: [1] }]]));
console.log({ a: 1 }, [2], new Map([[3, 4]]));
new Headers({ a: 'b' }).forEach(listener);
setTimeout(listener, 0);
queueMicrotask(listener);
const target = new EventTarget();
target.addEventListener('x', listener);
target.dispatchEvent(new Event('x'));
await crypto.subtle.digest('SHA-1', new Uint8Array(1));
await fetch('http://127.0.0.1/').catch(listener);
await new Response('abc').text();
new AbortController().abort();
watching = false;
return [...caught];
