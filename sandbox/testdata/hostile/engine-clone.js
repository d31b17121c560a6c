// Values that hand away, revoke or change what is being cloned.
// expect: value true
const odd = (f) => { try { return f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
const b = new ArrayBuffer(64, { maxByteLength: 256 });
odd(() => structuredClone({ get x() { b.resize(0); return 1; }, v: new Uint8Array(b) }));
odd(() => structuredClone([new Uint8Array(b), b], { transfer: [b, b] }));
const c = new ArrayBuffer(32);
odd(() => structuredClone({ get a() { return c.transfer(); }, c, v: new DataView(c) }, { transfer: [c] }));
odd(() => structuredClone(c, { transfer: { *[Symbol.iterator]() { yield c; c.transfer?.(); yield c; } } }));
const m = new Map(); m.set(m, m); m.set('grow', { get x() { for (let i = 0; i < 100; i++) m.set(i, {}); return m; } });
odd(() => structuredClone(m));
const s = new Set([1]); s.add({ get y() { s.clear(); s.add(s); return s; } }); odd(() => structuredClone(s));
const a = [1, 2, 3]; Object.defineProperty(a, 1, { get() { a.length = 0; a[100] = a; return a; }, enumerable: true }); odd(() => structuredClone(a));
const e = new RangeError('x', { cause: 1 }); e.cause = e; Object.defineProperty(e, 'stack', { get() { throw 1; } }); try { structuredClone(e); } catch {}
odd(() => structuredClone(Object.create({ __proto__: null, get z() { return z; } })));
odd(() => structuredClone({ __proto__: null, ['__proto__']: { polluted: 1 }, constructor: 1 }));
odd(() => structuredClone(new Proxy([], {}))); odd(() => structuredClone(Symbol())); odd(() => structuredClone(() => {})); odd(() => structuredClone(new WeakMap()));
const clone = structuredClone(JSON.parse('{"__proto__":{"polluted":1},"a":[1,{"b":null}]}'));
return {}.polluted === undefined && clone.polluted === undefined && JSON.stringify(clone.a) === '[1,{"b":null}]';
