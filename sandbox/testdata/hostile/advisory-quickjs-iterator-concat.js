// An iterator that is closed from inside its own start.
// CVE-2026-3979 (quickjs-ng, #1368 and #1440): a use after free in Iterator.concat.
// expect: value true or error any
if (typeof Iterator === 'undefined' || !Iterator.concat) return true;
for (let i = 0; i < 200; i++) {
  let it;
  const quiet = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd'; } };
  const starts = [
    { [Symbol.iterator]() { quiet(() => it.return()); return [][Symbol.iterator](); } },
    { [Symbol.iterator]() { return { get next() { quiet(() => it.return()); return () => ({ done: true }); } }; } },
    { [Symbol.iterator]() { return { next: () => ({ done: false, get value() { quiet(() => it.return()); quiet(() => it.next()); return 1; } }), get return() { quiet(() => it.return()); return () => ({}); } }; } },
  ];
  it = Iterator.concat(starts[i % 3], starts[(i + 1) % 3], [1, 2]);
  quiet(() => it.next());
  quiet(() => it.next());
  quiet(() => it.return());
}
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
