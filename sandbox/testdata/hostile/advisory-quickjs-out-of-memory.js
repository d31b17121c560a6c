// Every allocation fails once, wherever it is.
// quickjs-ng 776d724, c846cb1, e1c1e41: uses after free and double frees where memory ends.
// expect: limit memory
// memory: 16 MiB
const keep = [];
const fill = () => { for (;;) keep.push(new Array(64).fill(keep.length)); };
const things = [
  () => new Promise((ok) => ok(1)).then(() => new Error('x').stack), () => { throw new Error('y'); }, () => Object.groupBy([1, 2], (x) => x), () => new Map([[{}, 1]]), () => class { #p = 1; get p() { return this.#p; } },
  () => 'abc'.replace(/(?<x>b)/g, '$<x>'), () => [..."abc"], () => JSON.stringify({ a: [1] }, null, 'xx' + 'y'), () => Promise.withResolvers(), () => (async function* () { yield 1; })().next(), () => 10n ** 500n, () => new Proxy({}, {}), () => structuredClone({ a: 1 }),
];
Error.prepareStackTrace = (e, sites) => { keep.push(sites); return String(sites); };
for (let i = 0; ; i++) {
  try { keep.push(things[i % things.length]()); } catch (e) { keep.push(e); }
  keep.push(new Uint8Array(1 << 15));
}
