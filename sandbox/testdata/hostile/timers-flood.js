// More timers than anybody needs.
// expect: error RangeError
// memory: 16 MiB
for (;;) setTimeout(() => {}, 1e6);
