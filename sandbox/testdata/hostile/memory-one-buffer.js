// One huge buffer.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
new ArrayBuffer(2000000000).byteLength
