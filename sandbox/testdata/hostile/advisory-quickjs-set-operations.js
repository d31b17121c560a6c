// Sets that change while they are compared, by what they are compared with.
// quickjs-ng 1167cb7, 6d9bfbd: set-likes whose methods work on the set itself.
// expect: value true
let n = 0;
for (const op of ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom']) {
  if (typeof Set.prototype[op] !== 'function') continue;
  for (const size of [0, 3, 1000, Infinity]) {
    const s = new Set([{}, {}, 1, 2]);
    const like = { size, has() { if (n++ > 3000) return false; s.clear(); for (let i = 0; i < 50; i++) s.add({ i }); s.delete(1); return s.size % 2 === 0; }, keys() { let n = 0; return { next() { s.clear(); s.add({ n }); return { done: n++ > 10, value: { n } }; }, return() { s.clear(); return {}; } }; } };
    try { s[op](like); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  }
}
const m = new Map([[1, {}], [2, {}]]);
n = 0;
m.forEach((v, k) => { m.delete(k); if (n++ < 100) { m.set(k, {}); m.clear(); m.set(n, {}); } });
for (const [k] of m) { m.clear(); if (n++ < 200) m.set(n, k); }
try { m.getOrInsertComputed?.(5, () => { m.clear(); m.set(5, 1); return 2; }); } catch { /* refused */ }
Map.groupBy?.([1, 2, 3], (x) => { m.clear(); return x; });
return true;
