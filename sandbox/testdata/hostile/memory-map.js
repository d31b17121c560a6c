// A Map that grows for ever.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
const m = new Map();
for (let i = 0; ; i++) m.set(i, {});
