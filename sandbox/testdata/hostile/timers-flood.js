// More timers than anybody needs.
// expect: error RangeError
// memory: 16 MiB, wall: 10 s
for (;;) setTimeout(() => {}, 1e6);
