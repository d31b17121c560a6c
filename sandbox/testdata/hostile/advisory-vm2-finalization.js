// Callbacks of the garbage collector run inside the limits, or not at all.
// GHSA-r4fx-v8hh-22mv (vm2): a finalizer goes on after the run has ended.
// expect: value 1 or limit any
const registry = new FinalizationRegistry(() => { for (;;); });
for (let i = 0; i < 2e4; i++) {
  const o = { i };
  o.self = o;
  registry.register(o, i);
}
await new Promise((ok) => setTimeout(ok, 5));
return 1;
