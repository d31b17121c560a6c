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
  const regexpSource = p.getter(RegExp.prototype, 'source'), regexpFlags = p.getter(RegExp.prototype, 'flags');
  const symbolValueOf = p.uncurry(Symbol.prototype.valueOf), bigintValueOf = p.uncurry(BigInt.prototype.valueOf);
  const slots = [p.weakMapHas, p.weakSetHas, p.weakRefDeref, symbolValueOf];
  const { isError } = p.Error;
  const isNativeError = typeof isError === 'function' ? isError : internal.isError;

  // has reports whether v has the internal slot that method checks.
  const has = (method, v) => {
    try {
      method(v);
      return true;
    } catch { return false; }
  };
  const put = (o, k, value) => { p.defineProperty(o, k, { __proto__: null, value, writable: true, enumerable: true, configurable: true }); };
  // serialisable lists the platform classes that support cloning, as {is, clone}.
  internal.serialisable = [];

  const boxed = [p.booleanValueOf, p.numberValueOf, bigintValueOf, p.stringValueOf];
  // read serializes v into a record. memory maps the objects read so far to their records.
  const read = (v, memory) => {
    if (typeof v === 'symbol') throw cannot(p.symbolToString(v));
    if (typeof v === 'function') throw cannot(p.functionToString(v));
    if (v === null || typeof v !== 'object') return v;
    const known = p.mapGet(memory, v);
    if (known !== undefined) return known;
    const record = (make, data) => {
      const r = { __proto__: null, make, data, value: undefined, made: false };
      p.mapSet(memory, v, r);
      return r;
    };
    for (let i = 0; i < boxed.length; i++) if (has(boxed[i], v)) return record(p.Object, boxed[i](v));
    if (has(p.dateGetTime, v)) return record((time) => new p.Date(time), p.dateGetTime(v));
    if (internal.isRegExp(v)) return record((r) => new p.RegExp(r.source, r.flags), { __proto__: null, source: regexpSource(v), flags: regexpFlags(v) });
    if (internal.isBuffer(v)) return record((copy) => copy, copyBuffer(v));
    if (internal.isShared(v)) throw cannot('A SharedArrayBuffer');
    if (p.isView(v)) return readView(v, memory, record);
    if (has(p.mapSize, v) || has(p.setSize, v)) return readCollection(v, memory, record);
    if (has(domName, v)) return record((e) => withStack(new DOMException(e.message, e.name), e.stack), { __proto__: null, name: domName(v), message: domMessage(v), stack: data(v, 'stack') });
    if (isNativeError(v)) return readError(v, memory, record);
    for (let i = 0; i < internal.serialisable.length; i++) {
      const s = internal.serialisable[i];
      if (s.is(v)) return record(s.clone, v);
    }
    if (internal.isPromise(v)) throw cannot('#<Promise>');
    if (internal.kind(v) === internal.kinds.proxy) throw cannot('#<Object>');
    if (internal.isPlatform(v)) throw cannot(internal.inspect(v));
    for (let i = 0; i < slots.length; i++) if (has(slots[i], v)) throw cannot(`#<${p.getPrototypeOf(v)?.constructor?.name ?? 'Object'}>`);
    return readMembers(v, memory, record);
  };

  const data = (o, name) => p.getOwnPropertyDescriptor(o, name)?.value;
  const withStack = (e, stack) => {
    define(e, 'stack', typeof stack === 'string' ? stack : '');
    return e;
  };
  const copyBuffer = (v) => {
    if (p.bufferDetached(v)) throw cannot('A detached ArrayBuffer');
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
  const readCollection = (v, memory, record) => {
    const entries = [], map = has(p.mapSize, v);
    if (map) {
      p.mapForEach(v, (value, k) => {
        p.arrayPush(entries, k);
        p.arrayPush(entries, value);
      });
    } else p.setForEach(v, (value) => { p.arrayPush(entries, value); });
    const r = record(map ? () => new p.Map() : () => new p.Set(), undefined);
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
    if (r.made) return r.value;
    const value = r.make(r.data);
    r.value = value;
    r.made = true;
    r.fill?.(value);
    return value;
  };

  internal.clone = (v) => write(read(v, new p.Map()));
  define(globalThis, 'structuredClone', function structuredClone(value, options = undefined) {
    internal.need(arguments.length, 1, 'structuredClone');
    const { transfer } = internal.dictionary(options, 'structuredClone: the options');
    const list = transfer === undefined ? [] : internal.sequence(transfer, (o) => o, 'structuredClone: transfer');
    const memory = new p.Map(), records = [];
    for (let i = 0; i < list.length; i++) {
      if (!internal.isBuffer(list[i])) throw cannot('A value in the transfer list');
      if (p.mapHas(memory, list[i])) throw cannot('A value that is in the transfer list twice');
      const r = { __proto__: null, make: (copy) => copy, data: undefined, value: undefined, made: false };
      p.mapSet(memory, list[i], r);
      p.arrayPush(records, r);
    }
    const r = read(value, memory);
    for (let i = 0; i < list.length; i++) if (p.bufferDetached(list[i])) throw cannot('A detached ArrayBuffer');
    for (let i = 0; i < list.length; i++) records[i].data = p.bufferTransfer(list[i]);
    return write(r);
  });
  return internal;
}
