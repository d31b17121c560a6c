// A species that returns the array itself gives the guest its own arrays, and none of the library's.
// GHSA-grj5-jjm8-h35p (vm2).
// expect: value []
const mine = [1, 2, 3];
const seen = [];
mine.constructor = { [Symbol.species]: function () { return mine; } };
Object.defineProperty(Array, Symbol.species, { configurable: true, get() { return function (n) { return new Proxy([], { defineProperty(t, k, d) { if (typeof d.value === 'function') seen.push(String(k)); return Reflect.defineProperty(t, k, d); } }); }; } });
for (const f of [() => mine.map((x) => x), () => mine.splice(0, 1), () => mine.concat([mine], [[mine]]), () => [1, [2, [3]]].flat(Infinity)]) try { f(); } catch { /* a stack that is too deep */ }
new URLSearchParams([['a', 'b']]).getAll('a');
new Headers([['a', 'b']]).get('a');
structuredClone([1, [2]]);
try { console.log([1, 2, [3]]); } catch { /* the species are odd */ }
Buffer.concat([Buffer.from('a')]);
new FormData().getAll('a');
performance.getEntries?.();
return seen;
