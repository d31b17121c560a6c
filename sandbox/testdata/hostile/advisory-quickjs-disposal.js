// Stacks of resources whose disposal collects, rejects and disposes again.
// quickjs-ng #1564 and #1661: uses after free in DisposableStack and AsyncDisposableStack.
// expect: value true or error any
if (typeof DisposableStack === 'undefined') return true;
const churn = () => { for (let i = 0; i < 3000; i++) { const o = { a: [i] }; o.self = o; } };
for (let i = 0; i < 50; i++) {
  const s = new DisposableStack();
  s.adopt({}, () => { churn(); try { s.dispose(); } catch { /* disposed */ } });
  s.use({ [Symbol.dispose]() { churn(); } });
  s.defer(() => { throw { i }; });
  try { s.dispose(); } catch { /* suppressed */ }
}
const then = Promise.prototype.then;
let saved = [];
Promise.prototype.then = function (f, r) { if (saved.length < 50) saved.push(f, r); if (typeof r === 'function' && saved.length % 3 === 0) return r({ n: 1 }); return Promise.resolve(); };
for (let i = 0; i < 20; i++) {
  const s = new AsyncDisposableStack();
  s.use(undefined);
  s.defer(() => { throw { i }; });
  s.defer(() => undefined);
  s.disposeAsync();
}
Promise.prototype.then = then;
for (const f of saved) { try { f?.(); } catch { /* odd but inside */ } }
churn();
return true;
