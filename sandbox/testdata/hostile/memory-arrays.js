// An array that grows for ever.
// expect: limit memory
// memory: 16 MiB
const a = [];
for (;;) a.push(new Array(1000).fill(1));
