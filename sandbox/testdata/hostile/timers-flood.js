// More timers than anybody needs.
// expect: error RangeError
for (;;) setTimeout(() => {}, 1e6);
