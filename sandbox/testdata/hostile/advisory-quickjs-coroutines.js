// Suspended functions that only a closure or an arguments object holds.
// quickjs-ng 7955cfd: a live coroutine is collected, and its frame is used afterwards.
// The engine has this bug. What the guest then does to its own memory depends on where things lie in it.
// expect: value true or error any or limit any
const kept = [];
function start(i) {
  (function () {
    async function step() { const d = Promise.withResolvers(); const o = { i, d }; kept.push(() => o); await d.promise; }
    step();
    let g;
    function* gen() { const o = { g, i }; kept.push(() => o); yield; }
    g = gen();
    g.next();
    g = null;
    async function args(a) { kept.push(() => ({ i: arguments[0] })); await new Promise(() => {}); }
    args(i);
  })();
}
for (let i = 0; i < 500; i++) start(i);
for (let i = 0; i < 1e5; i++) { const o = {}; o.self = o; }
for (let i = 0; i < 500; i++) for (let j = 0; j < 3; j++) if (kept[3 * i + j]().i !== i) return 'lost';
for (const f of kept) { const o = f(); try { o.g?.next(); o.d?.resolve(1); } catch { /* done */ } }
await null;
return true;
