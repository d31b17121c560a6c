// crypto: random values and CryptoKey. crypto_algorithms.js normalizes algorithms, crypto_keys.js generates, imports and
// exports keys, crypto_subtle.js defines SubtleCrypto. The host does the computation.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const keys = new p.WeakMap(); // CryptoKey → {type, extractable, algorithm, usages, name, hash, curve, length, data}
  const crypto = internal.crypto = { __proto__: null };

  // of returns the state of a CryptoKey. what names the value in the message: without it, the value is "this".
  const of = crypto.of = (o, what) => {
    const k = internal.isObject(o) ? p.weakMapGet(keys, o) : undefined;
    if (k === undefined) throw what === undefined ? wrongThis('CryptoKey') : internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', `${what} is not of type CryptoKey.`);
    return k;
  };
  const { wrongThis } = internal;
  // need throws if a method of an interface received fewer arguments than it requires.
  const need = crypto.need = (got, want, method, name) => {
    if (got < want) throw internal.nodeError(p.TypeError, 'ERR_MISSING_ARGS', `Failed to execute '${method}' on '${name}': ${want} argument${want > 1 ? 's' : ''} required, but only ${got} present.`);
  };
  class CryptoKey {
    constructor(key = undefined, state = undefined) {
      internal.illegal(key);
      p.weakMapSet(keys, this, state);
    }
    get type() { return of(this).type; }
    get extractable() { return of(this).extractable; }
    get algorithm() { return of(this).algorithm; }
    get usages() { return of(this).usages; }
  }
  internal.expose(CryptoKey);
  internal.showPlatform('CryptoKey', ['type', 'extractable', 'algorithm', 'usages']);

  const order = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
  crypto.usageNames = order;
  // only returns the usages that are also in allowed, in the order of the standard.
  crypto.only = (usages, allowed) => {
    const out = [];
    for (let i = 0; i < order.length; i++) if (p.arrayIndexOf(usages, order[i]) >= 0 && p.arrayIndexOf(allowed, order[i]) >= 0) p.arrayPush(out, order[i]);
    return out;
  };
  // describe returns the value of key.algorithm.
  const describe = (k) => {
    const o = { name: k.name };
    if (k.bits !== undefined) {
      internal.put(o, 'modulusLength', k.bits);
      internal.put(o, 'publicExponent', crypto.exponentBytes(k.exponent));
    }
    if (k.length !== undefined) internal.put(o, 'length', k.length);
    if (k.hash !== undefined) internal.put(o, 'hash', { name: k.hash });
    if (k.curve !== undefined && k.curve !== k.name) internal.put(o, 'namedCurve', k.curve);
    return o;
  };
  crypto.exponentBytes = (e) => {
    const bytes = [];
    for (; e > 0; e = p.floor(e / 256)) p.arrayPush(bytes, e % 256);
    const u = new p.Uint8Array(bytes.length);
    for (let i = 0; i < bytes.length; i++) u[i] = bytes[bytes.length - 1 - i];
    return u;
  };
  // key returns a CryptoKey for the state {type, name, data, …}.
  crypto.key = (k, extractable, usages) => {
    k.extractable = extractable;
    k.usages = usages;
    k.algorithm = describe(k);
    return new CryptoKey(internal.key, k);
  };
  p.arrayPush(internal.serialisable, {
    __proto__: null, is: (v) => p.weakMapHas(keys, v),
    clone: (v) => {
      const copy = { __proto__: null }, k = of(v);
      for (const name in k) copy[name] = k[name];
      return crypto.key(copy, k.extractable, p.arraySlice(k.usages));
    },
  });

  // integers lists the typed arrays that getRandomValues accepts.
  const integers = new p.Set(['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array']);
  const random = crypto.random = (n) => new p.Uint8Array(internal.sync('random', n));
  const hex = [];
  for (let i = 0; i < 256; i++) p.arrayPush(hex, p.padStart(p.numberToString(i, 16), 2, '0'));

  class Crypto {
    #brand;
    constructor(key = undefined) { internal.illegal(key); }
    static #check(o) { if (!internal.isObject(o) || !(#brand in o)) throw wrongThis('Crypto'); }
    getRandomValues(array) {
      Crypto.#check(this);
      need(arguments.length, 1, 'getRandomValues', 'Crypto');
      if (!p.isView(array)) throw new p.TypeError('The data argument must be an integer-type TypedArray');
      if (!p.setHas(integers, p.typedTag(array))) throw internal.domError('TypeMismatchError', 'The data argument must be an integer-type TypedArray');
      const n = p.typedBytes(array);
      if (n > 65536) throw internal.domError('QuotaExceededError', 'The requested length exceeds 65,536 bytes');
      p.typedSet(new p.Uint8Array(p.typedBuffer(array), p.typedOffset(array), n), random(n));
      return array;
    }
    randomUUID() {
      Crypto.#check(this);
      const b = random(16);
      b[6] = (b[6] & 0x0f) | 0x40;
      b[8] = (b[8] & 0x3f) | 0x80;
      let id = '';
      for (let i = 0; i < 16; i++) id += (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + hex[b[i]];
      return id;
    }
    get subtle() {
      Crypto.#check(this);
      return crypto.subtle;
    }
  }
  internal.expose(Crypto);
  crypto.object = new Crypto(internal.key);
  p.defineProperty(globalThis, 'crypto', {
    __proto__: null, enumerable: true, configurable: true,
    get: p.getOwnPropertyDescriptor({ get crypto() { return crypto.object; } }, 'crypto').get,
    set: p.getOwnPropertyDescriptor({ set crypto(v) { define(globalThis, 'crypto', v); } }, 'crypto').set,
  });
  return internal;
}
