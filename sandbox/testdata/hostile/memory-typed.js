// Typed arrays that are kept.
// expect: limit memory
// memory: 16 MiB
const keep = [];
for (;;) keep.push(new Float64Array(1e5));
