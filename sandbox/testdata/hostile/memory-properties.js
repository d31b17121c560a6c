// Properties that never end.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
const o = {};
for (let i = 0; ; i++) o['k' + i] = i;
