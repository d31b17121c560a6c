// Growing for ever, and catching what is thrown.
// expect: limit memory
// memory: 16 MiB
const a = [];
for (;;) { try { a.push(new Array(1000).fill(1)); } catch (e) {} }
