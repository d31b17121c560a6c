// WeakRef and FinalizationRegistry. What a guest observes of garbage collection depends on the rest of memory, so these
// calls tell the host that the run observed it.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const Registry = FinalizationRegistry;
  const nativeRegister = Registry.prototype.register;

  // The engine frees an object with the last reference to it. In V8 the target of a WeakRef stays until a collection, and
  // never goes within a turn. Here kept holds the targets until the engine collects a cycle that nothing else holds.
  let kept;
  const collections = new Registry(() => { kept = undefined; });
  const keep = (target) => {
    if (kept === undefined) {
      const cycle = { __proto__: null };
      cycle.self = cycle;
      p.apply(nativeRegister, collections, [cycle]);
      kept = new p.Set();
    }
    p.setAdd(kept, target);
  };

  const Native = p.WeakRef;
  const Ref = { WeakRef: function (target) {
    if (new.target === undefined) return p.apply(Native, undefined, [target]); // throws
    const made = p.construct(Native, [target], new.target);
    keep(target);
    return made;
  } }.WeakRef;
  p.defineProperty(Ref, 'prototype', { __proto__: null, value: Native.prototype, writable: false });
  define(Native.prototype, 'constructor', Ref);
  define(globalThis, 'WeakRef', Ref);
  define(Native.prototype, 'deref', { deref() {
    const target = p.weakRefDeref(this);
    internal.sync('garbage');
    if (target !== undefined) keep(target);
    return target;
  } }.deref);
  define(Registry.prototype, 'register', { register(target, heldValue) {
    const out = p.apply(nativeRegister, this, arguments);
    internal.sync('garbage');
    return out;
  } }.register);
  return internal;
}
