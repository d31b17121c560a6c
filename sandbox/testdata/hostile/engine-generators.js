// Generators that are entered again while they run, returned in finally, and delegated to themselves.
// expect: value [1,"TypeError","TypeError",2,"done","TypeError","TypeError"]
const out = [];
const name = (f) => { try { return f(); } catch (e) { return e.name; } };
let g;
function* a() { yield 1; yield name(() => g.next()); yield name(() => g.return(5)); try { yield 2; } finally { yield 'done'; } }
g = a();
for (const x of g) out.push(x);
const self = (function* () { yield* self; })();
out.push(name(() => self.next().value));
const o = { [Symbol.iterator]() { return { next() { return g2.next(); }, return() { g2.return(); return {}; } }; } };
const g2 = (function* () { yield* o; })();
out.push(name(() => g2.next()));
const ag = (async function* () { try { yield void ag.return(1); } finally { ag.next(); ag.throw(new Error('x')).catch(() => {}); } })();
await ag.next(); await ag.next();
return out;
