// Arrays, texts and copies that blow up through few instructions end at the limit of memory.
// The heap-limit tests of isolated-vm: spreads, JSON and copies that jump over a limit.
// expect: limit memory
// memory: 16 MiB
let a = [1];
let s = 'x';
for (;;) {
  a = [...a, ...a, ...a];
  s = JSON.stringify([s, s, a]);
  globalThis['k' + a.length] = structuredClone(a);
}
