// Copying within a large typed array over and over.
// expect: limit wall
const a = new Uint8Array(3e7);
for (;;) a.copyWithin(0, 1);
