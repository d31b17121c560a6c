// Properties that never end.
// expect: limit memory
// memory: 16 MiB
const o = {};
for (let i = 0; ; i++) o['k' + i] = i;
