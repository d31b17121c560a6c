// An iterator whose return method loops when the loop is left.
// expect: limit wall
const it = { [Symbol.iterator]() { return this; }, next() { return { done: false }; }, return() { for (;;) {} } };
for (const x of it) break;
