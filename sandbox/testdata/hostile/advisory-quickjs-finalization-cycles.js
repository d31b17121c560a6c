// Registries, weak maps and weak references that are part of the garbage they watch.
// quickjs-ng #1318 and #1352: uses after free in FinalizationRegistry and WeakMap.
// expect: value true or error any
for (let i = 0; i < 2e4; i++) {
  let target = { i };
  let callback = () => {};
  let registry = new FinalizationRegistry(callback);
  registry.register(target, i % 2 ? registry : [registry, target, callback], callback);
  registry.target = target;
  target.registry = registry;
  target.callback = callback;
  callback.target = target;
  const key = Symbol('key');
  const map = new WeakMap();
  try { registry.register(key, 1); map.set(key, registry); } catch { /* symbols are no keys here */ }
  map.set(target, map);
  target.weak = new WeakRef(target);
  target.map = map;
  if (i % 100 === 0) await null;
}
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
