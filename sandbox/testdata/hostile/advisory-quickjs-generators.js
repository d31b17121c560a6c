// Generators, iterators and their helpers that are used while they run.
// quickjs-ng dcfa6c1, 5468a73, #1557, 947e6b0: stacks that underflow and helpers that close twice.
// expect: value true
const quiet = (f) => { try { return f(); } catch (e) { if (!(e instanceof Error) && e !== 1) throw 'odd'; } };
for (let i = 0; i < 100; i++) {
  let g;
  function* gen() { quiet(() => g.next()); quiet(() => g.return(1)); const [a, ...b] = yield* [1, 2]; yield [...(function* () { yield a; })()]; }
  g = gen();
  quiet(() => [...g]);
  quiet(() => { const [x, [y], { z } = {}] = gen(); });
  for (const helper of ['map', 'filter', 'take', 'drop', 'flatMap', 'find', 'some', 'every', 'reduce', 'forEach', 'toArray']) {
    let h;
    let n = 0;
    const it = { __proto__: Iterator.prototype, next() { if (n++ > 20) throw 1; quiet(() => h?.return?.()); quiet(() => h?.next?.()); return { done: i > 50, value: { i } }; }, return() { quiet(() => h?.return?.()); throw 1; } };
    
    h = quiet(() => it[helper](helper === 'take' || helper === 'drop' ? 2 : () => { if (n++ > 3) throw 1; return [i]; }));
    if (typeof h?.next === 'function') { quiet(() => h.next()); quiet(() => h.next()); quiet(() => h.return()); quiet(() => h.return()); }
    else if (i <= 50) continue;
  }
}
return true;
