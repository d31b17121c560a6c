// Strings that are kept.
// expect: limit memory
// memory: 16 MiB
const keep = [];
for (let i = 0; ; i++) keep.push('x'.repeat(10000) + i);
