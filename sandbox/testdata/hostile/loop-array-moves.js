// Endless moves of the elements of a large array, each of which is one operation of the engine.
// expect: limit wall
const a = new Array(9e5).fill(0);
for (;;) { a.splice(1, 0, 1, 2); a.copyWithin(0, 1); a.splice(2, 2); }
