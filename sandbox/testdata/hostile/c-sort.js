// Sorting a large array over and over.
// expect: limit any
const a = Array.from({ length: 2e5 }, (_, i) => (i * 7919) % 1000003);
for (;;) a.slice().sort();
