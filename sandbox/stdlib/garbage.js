// WeakRef and FinalizationRegistry. What a guest observes of garbage collection depends on the rest of memory, so these
// calls tell the host that the run observed it.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const Registry = FinalizationRegistry;
  const nativeRegister = Registry.prototype.register;
  define(p.WeakRef.prototype, 'deref', { deref() {
    const target = p.weakRefDeref(this);
    internal.sync('garbage');
    return target;
  } }.deref);
  define(Registry.prototype, 'register', { register(target, heldValue) {
    const out = p.apply(nativeRegister, this, arguments);
    internal.sync('garbage');
    return out;
  } }.register);
  return internal;
}
