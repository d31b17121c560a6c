// Functions of the library that are called as constructors or methods of the guest's objects give away no scope.
// GHSA-2gg9-6p7w-6cpj and GHSA-hg73-4w7g-q96w (SandboxJS): calls as new hand the interpreter's context to the guest.
// expect: value []
const found = [];
const known = new Set(['length', 'name', 'prototype', 'caller', 'arguments']);
for (const k of Object.getOwnPropertyNames(globalThis)) {
  const f = globalThis[k];
  if (typeof f !== 'function') continue;
  for (const p of ['context', 'scope', 'evals', 'options', 'sandbox', 'target', 'handler', 'host']) if (Object.hasOwn(f, p)) found.push(k + '.' + p);
  function Taker(a) { this.a = a; this.scope = a?.context ?? a?.scope; this.up = new.target; }
  try { const t = new Taker(f); if (t.scope !== undefined) found.push(k); } catch { /* refused */ }
  try { const t = Reflect.construct(f, [], Taker); if (t instanceof Taker && Reflect.ownKeys(t).some((p) => typeof t[p] === 'function' && !known.has(p))) found.push('constructed ' + k); } catch { /* refused */ }
}
return found;
