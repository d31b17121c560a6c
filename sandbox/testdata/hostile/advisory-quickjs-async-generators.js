// Async generators that are resumed from the getters of the values that resume them.
// quickjs-ng #1355 and #1360: a life that ends twice.
// expect: value true or error any
// expect on quickjs-ng-0.10.1: value true or error any or limit any
let it;
let inside = false;
let hits = 0;
Object.defineProperty(Object.prototype, 'then', { configurable: true, get() {
  if (inside || !it || hits > 2000) return undefined;
  inside = true;
  hits++;
  try { it[['return', 'next', 'throw'][hits % 3]](hits).catch(() => {}); } catch { /* refused */ }
  inside = false;
  return undefined;
} });
async function* g() { try { yield 1; await null; yield* g2(); } finally { await null; yield 3; } }
async function* g2() { try { yield 2; } finally { await null; } }
for (let i = 0; i < 200; i++) {
  it = g();
  for (let j = 0; j < 4; j++) it.next().catch(() => {});
  it.return({}).catch(() => {});
  await null;
}
delete Object.prototype.then;
it = undefined;
const filler = Array.from({ length: 1000 }, (_, i) => ({ i }));
return filler.every((o, i) => o.i === i);
