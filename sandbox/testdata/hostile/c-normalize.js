// Unicode normalisation over and over.
// expect: limit wall
const s = '\u1E9B\u0323'.repeat(1e6);
for (;;) s.normalize('NFKD');
