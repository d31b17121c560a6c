// Chains of awaits and of promises that are resolved by promises, deeper than any stack.
// expect: value true or limit any or error any
let p = Promise.resolve(1);
for (let i = 0; i < 50000; i++) { const q = p; p = new Promise((r) => r(q)); }
const deep = async (n) => (n ? await deep(n - 1) : 0);
let overflow = false;
try { await deep(1e6); } catch (e) { overflow = e instanceof RangeError || e.name === 'InternalError'; }
const lazy = { then(r) { r(lazy2); } }, lazy2 = { n: 0, then(r) { this.n++ < 20000 ? r(lazy2) : r(7); } };
return (await p) === 1 && overflow && (await lazy) === 7;
