// Arrays whose length goes down and up before something is added.
// GHSA-r6vf-p8wr-4vg9 (quickjs-ng, #1430, #1468, #1562): elements that were freed can be read, and a later collection frees them again.
// expect: value [true,true,0] or error any
const keep = [];
const churn = () => { for (let i = 0; i < 3e4; i++) { const o = { a: [i] }; o.self = o; } };
for (let i = 0; i < 300; i++) {
  const a = [{ n: i }, { n: i }, { n: i }, { n: i }, { n: i }];
  a.length = 2;
  a.length = 245;
  a.push({ n: i });
  a.length = 3;
  a.length = 0x7fffffff;
  try { a.push(1); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
  const b = [0, { n: i }];
  delete b[1];
  b.push({ n: i });
  keep.push(a, b);
}
churn();
let odd = 0;
for (const a of keep) for (const v of [a[2], a[3], a[4]]) if (v !== undefined && v !== null && typeof v === 'object' && typeof v.n !== 'number') odd++;
churn();
return [keep[0][0].n === 0, keep.every((a) => Array.isArray(a)), odd];
