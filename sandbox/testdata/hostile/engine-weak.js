// Weak references and finalizers that bring back what they lost, throw, or outlive their registry.
// expect: value true
let kept = [];
const registry = new FinalizationRegistry((held) => { kept.push(held); registry.register({}, held); throw new Error('in a finalizer'); });
const refs = [];
for (let i = 0; i < 500; i++) { let o = { i, big: new Array(100).fill(i) }; o.self = o; registry.register(o, { i }, o); refs.push(new WeakRef(o)); if (i % 2) registry.unregister(o); o = null; }
const map = new WeakMap(), set = new WeakSet();
for (let i = 0; i < 300; i++) { const k = {}; map.set(k, { k, ref: new WeakRef(k) }); set.add(k); try { map.set(Symbol('s' + i), k); } catch {} }
for (let i = 0; i < 20; i++) { new Array(1e4).fill({}); await null; await new Promise((r) => setTimeout(r, 0)); }
let alive = 0;
for (const r of refs) if (r.deref()) alive++;
let nested = new WeakRef(new WeakRef({}));
registry.register(registry, registry.constructor);
try { registry.register(kept, kept); throw 'odd'; } catch (e) { if (!(e instanceof TypeError)) throw e; }
return alive <= 500 && typeof nested === 'object';
