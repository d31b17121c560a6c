// Objects of another realm, whose constructors would make code outside the sandbox: hooks of stacks, errors and promises
// of imports, and what fails inside host operations.
// grant: eval
// expect: value []
// expect on quickjs-ng-0.10.1: error SyntaxError
const foreign = [], k = 'constructor';
const look = (where, v) => {
  for (let p = v, n = 0; p !== null && (typeof p === 'object' || typeof p === 'function') && n < 9; p = Object.getPrototypeOf(p), n++) {
    const root = p[k]?.[k];
    if (root !== undefined && root !== Function) { foreign.push(where); return; }
  }
};
for (const E of [Error, TypeError, Object.getPrototypeOf(TypeError)]) {
  for (const name of ['prepareStackTrace', 'captureStackTrace', 'stackTraceLimit']) {
    const d = Object.getOwnPropertyDescriptor(E, name) ?? {};
    for (const f of ['get', 'set', 'value']) look(name + ' ' + f, d[f]);
    look(name, E[name]);
  }
}
const name = './no' + '.json', imports = ['import(n, o)', 'import(n)', '(0, eval)("import(n, o)")', 'new Function("n", "o", "return import(n, o)")(n, o)'];
for (const o of [{ with: { type: 'json' } }, { assert: {} }, { with: {} }]) {
  for (const source of imports) {
    let p;
    try { p = new Function('n', 'o', 'return ' + source)(name, o); look(source + ' promise', p); await p; } catch (e) { look(source, e); }
  }
  try { const p = import(name, o); look('promise', p); await p; } catch (e) { look('import', e); }
}
const detached = new ArrayBuffer(64 << 10);
structuredClone(detached, { transfer: [detached] });
const wild = { get stack() { throw new Error('s'); } };
for (const f of [() => crypto.getRandomValues(detached), () => new TextDecoder().decode(detached), () => Buffer.from(detached), () => new Blob([detached]), () => structuredClone(detached), () => console.log(detached, wild), () => new Response(detached), () => crypto.subtle.digest('SHA-256', detached).catch((e) => look('digest', e)), () => btoa('\ud800'), () => atob('*'), () => new Intl.NumberFormat('x'.repeat(1e5)), () => 'a'.normalize('x')]) {
  try { look(String(f), await f()); } catch (e) { look(String(f), e); }
}
const inside = [() => new URL('http://a.example/'), () => new TextEncoder().encode('a'), () => crypto.randomUUID(), () => new Intl.NumberFormat('en').format(1), () => new Error('x').stack, () => console.log(1), () => performance.now(), () => btoa('a')];
for (const f of inside) {
  let depth = 0;
  const down = () => { const level = ++depth; try { down(); } catch (e) { if (depth - level < 40) try { f(); } catch (e2) { look('overflow in ' + f, e2); } throw e; } };
  try { down(); } catch (e) { look('overflow', e); }
}
return [...new Set(foreign)];
