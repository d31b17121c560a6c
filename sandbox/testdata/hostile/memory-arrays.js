// An array that grows for ever.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
const a = [];
for (;;) a.push(new Array(1000).fill(1));
