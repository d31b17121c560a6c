// Classes whose constructors, fields and private names are reached again, late or on foreign objects.
// expect: value true
const odd = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
class Return { constructor(o) { return o; } }
class Stamp extends Return { #p = 1; static has(o) { return #p in o; } static get(o) { return o.#p; } static set(o, v) { o.#p = v; } }
const proxy = new Proxy({}, {}); odd(() => new Stamp(proxy)); odd(() => new Stamp(proxy)); odd(() => Stamp.get({})); odd(() => Stamp.set(Object.freeze([]), 1)); odd(() => new Stamp(Object.preventExtensions({}))); odd(() => new Stamp(globalThis)); odd(() => new Stamp(new Uint8Array(2)));
class Twice extends Object { constructor() { super(); odd(() => super()); const again = () => super(); this.again = again; } }
odd(() => new Twice().again());
class Late extends Object { constructor(f) { f(() => super()); } } odd(() => { let s; new Late((x) => { s = x; }); s(); });
class Field { a = (Object.defineProperty(this, 'b', { get: () => { delete this.a; return 1; }, configurable: true }), 1); b = this.c; [Symbol.toPrimitive] = () => { throw new Error('p'); }; static { odd(() => new Field()); } }
odd(() => `${new Field()}`);
odd(() => { class X { static [X?.name] = 1; } }); odd(() => { class Y extends Y {} }); odd(() => { class Z extends (Object.setPrototypeOf(Function.prototype.bind.call(class {}), null)) {} new Z(); });
for (const base of [null, undefined, 1, Proxy, Symbol, BigInt, Math.max, async () => {}, function* () {}, Object.assign(function () {}, { prototype: 3 }), new Proxy(class {}, { get(t, k) { if (k === 'prototype') throw new Error('p'); return t[k]; } })]) odd(() => { class W extends base { constructor() { super(); } } new W(); });
odd(() => Reflect.construct(Array, [5], new Proxy(function () {}, { get() { return 1; } }))); odd(() => Reflect.construct(Promise, [(r) => r()], Object.defineProperty(function () {}.bind(), 'prototype', { get() { throw new Error('n'); } })));
odd(() => new (class extends Promise { constructor(f) { super((a, b) => { f(a, b); f(b, a); }); } })((r) => r()).then(() => {}));
odd(() => Object.setPrototypeOf(Stamp, new Proxy(Stamp, { getPrototypeOf() { return Stamp; } }))); odd(() => ({ __proto__: null, m() { return super.x; } }).m());
return Stamp.has(proxy) && !Stamp.has({});
