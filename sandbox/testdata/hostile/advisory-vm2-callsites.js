// Stacks and call sites name files of the guest alone, and hand out no function and no receiver of the library.
// GHSA-v27g-jcqj-v8rw, GHSA-r273-hxvj-fxhp and GHSA-x6m4-chr9-cg97 (vm2): paths of the host, util.getCallSites.
// expect: value []
// grant: node
const found = [];
const look = (text) => { if (/(^|[\s(])(\/(?!\d)[a-z]+\/|[A-Z]:\\|file:|wasm|\.go\b|stdlib)/.test(String(text))) found.push(String(text)); };
const site = (s) => {
  for (const m of ['getFileName', 'getEvalOrigin', 'getScriptNameOrSourceURL', 'getFunctionName', 'getTypeName', 'getMethodName', 'toString']) {
    try { look(s[m]?.()); } catch { /* not there */ }
  }
  for (const m of ['getThis', 'getFunction']) {
    let v;
    try { v = s[m]?.(); } catch { /* refused */ }
    if (typeof v === 'function' && !String(v).includes('mine')) found.push(m);
  }
};
const throwers = [
  () => new URL('::'), () => JSON.parse('{'), () => structuredClone(() => 1), () => atob('*'), () => [1].map(() => null.x),
  () => new Response('', { status: 1 }), () => crypto.getRandomValues(new Uint8Array(1e6)), () => Buffer.alloc(-1), () => require('none'),
];
for (const prepare of [undefined, (e, sites) => { for (const s of sites) site(s); return 'prepared'; }]) {
  Error.prepareStackTrace = prepare;
  for (const t of throwers) {
    try { (function mine() { t(); })(); } catch (e) { look(e.stack); }
  }
  await fetch('http://127.0.0.1/').catch((e) => look(e.stack));
  await new Promise((ok) => setTimeout(() => { look(new Error('t').stack); ok(); }, 1));
}
for (const s of require('util').getCallSites?.() ?? []) { look(s.scriptName); site(s); }
const o = {};
Error.captureStackTrace?.(o);
look(o.stack);
return found;
