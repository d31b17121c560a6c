// structuredClone, as specified by the HTML standard: serialize the value into records, transfer the buffers, then
// deserialize the records. A record is a null-prototype object; a primitive is its own record.
(host, internal) => {
  'use strict';
  const { p, define, DOMException } = internal;
  const cannot = (what) => internal.domError('DataCloneError', `${what} could not be cloned.`);
  const domName = p.getter(DOMException.prototype, 'name'), domMessage = p.getter(DOMException.prototype, 'message');
  const views = { __proto__: null }, errors = { __proto__: null };
  for (const name of ['Uint8Array', 'Int8Array', 'Uint8ClampedArray', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'BigUint64Array', 'BigInt64Array', 'Float16Array', 'Float32Array', 'Float64Array', 'DataView']) views[name] = globalThis[name];
  for (const name of ['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']) errors[name] = globalThis[name];
  const makeRegExp = (source, flags) => new p.RegExp(source, flags);
  const regexpSource = p.getter(RegExp.prototype, 'source'), regexpFlags = p.getter(RegExp.prototype, 'flags');
  const symbolValueOf = p.uncurry(Symbol.prototype.valueOf), bigintValueOf = p.uncurry(BigInt.prototype.valueOf);
  const { isError } = p.Error;
  const isNativeError = typeof isError === 'function' ? isError : internal.isError;

  const { kinds, isKind } = internal;
  // has reports whether v has the internal slot that method, of no kind, checks.
  const has = (method, v) => {
    try {
      method(v);
      return true;
    } catch { return false; }
  };
  const put = (o, k, value) => { p.defineProperty(o, k, { __proto__: null, value, writable: true, enumerable: true, configurable: true }); };
  // serialisable lists the platform classes that support cloning, as {is, clone}.
  internal.serialisable = [];

  // isLiteral reports whether v, of kind plain, is an object as literals and JSON make them.
  const isLiteral = (v) => {
    const proto = p.getPrototypeOf(v);
    return proto === p.ObjectPrototype || proto === null;
  };

  const readDate = (v, record) => record((time) => new p.Date(time), p.dateGetTime(v));

  const boxed = [[kinds.boolean, p.booleanValueOf], [kinds.number, p.numberValueOf], [kinds.bigint, bigintValueOf], [kinds.string, p.stringValueOf]];
  const primitive = (v) => v === null || typeof v !== 'object' && typeof v !== 'function' && typeof v !== 'symbol';
  const made = (value) => ({ __proto__: null, make: undefined, data: undefined, value, made: true, fill: undefined });
  // A memory has the records of the objects read so far. If nothing is transferred, it has copies of them instead: all
  // is copied as it is read, since nobody sees the copies before the whole is done.
  const newMemory = (transfers) => ({ __proto__: null, records: transfers ? new p.Map() : null, copies: transfers ? null : new p.Map() });

  // read serializes v into a record.
  const read = (v, memory) => {
    if (primitive(v)) return v;
    if (memory.copies !== null) return made(copy(v, memory));
    if (typeof v === 'object') {
      const known = p.mapGet(memory.records, v);
      if (known !== undefined) return known;
    }
    return readObject(v, memory, typeof v === 'object' ? internal.kind(v) : 0);
  };
  // copy reads v and writes it at once.
  const copy = (v, memory) => {
    if (typeof v !== 'object') return write(readObject(v, memory, 0));
    const known = p.mapGet(memory.copies, v);
    if (known !== undefined) return known;
    const kind = internal.kind(v);
    if (kind === kinds.array) return copyArray(v, memory);
    if (kind === kinds.plain && isLiteral(v)) return copyLiteral(v, memory);
    return write(readObject(v, memory, kind));
  };
  const readObject = (v, memory, kind) => {
    if (typeof v === 'symbol') throw cannot(p.symbolToString(v));
    if (typeof v === 'function') throw cannot(p.functionToString(v));
    const record = (make, data) => {
      if (memory.copies !== null) {
        const value = make(data);
        p.mapSet(memory.copies, v, value);
        return made(value);
      }
      const r = { __proto__: null, make, data, value: undefined, made: false, fill: undefined };
      p.mapSet(memory.records, v, r);
      return r;
    };
    if (kind === kinds.array || kind === kinds.plain && isLiteral(v)) return readMembers(v, memory, record);
    const slotted = (wanted, method) => isKind(v, kind, wanted, method);
    for (let i = 0; i < boxed.length; i++) if (slotted(boxed[i][0], boxed[i][1])) return record(p.Object, boxed[i][1](v));
    if (slotted(kinds.date, p.dateGetTime)) return readDate(v, record);
    if (slotted(kinds.regexp, regexpSource) && v !== p.RegExp.prototype) return record((r) => (internal.makeRegExp ?? makeRegExp)(r.source, r.flags), { __proto__: null, source: internal.writtenPattern?.(v) ?? regexpSource(v), flags: regexpFlags(v) });
    if (slotted(kinds.buffer, p.bufferLength)) return record((copy) => copy, copyBuffer(v));
    if (slotted(kinds.shared, p.sharedLength)) throw cannot('A SharedArrayBuffer');
    if (p.isView(v)) return readView(v, memory, record);
    const map = slotted(kinds.map, p.mapSize);
    if (map || slotted(kinds.set, p.setSize)) return readCollection(v, memory, record, map);
    if (has(domName, v)) return record((e) => withStack(new DOMException(e.message, e.name), e.stack), { __proto__: null, name: domName(v), message: domMessage(v), stack: data(v, 'stack') });
    if (isNativeError(v)) return readError(v, memory, record);
    for (let i = 0; i < internal.serialisable.length; i++) {
      const s = internal.serialisable[i];
      if (s.is(v)) return record(s.clone, v);
    }
    if (internal.isPromise(v)) throw cannot('#<Promise>');
    if (kind === kinds.proxy) throw cannot(p.isArray(v) ? '[object Array]' : '#<Object>');
    if (internal.isPlatform(v)) throw cannot(internal.inspect(v));
    if (slotted(kinds.weakMap, p.weakMapHas) || slotted(kinds.weakSet, p.weakSetHas) || slotted(kinds.symbol, symbolValueOf) || slotted(kinds.weakRef, p.weakRefDeref)) throw cannot(`#<${p.getPrototypeOf(v)?.constructor?.name ?? 'Object'}>`);
    if (memory.copies === null) return readMembers(v, memory, record);
    return made(p.isArray(v) ? copyArray(v, memory) : copyLiteral(v, memory)); // only QuickJS tells arrays by their kind
  };

  const member = (x, memory) => (primitive(x) ? x : copy(x, memory));
  // copyArray copies an array. The new array has its elements from the beginning, since prototypes have no say in
  // assignments to own elements. Reading an element may run an accessor, which may remove others.
  const copyArray = (v, memory) => {
    const { length } = v, names = p.keys(v);
    const dense = length > 0 && names.length === length && names[length - 1] === `${length - 1}`;
    const out = dense ? p.arrayFrom({ __proto__: null, length }) : [];
    if (!dense) out.length = length;
    p.mapSet(memory.copies, v, out);
    for (let i = 0; i < names.length; i++) {
      const k = dense ? i : names[i];
      let x = v[k];
      if ((x === undefined || !dense) && !p.hasOwn(v, k)) {
        if (dense) delete out[i];
        continue;
      }
      if (typeof x === 'object' ? x !== null : typeof x === 'function' || typeof x === 'symbol') x = copy(x, memory);
      if (dense) out[i] = x;
      else put(out, k, x);
    }
    return out;
  };
  // copyLiteral copies an object without slots. An assignment defines a property that Object.prototype does not have.
  const copyLiteral = (v, memory) => {
    const names = p.keys(v), out = {}, literal = isLiteral(v);
    p.mapSet(memory.copies, v, out);
    for (let i = 0; i < names.length; i++) {
      const k = names[i];
      if (k in p.ObjectPrototype || !literal) {
        if (p.hasOwn(v, k)) put(out, k, member(v[k], memory));
        continue;
      }
      let x = v[k];
      if (x === undefined && !p.hasOwn(v, k)) continue;
      if (typeof x === 'object' ? x !== null : typeof x === 'function' || typeof x === 'symbol') x = copy(x, memory);
      out[k] = x;
    }
    return out;
  };

  const data = (o, name) => p.getOwnPropertyDescriptor(o, name)?.value;
  const withStack = (e, stack) => {
    define(e, 'stack', typeof stack === 'string' ? stack : '');
    return e;
  };
  const copyBuffer = (v) => {
    if (p.bufferDetached(v)) throw cannot('An ArrayBuffer is detached and');
    const n = p.bufferLength(v);
    const copy = p.bufferResizable(v) ? new p.ArrayBuffer(n, { __proto__: null, maxByteLength: p.bufferMaxLength(v) }) : new p.ArrayBuffer(n);
    p.typedSet(new p.Uint8Array(copy), new p.Uint8Array(v));
    return copy;
  };
  // readView reads a view. A view of a resizable buffer may track the buffer's length, and may be out of bounds.
  const readView = (v, memory, record) => {
    const tag = p.typedTag(v) ?? 'DataView';
    let at;
    try { at = internal.span(v); } catch { throw cannot('A view of a detached ArrayBuffer'); }
    const buffer = read(at.buffer, memory), resizable = p.bufferResizable(at.buffer);
    const outside = resizable && at.length === 0 && at.offset === 0 && lies(v, at.buffer);
    if (outside) throw cannot('A view outside of its ArrayBuffer');
    const length = resizable && tracks(v, at) ? undefined : tag === 'DataView' ? at.length : p.typedLength(v);
    return record((r) => new views[tag](write(r.buffer), r.offset, r.length), { __proto__: null, buffer, offset: at.offset, length });
  };
  const tracks = (v, at) => {
    const n = p.bufferLength(at.buffer), max = p.bufferMaxLength(at.buffer);
    if (max - n < 8) return false;
    p.bufferResize(at.buffer, n + 8);
    const follows = internal.span(v).length !== at.length;
    p.bufferResize(at.buffer, n);
    return follows;
  };
  const lies = (v, buffer) => {
    const n = p.bufferLength(buffer), max = p.bufferMaxLength(buffer);
    p.bufferResize(buffer, max);
    const there = internal.span(v);
    p.bufferResize(buffer, n);
    return there.offset > n;
  };
  const readCollection = (v, memory, record, map) => {
    const entries = p.arrayFrom({ __proto__: null, length: map ? 2 * p.mapSize(v) : p.setSize(v) });
    let n = 0;
    if (map) {
      p.mapForEach(v, (value, k) => {
        entries[n++] = k;
        entries[n++] = value;
      });
    } else p.setForEach(v, (value) => { entries[n++] = value; });
    const r = record(map ? () => new p.Map() : () => new p.Set(), undefined);
    if (memory.copies !== null) {
      if (map) for (let i = 0; i < entries.length; i += 2) p.mapSet(r.value, member(entries[i], memory), member(entries[i + 1], memory));
      else for (let i = 0; i < entries.length; i++) p.setAdd(r.value, member(entries[i], memory));
      return r;
    }
    const records = [];
    for (let i = 0; i < entries.length; i++) p.arrayPush(records, read(entries[i], memory));
    r.fill = map ? (copy) => { for (let i = 0; i < records.length; i += 2) p.mapSet(copy, write(records[i]), write(records[i + 1])); }
      : (copy) => { for (let i = 0; i < records.length; i++) p.setAdd(copy, write(records[i])); };
    return r;
  };
  const readError = (v, memory, record) => {
    const { name } = v;
    const kind = name === undefined ? 'Error' : internal.text(name);
    const d = p.getOwnPropertyDescriptor(v, 'message');
    const message = d !== undefined && 'value' in d ? internal.text(d.value) : undefined;
    const r = record(() => {
      const e = new (errors[kind] ?? p.Error)();
      if (message !== undefined) define(e, 'message', message);
      return withStack(e, data(v, 'stack'));
    }, undefined);
    if (p.hasOwn(v, 'cause')) {
      const cause = read(v.cause, memory);
      r.fill = (e) => { define(e, 'cause', write(cause)); };
    }
    return r;
  };
  const readMembers = (v, memory, record) => {
    const r = p.isArray(v) ? record((length) => {
      const copy = [];
      copy.length = length;
      return copy;
    }, v.length) : record(() => ({}), undefined);
    const names = p.keys(v), members = [];
    for (let i = 0; i < names.length; i++) {
      if (!p.hasOwn(v, names[i])) continue;
      p.arrayPush(members, names[i]);
      p.arrayPush(members, read(v[names[i]], memory));
    }
    r.fill = (copy) => { for (let i = 0; i < members.length; i += 2) put(copy, members[i], write(members[i + 1])); };
    return r;
  };

  // write deserializes a record.
  const write = (r) => {
    if (r === null || typeof r !== 'object') return r;
    if (!r.made) {
      r.value = r.make(r.data);
      r.made = true;
    }
    const { fill } = r;
    if (fill !== undefined) {
      r.fill = undefined;
      fill(r.value);
    }
    return r.value;
  };

  internal.clone = (v) => write(read(v, newMemory(false)));
  define(globalThis, 'structuredClone', function structuredClone(value, options = undefined) {
    if (arguments.length === 0) throw internal.nodeError(p.TypeError, 'ERR_MISSING_ARGS', 'The value argument must be specified');
    if (options !== undefined && options !== null && !internal.isObject(options)) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', 'The options argument must be either an object or undefined');
    const transfer = options?.transfer;
    if (transfer !== undefined && !internal.isObject(transfer)) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', 'Optional transferList argument must be an iterable');
    const list = transfer === undefined ? [] : internal.sequence(transfer, (o) => o, 'structuredClone: transfer');
    for (let i = 0; i < list.length; i++) if (!internal.isObject(list[i])) throw internal.nodeError(p.TypeError, 'ERR_INVALID_TRANSFER_OBJECT', 'Found invalid object in transferList');
    const memory = newMemory(list.length > 0), records = [];
    for (let i = 0; i < list.length; i++) {
      if (!internal.isBuffer(list[i])) throw cannot('A value in the transfer list');
      if (p.mapHas(memory.records, list[i])) throw internal.domError('DataCloneError', 'Transfer list contains duplicate ArrayBuffer');
      const r = { __proto__: null, make: (copy) => copy, data: undefined, value: undefined, made: false, fill: undefined };
      p.mapSet(memory.records, list[i], r);
      p.arrayPush(records, r);
    }
    const r = read(value, memory);
    for (let i = 0; i < list.length; i++) if (p.bufferDetached(list[i])) throw cannot('A detached ArrayBuffer');
    for (let i = 0; i < list.length; i++) records[i].data = p.bufferTransfer(list[i]);
    return write(r);
  });
  return internal;
}
