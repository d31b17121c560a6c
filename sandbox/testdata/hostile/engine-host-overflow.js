// Calls of the host at each depth near the end of the stack. A call fails, or has its own answer and no other's.
// grant: node
// expect: value [true,true]
const { createHash } = require('crypto');
const hash = (n) => createHash('sha256').update(String(n)).digest('hex');
const answers = [], words = Array(64).fill(0);
let failed = 0;
// The arguments move the end of the stack by a word each.
const call = (n) => {
  for (let i = 0; i < 64; i += 4) {
    const more = words.slice(i);
    try { answers.push([n, ((...given) => hash(n))(...more)]); } catch { failed++; }
    n += 0.25;
  }
};
const down = (n) => {
  try { down(n + 1); } catch {}
  if (answers.length < 300) call(n);
};
down(0);
return [failed > 20, answers.every(([n, h]) => h === hash(n))];
