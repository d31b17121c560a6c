// Proxies whose traps revoke, change and re-enter what they stand for.
// quickjs-ng 32b6912, 6385234, 82626ea: results of traps that are trusted too early.
// expect: value true
const traps = Reflect.ownKeys(Reflect).filter((k) => typeof k === 'string');
for (const trap of traps) {
  for (const answer of [() => 1, () => null, () => [], () => ({ length: 1e9 }), () => new Proxy([], {}), () => { throw new Error('x'); }, () => ({ value: 1, configurable: false }), () => true]) {
    let r;
    const target = Object.freeze(function f() {});
    const open = Proxy.revocable(target, { [trap]() { open.revoke(); return answer(); } });
    for (const use of [() => Reflect[trap](open.proxy, 'a', {}, open.proxy), () => Object.assign({}, open.proxy), () => { for (const k in open.proxy) r = k; }, () => open.proxy instanceof open.proxy, () => JSON.stringify({ p: open.proxy }), () => class extends open.proxy {}, () => ({ ...open.proxy })]) {
      try { use(); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
    }
  }
}
for (const k of ['get', 'set', 'value', 'enumerable']) {
  const d = { get [k]() { Object.defineProperty(o, 'p', { value: 1, configurable: true }); delete o.p; throw new RangeError('mine'); } };
  const o = {};
  try { Object.defineProperty(o, 'p', d); } catch (e) { if (!(e instanceof Error)) throw 'odd'; }
}
return true;
