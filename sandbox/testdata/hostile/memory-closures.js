// Closures that keep each other.
// expect: limit memory
// memory: 16 MiB
let f = () => 0;
for (;;) { const g = f; f = () => g; }
