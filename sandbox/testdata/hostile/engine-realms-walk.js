// Every object that is reachable from the global object belongs to the guest's own realm.
// expect: value []
const seen = new Set([globalThis]), queue = [[globalThis, 'globalThis']], foreign = [];
const { apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor } = Reflect;
const rootOf = (v) => { let p = v; for (;;) { const q = getPrototypeOf(p); if (q === null) return p; p = q; } };
while (queue.length) {
  const [o, path] = queue.shift();
  let r; try { r = rootOf(o); } catch (e) { continue; }
  if (typeof o === 'function' && r !== Object.prototype) { foreign.push(path); continue; }
  if (r !== Object.prototype && r !== o) { foreign.push(path + ' root'); continue; }
  const add = (v, p) => { if ((typeof v === 'object' && v !== null || typeof v === 'function') && !seen.has(v)) { seen.add(v); queue.push([v, p]); } };
  add(getPrototypeOf(o), path + '.__proto__');
  let keys; try { keys = ownKeys(o); } catch { continue; }
  for (const k of keys) { const d = getOwnPropertyDescriptor(o, k); if (!d) continue; const p = path + '.' + String(k); add(d.value, p); add(d.get, p + ' get'); add(d.set, p + ' set'); if (d.get) try { add(apply(d.get, o, []), p + ' got'); } catch (e) { add(e, p + ' threw'); } }
}
return seen.size > 1000 ? foreign : seen.size;
