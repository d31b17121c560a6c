// Array-likes whose getters run the collector while a copy of them is half made.
// quickjs-ng test_array_to_gc: elements that are not there yet are looked at. 0.10.1 may crash, inside the guest.
// expect: value true
// expect on quickjs-ng-0.10.1: any
const churn = () => { for (let i = 0; i < 2e4; i++) { const o = { a: [i] }; o.self = o; } return 1; };
for (const k of [0, 100, 255]) {
  const like = { length: 256 };
  Object.defineProperty(like, k, { get: churn });
  for (const [m, ...args] of [['with', 1, 9], ['toReversed'], ['toSpliced', 1, 2, {}, {}], ['toSorted'], ['slice'], ['map', (x) => x], ['concat'], ['flat'], ['filter', () => true]]) {
    const r = Array.prototype[m].call(like, ...args);
    if (!Array.isArray(r)) throw 'odd';
  }
  Array.from(like);
  Function.prototype.apply.call(Math.max, null, like);
  Reflect.construct(Array, like);
}
return true;
