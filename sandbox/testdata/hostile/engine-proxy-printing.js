// Proxies and getters that change, revoke or throw while values are printed, encoded, cloned or sorted.
// expect: value true
const odd = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
const targets = [() => ({ a: 1, b: [2] }), () => [1, 2, 3], () => function () {}, () => new Map([[1, 2]]), () => new Error('x'), () => new Date(0), () => new Uint8Array(4)];
for (const target of targets) {
  for (const trap of ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'isExtensible', 'apply', 'construct', 'defineProperty', 'set']) {
    const t = target();
    let n = 0;
    const r = Proxy.revocable(t, { [trap](...a) {
      if (++n === 3) { r.revoke(); }
      if (n % 2) { delete t.a; t[n] = n; if (Array.isArray(t)) t.length = 1; }
      if (n > 50) throw new Error('enough');
      return Reflect[trap](...a);
    } });
    const p = r.proxy;
    for (const use of [
      () => console.log(p), () => console.log('%s %o %j %d', p, p, p, p), () => console.table(p), () => JSON.stringify(p), () => JSON.stringify({ x: [p] }), () => structuredClone(p),
      () => Object.assign({}, p), () => ({ ...p }), () => Array.from(p), () => [...p], () => Array.prototype.sort.call(p), () => [p, p, 1].sort(), () => Array.prototype.concat.call([], p),
      () => Array.prototype.splice.call(p, 0, 1, 'x'), () => Object.entries(p), () => Object.groupBy(p, (x) => x), () => new Error('a', p), () => Object.freeze(p), () => String(p), () => `${p}`, () => new Map([[p, p]]),
      () => Object.fromEntries([[p, p]]), () => Reflect.construct(Array, [], p), () => p instanceof p, () => Error.captureStackTrace?.(p),
    ]) odd(use);
  }
}
const chain = new Error('top');
Object.defineProperty(chain, 'cause', { get() { return chain; } });
Object.defineProperty(chain, 'stack', { get() { throw chain; } });
odd(() => console.error(chain));
const many = new AggregateError([chain, new Proxy(chain, {})], 'all');
Object.defineProperty(many, 'errors', { get() { many.errors; return [many]; } });
odd(() => console.log({ many }));
return JSON.stringify([{ a: 1 }]) === '[{"a":1}]';
