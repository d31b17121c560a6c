// Slicing a large string over and over.
// expect: limit wall
const s = 'x'.repeat(1e7);
for (;;) s.slice(1);
