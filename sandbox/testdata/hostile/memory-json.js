// JSON.parse of something large.
// expect: limit memory
// memory: 16 MiB
const s = '[' + '[1],'.repeat(4e6) + '1]';
JSON.parse(s).length
