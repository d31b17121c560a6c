// Splitting a large string into characters.
// expect: limit any
const s = 'x'.repeat(1e7);
for (;;) s.split('');
