// An error whose name is a symbol is described without a second error, and a rejection that nobody handles ends the run alone.
// CVE-2026-44001 (vm2, GHSA-hw58-p9xv-2mjh): formatting such a stack throws in the host, which ends its process.
// expect: error any
new Promise(() => {
  const e = new Error('unseen');
  e.name = Symbol('name');
  e.message = { toString() { throw e; } };
  Object.defineProperty(e, 'stack', { get() { throw Symbol('stack'); } });
  throw e;
});
await new Promise((ok) => setTimeout(ok, 5));
