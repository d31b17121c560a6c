// WebIDL: exposing interfaces and converting arguments.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const { asyncIterator, iterator, toStringTag } = Symbol;

  const property = (value, enumerable) => ({ __proto__: null, value, writable: true, enumerable, configurable: true });

  // makeEnumerable makes string-named members of a class enumerable, as WebIDL requires for regular members.
  const makeEnumerable = (o) => {
    const names = p.ownKeys(o);
    for (let i = 0; i < names.length; i++) {
      if (typeof names[i] === 'symbol' || names[i] === 'constructor' || names[i] === 'prototype' || names[i] === 'length' || names[i] === 'name') continue;
      const d = p.getOwnPropertyDescriptor(o, names[i]);
      if (d.configurable) p.defineProperty(o, names[i], { __proto__: d, enumerable: true });
    }
  };

  // dress makes C a WebIDL interface. expose also defines it as a global.
  const prototypes = new p.Set();
  internal.dress = (C) => {
    p.setAdd(prototypes, C.prototype);
    makeEnumerable(C);
    makeEnumerable(C.prototype);
    p.defineProperty(C.prototype, toStringTag, { __proto__: null, value: C.name, configurable: true });
    return C;
  };
  internal.expose = (C) => {
    internal.dress(C);
    define(globalThis, C.name, C);
    return C;
  };
  // isPlatform reports whether v is a platform object: an instance of one of the interfaces.
  internal.isPlatform = (v) => {
    try {
      for (let o = p.getPrototypeOf(v), n = 0; o !== null && n < 16; o = p.getPrototypeOf(o), n++) if (p.setHas(prototypes, o)) return true;
    } catch { /* a Proxy */ }
    return false;
  };
  // constants defines read-only constants on an interface and its prototype.
  internal.constants = (C, values) => {
    for (const name in values) {
      const d = { __proto__: null, value: values[name], enumerable: true };
      p.defineProperty(C, name, d);
      p.defineProperty(C.prototype, name, d);
    }
  };

  // need throws if a function received fewer arguments than it requires. The message is the one that Node's fetch has. If
  // the arguments have names, it is the one that Node's own functions have.
  internal.need = (got, want, what, names) => {
    if (got >= want) return;
    if (names !== undefined) throw internal.nodeError(p.TypeError, 'ERR_MISSING_ARGS', `The "${names[0]}" ${want > 1 ? `and "${names[1]}" arguments` : 'argument'} must be specified`);
    throw new p.TypeError(`${what}: ${want} argument${want > 1 ? 's' : ''} required, but${got > 0 ? ' only' : ''} ${got} found.`);
  };

  // key is the argument that permits the library to call constructors that throw "Illegal constructor" for scripts.
  internal.key = { __proto__: null };
  internal.illegal = (key) => {
    if (key !== internal.key) throw internal.nodeError(p.TypeError, 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
  };

  const { DOMException } = globalThis;
  makeEnumerable(DOMException.prototype);
  internal.DOMException = DOMException;
  class QuotaExceededError extends DOMException {
    #quota = null; #requested = null;
    constructor(message = '', options = undefined) {
      super(message, 'QuotaExceededError');
      const { quota, requested } = internal.dictionary(options, 'QuotaExceededError: the options');
      const number = (v) => {
        v = +v;
        if (!(v >= 0 && v < Infinity)) throw new p.RangeError('QuotaExceededError: a number is not finite, or negative');
        return v;
      };
      if (quota !== undefined) this.#quota = number(quota);
      if (requested !== undefined) this.#requested = number(requested);
      if (this.#quota !== null && this.#requested !== null && this.#requested < this.#quota) throw new p.RangeError('QuotaExceededError: less was requested than there is');
    }
    get quota() { return this.#quota; }
    get requested() { return this.#requested; }
  }
  internal.expose(QuotaExceededError);
  internal.domError = (name, message) => name === 'QuotaExceededError' ? new QuotaExceededError(message) : new DOMException(message, name);
  const plain = internal.errorFor;
  const domNames = new p.Set(['AbortError', 'DataCloneError', 'DataError', 'EncodingError', 'InvalidAccessError', 'InvalidCharacterError', 'InvalidStateError',
    'NetworkError', 'NotFoundError', 'NotSupportedError', 'OperationError', 'QuotaExceededError', 'SyntaxError', 'TimeoutError', 'TypeMismatchError']);
  // The host prefixes the name of a DOMException with "DOM:" if a built-in error has the same name: DOM:SyntaxError.
  internal.errorFor = (name, message) => {
    if (p.startsWith(name, 'DOM:')) return new DOMException(message, p.slice(name, 4));
    return name !== 'SyntaxError' && p.setHas(domNames, name) ? internal.domError(name, message) : plain(name, message);
  };

  const isObject = (v) => (typeof v === 'object' && v !== null) || typeof v === 'function';
  internal.isObject = isObject;

  // text converts to a DOMString, usv to a USVString.
  internal.text = (v) => typeof v === 'string' ? v : `${v}`;
  internal.usv = (v) => p.toWellFormed(typeof v === 'string' ? v : `${v}`);
  // byteString converts to a ByteString: every code unit must fit into a byte.
  internal.byteString = (v) => {
    const s = internal.text(v);
    for (let i = 0; i < s.length; i++) if (p.charCodeAt(s, i) > 255) throw new p.TypeError(`Cannot convert argument to a ByteString because the character at index ${i} has a value of ${p.charCodeAt(s, i)} which is greater than 255.`);
    return s;
  };

  // dictionary returns the object from which to read a dictionary's members.
  const none = p.freeze({ __proto__: null });
  // argument is its name in Node's message.
  internal.dictionary = (v, what, argument) => {
    if (v === undefined || v === null) return none;
    if (!isObject(v) && argument !== undefined) throw internal.nodeWrongType(argument, 'of type object', v);
    if (!isObject(v)) throw new p.TypeError(`${what} is not an object`);
    return v;
  };
  internal.callback = (v, what) => {
    if (typeof v !== 'function') throw new p.TypeError(`${what} is not a function`);
    return v;
  };
  internal.oneOf = (v, values, what) => {
    const s = internal.text(v);
    if (p.arrayIndexOf(values, s) < 0) throw new p.TypeError(`${what} is not a valid value: ${s}`);
    return s;
  };
  // enforceRange converts to an integer as WebIDL's [EnforceRange] does.
  internal.enforceRange = (v, max, what) => {
    const n = p.trunc(+v);
    if (!(n >= 0 && n <= max)) throw new p.TypeError(`${what} is outside its range`);
    return n + 0;
  };

  // sequence converts the items of a guest's iterable to an array. method is its iterator method, if the caller has already
  // read it.
  internal.sequence = (v, convert, what, method) => {
    if (!internal.isObject(v)) throw new p.TypeError(`${what} is not iterable`);
    method ??= v[iterator];
    if (typeof method !== 'function') throw new p.TypeError(`${what} is not iterable`);
    const it = p.apply(method, v, []);
    if (!internal.isObject(it)) throw new p.TypeError(`${what}: the iterator is not an object`);
    const { next } = it, out = [];
    for (;;) {
      const result = p.apply(next, it, []);
      if (!internal.isObject(result)) throw new p.TypeError(`${what}: the iterator did not return an object`);
      if (result.done) return out;
      p.arrayPush(out, convert(result.value));
    }
  };
  // record converts the members of an object to a flat array of names and values.
  internal.record = (v, name, value) => {
    const out = [], names = p.ownKeys(v), places = new p.Map();
    for (let i = 0; i < names.length; i++) {
      const d = p.getOwnPropertyDescriptor(v, names[i]);
      if (d === undefined || !d.enumerable) continue;
      const k = name(names[i]), x = value(v[names[i]]);
      const at = p.mapGet(places, k);
      if (at !== undefined) out[at + 1] = x;
      else {
        p.mapSet(places, k, out.length);
        p.arrayPush(out, k);
        p.arrayPush(out, x);
      }
    }
    return out;
  };
  const wrongPair = (what, length) => what === 'URLSearchParams'
    ? internal.nodeError(p.TypeError, 'ERR_INVALID_TUPLE', 'Each query pair must be an iterable [name, value] tuple')
    : new p.TypeError(`${what} constructor: expected name/value pair to be length 2, found ${length}.`);
  // pairs converts the init argument of Headers, URLSearchParams and FormData: a sequence of pairs, or a record.
  internal.pairs = (v, name, value, what) => {
    const method = v[iterator], params = what === 'URLSearchParams';
    if (method === undefined || method === null) return internal.record(v, name, value);
    if (params && typeof method !== 'function') throw internal.nodeError(p.TypeError, 'ERR_ARG_NOT_ITERABLE', 'Query pairs must be iterable');
    const out = [];
    internal.sequence(v, (pair) => {
      const each = isObject(pair) ? pair[iterator] : undefined;
      if (params && typeof each !== 'function') throw wrongPair(what, 0);
      const items = internal.sequence(pair, (x) => x, `${what}: a pair`, each);
      if (items.length !== 2) throw wrongPair(what, items.length);
      p.arrayPush(out, name(items[0]));
      p.arrayPush(out, value(items[1]));
    }, what, method);
    return out;
  };

  // setPair sets the first of the values in a list of names and values whose names fit, drops the others, and adds the
  // pair to the end if no name fits. It returns the list, or a new one if it drops values.
  internal.setPair = (list, name, value, fits) => {
    let i = 0;
    while (i < list.length && !fits(list[i])) i += 2;
    if (i === list.length) {
      p.arrayPush(list, name);
      p.arrayPush(list, value);
      return list;
    }
    list[i + 1] = value; // an element of its own, so no setter is called
    let kept;
    for (let j = i += 2; j < list.length; j += 2) {
      if (!fits(list[j])) {
        if (kept === undefined) continue;
        p.arrayPush(kept, list[j]);
        p.arrayPush(kept, list[j + 1]);
      } else if (kept === undefined) kept = p.arraySlice(list, 0, j);
    }
    return kept ?? list;
  };

  // The following are brand checks, which a guest cannot spoof.
  internal.isBuffer = (v) => internal.has(v, internal.kinds.buffer, p.bufferLength);
  internal.isShared = (v) => internal.has(v, internal.kinds.shared, p.sharedLength);
  internal.isTyped = (v) => p.isView(v) && p.typedTag(v) !== undefined;
  const span = (v) => {
    if (p.isView(v)) {
      return p.typedTag(v) !== undefined ? { __proto__: null, buffer: p.typedBuffer(v), offset: p.typedOffset(v), length: p.typedBytes(v) }
        : { __proto__: null, buffer: p.viewBuffer(v), offset: p.viewOffset(v), length: p.viewBytes(v) };
    }
    if (internal.isBuffer(v)) return { __proto__: null, buffer: v, offset: 0, length: p.bufferLength(v) };
    return undefined;
  };
  // span returns the buffer, offset and length of an ArrayBuffer or view.
  internal.span = span;
  internal.isBufferSource = (v) => p.isView(v) || internal.isBuffer(v);
  // bytes returns a Uint8Array over the bytes of a BufferSource. copy returns one over a copy of them.
  internal.bytes = (v, what, shared) => {
    const at = span(v) ?? (shared && internal.isShared(v) ? { __proto__: null, buffer: v, offset: 0, length: p.sharedLength(v) } : undefined);
    if (at === undefined || (!shared && !internal.isBuffer(at.buffer))) throw new p.TypeError(`${what ?? 'the value'} is not an ArrayBuffer or a view of one`);
    if (internal.isBuffer(at.buffer) && p.bufferDetached(at.buffer)) return new p.Uint8Array(0);
    return new p.Uint8Array(at.buffer, at.offset, at.length);
  };
  internal.copy = (v, what) => {
    const from = internal.bytes(v, what);
    const to = new p.Uint8Array(p.typedBytes(from));
    p.typedSet(to, from);
    return to;
  };
  // bufferOf returns an ArrayBuffer with exactly the bytes of a Uint8Array: its own buffer, or a copy.
  internal.bufferOf = (u) => {
    const buffer = p.typedBuffer(u), n = p.typedBytes(u);
    if (internal.isBuffer(buffer) && p.bufferLength(buffer) === n && !p.bufferResizable(buffer)) return buffer;
    const to = new p.Uint8Array(n);
    p.typedSet(to, u);
    return p.typedBuffer(to);
  };

  // json returns the JSON of an array of strings and numbers that the library made.
  internal.json = (list) => {
    p.setPrototypeOf(list, null);
    return p.stringify(list);
  };

  // iterable adds entries(), keys(), values() and forEach() of a pair list. Iterators see changes to the list.
  const iteratorPrototype = p.getPrototypeOf(p.getPrototypeOf([][iterator]()));
  const arrayIterator = p.uncurry([][iterator]);
  internal.arrayValues = arrayIterator;
  internal.pairIterators = []; // prototypes, each with a function that returns the remaining items of an iterator
  internal.iterable = (C, listOf, nodes = false) => { // nodes: the errors are Node's own, not those of its fetch
    const states = new p.WeakMap();
    const proto = p.create(iteratorPrototype);
    const next = { next() {
      const s = isObject(this) ? p.weakMapGet(states, this) : undefined;
      if (s === undefined && nodes) throw internal.nodeError(p.TypeError, 'ERR_INVALID_THIS', `Value of "this" must be of type ${C.name}Iterator`);
      if (s === undefined) throw new p.TypeError(`next called on something that is not a ${C.name} Iterator`);
      const list = listOf(s.target);
      if (s.at >= list.length) return { value: undefined, done: true };
      const k = list[s.at], v = list[s.at + 1];
      s.at += 2;
      return { value: s.kind === 'keys' ? k : s.kind === 'values' ? v : [k, v], done: false };
    } }.next;
    p.defineProperty(proto, 'next', property(next, true));
    p.defineProperty(proto, toStringTag, { __proto__: null, value: `${C.name} Iterator`, configurable: true });
    p.arrayPush(internal.pairIterators, [proto, (it) => {
      const s = p.weakMapGet(states, it), list = listOf(s.target), left = [];
      for (let i = s.at; i < list.length; i += 2) p.arrayPush(left, s.kind === 'keys' ? list[i] : s.kind === 'values' ? list[i + 1] : [list[i], list[i + 1]]);
      return left;
    }]);
    const make = (target, kind) => {
      listOf(target); // brand check
      const it = p.create(proto);
      p.weakMapSet(states, it, { __proto__: null, target, kind, at: 0 });
      return it;
    };
    const methods = {
      entries() { return make(this, 'entries'); },
      keys() { return make(this, 'keys'); },
      values() { return make(this, 'values'); },
      forEach(callback, thisArg = undefined) {
        listOf(this);
        if (nodes && typeof callback !== 'function') throw internal.nodeWrongType('callback', 'of type function', callback);
        internal.need(arguments.length, 1, `${C.name}.forEach`);
        internal.callback(callback, `${C.name}.forEach: the callback`);
        for (let i = 0; i < listOf(this).length; i += 2) {
          const list = listOf(this);
          p.apply(callback, thisArg, [list[i + 1], list[i], this]);
        }
      },
    };
    const names = p.keys(methods);
    for (let i = 0; i < names.length; i++) p.defineProperty(C.prototype, names[i], property(methods[names[i]], true));
    p.defineProperty(C.prototype, iterator, property(methods.entries, false));
    return proto;
  };
  internal.symbols = { __proto__: null, asyncIterator, iterator, toStringTag, hasInstance: Symbol.hasInstance };
  internal.property = property;
  return internal;
}
