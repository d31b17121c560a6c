// Typed arrays that are kept.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
const keep = [];
for (;;) keep.push(new Float64Array(1e5));
