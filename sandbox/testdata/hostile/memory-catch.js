// Growing for ever, and catching what is thrown.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
const a = [];
for (;;) { try { a.push(new Array(1000).fill(1)); } catch (e) {} }
