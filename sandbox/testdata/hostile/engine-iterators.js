// Iterators whose next, return and results are getters that throw, change the array, or enter again.
// expect: value true
const odd = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
const saved = Array.prototype[Symbol.iterator], proto = Object.getPrototypeOf([][Symbol.iterator]());
const next = proto.next;
const arr = [1, 2, 3, 4];
let n = 0;
const wild = { get next() { arr.length = 0; return () => ({ get done() { arr.push(arr); return ++n % 30 === 0; }, get value() { arr.splice(0, 1); return [n, arr]; } }); }, get return() { throw new Error('r'); }, [Symbol.iterator]() { return wild; } };
for (const f of [() => [...wild], () => new Map(wild), () => new Set(wild), () => Promise.all(wild).catch(() => {}), () => { const [x, y, ...z] = wild; }, () => Math.max(...wild), () => Object.fromEntries(wild), () => new Uint8Array(wild), () => Array.from(wild, () => arr.pop()), () => Iterator.from(wild).map((x) => x).filter(() => true).take(3).drop(1).flatMap((x) => x).toArray(), () => Iterator.from(wild).reduce((a, x) => a), () => new WeakSet(wild), () => { for (const x of wild) break; }, () => String.raw({ raw: wild }, ...wild), () => Iterator.prototype.map.call(wild, 1), () => new AggregateError(wild)]) odd(f);
try {
  proto.next = function () { arr.push(1); const r = next.call(this); arr.length = Math.min(arr.length, 3); return r; };
  for (const f of [() => [...arr], () => new Map([[1, 2]]), () => Math.max(...arr), () => { const [a, b] = arr; }, () => new Set(arr), () => arr.concat(...arr)]) odd(f);
  Array.prototype[Symbol.iterator] = function* () { yield* wild; };
  for (const f of [() => [...arr], () => Math.max(...arr), () => new Uint8Array(arr), () => { const [a, b] = arr; }]) odd(f);
} finally { proto.next = next; Array.prototype[Symbol.iterator] = saved; }
const helper = Iterator.from({ next() { try { helper.next(); } catch (e) { if (!(e instanceof TypeError)) throw 'odd'; } return { done: false, value: 1 }; } }).map((x) => x);
odd(() => helper.next()); odd(() => helper.return());
return [...[1, 2]].length === 2;
