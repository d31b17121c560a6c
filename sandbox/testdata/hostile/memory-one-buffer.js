// One huge buffer.
// expect: limit memory
new ArrayBuffer(2000000000).byteLength
