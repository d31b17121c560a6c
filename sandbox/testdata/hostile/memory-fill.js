// A huge array, filled.
// expect: limit memory
// memory: 16 MiB
Array(1e9).fill(0).length
