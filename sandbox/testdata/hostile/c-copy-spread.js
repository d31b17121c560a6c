// Spreading a large array over and over.
// expect: limit any
const a = new Array(1e6).fill(0);
for (;;) [...a];
