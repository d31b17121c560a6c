// Species and constructors that the guest puts on promises never see the library's own ones.
// CVE-2026-24120 and CVE-2026-47210 (vm2): a promise that reaches species logic unprotected.
// expect: value [[],3]
const seen = [];
class Spy extends Promise {
  constructor(executor) {
    super((ok, no) => { executor((v) => { if (typeof v === 'function') seen.push(v); ok(v); }, (e) => { if (e?.constructor?.constructor !== Function) seen.push('foreign'); no(e); }); });
  }
  static get [Symbol.species]() { return Spy; }
}
Object.defineProperty(Promise, Symbol.species, { get: () => Spy, configurable: true });
const of = async (p) => { p.constructor = Spy; try { await p.then((v) => v, (e) => { throw e; }).finally(() => {}); } catch { /* looked at by Spy */ } };
await of(crypto.subtle.digest('none', new Uint8Array(1)));
await of(new Response('{').json());
await of((async () => { throw new TypeError('own'); })());
const source = new ReadableStream({ pull(c) { c.enqueue(1); c.close(); } });
await of(source.getReader().read());
await of(import('./none.js'));
return [seen, [...await Array.fromAsync([1, 2, 3])].length];
