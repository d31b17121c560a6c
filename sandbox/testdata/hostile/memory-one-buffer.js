// One huge buffer.
// expect: limit memory
// memory: 16 MiB
new ArrayBuffer(2000000000).byteLength
