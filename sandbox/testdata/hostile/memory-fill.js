// A huge array, filled.
// expect: limit memory
Array(1e9).fill(0).length
