// A Map that grows for ever.
// expect: limit memory
// memory: 16 MiB
const m = new Map();
for (let i = 0; ; i++) m.set(i, {});
