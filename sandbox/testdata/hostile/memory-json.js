// JSON.parse of something large.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
const s = '[' + '[1],'.repeat(4e6) + '1]';
JSON.parse(s).length
