// A result with more elements than any output.
// expect: limit any
new Array(4294967295)
