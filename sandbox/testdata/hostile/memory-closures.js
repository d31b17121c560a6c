// Closures that keep each other.
// expect: limit memory
// memory: 16 MiB, wall: 10 s
let f = () => 0;
for (;;) { const g = f; f = () => g; }
