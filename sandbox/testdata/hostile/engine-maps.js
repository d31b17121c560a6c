// Maps, sets and groups that change in their own callbacks.
// expect: value true
const odd = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
for (let round = 0; round < 50; round++) {
  const m = new Map(Array.from({ length: 40 }, (_, i) => [i, { i }])), s = new Set(m.keys());
  let n = 0;
  m.forEach((v, k) => { m.delete(k); m.delete(k + 1); if (n++ < 200) m.set({}, v); if (n === 20) m.clear(); });
  for (const v of s) { s.delete(v); if (n++ < 400) s.add({ v }); if (n % 7 === 0) s.clear(); }
  const it = m.entries(); m.set(1, 1); it.next(); m.clear(); m.set(2, 2); it.next(); m.delete(2); it.next();
  odd(() => m.getOrInsertComputed?.(3, () => { m.clear(); for (let i = 0; i < 100; i++) m.set(i, {}); m.delete(3); return {}; }));
  odd(() => new WeakMap().getOrInsertComputed?.(m, () => { throw new Error('w'); }));
  odd(() => Map.groupBy([1, 2, 3, 4], (x) => { s.clear(); return { valueOf() { return x; } }; }));
  odd(() => Object.groupBy({ *[Symbol.iterator]() { yield* [1, 2]; throw new Error('i'); } }, () => '__proto__'));
  const like = { size: 5, has() { s.clear(); s.add(n++); return true; }, keys() { let i = 0; return { next() { s.delete(i); s.add({}); return { done: i++ > 50, value: i }; } }; } };
  for (const op of ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom']) { const t = new Set([1, 2, 3, 4, 5, 6]); like.has = () => { t.clear(); for (let i = 0; i < 90; i++) t.add({}); return i % 2 === 0; var i; }; odd(() => t[op](like)); }
}
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
