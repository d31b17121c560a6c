// A generator that never ends.
// expect: limit wall
function* g() { for (;;) yield 1; }
for (const x of g()) {}
