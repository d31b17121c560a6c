// Calls to the host: sync returns at once, request returns a promise. powers.go in package sandbox handles them.
(host, internal) => {
  'use strict';
  const { p, op } = internal;
  const pending = new p.Map();
  let next = 1;

  const constructors = { __proto__: null, Error: p.Error, RangeError: p.RangeError, SyntaxError: p.SyntaxError, TypeError: p.TypeError };
  // errorFor returns an error for a refusal of the host. webidl.js replaces it with one that also knows DOMException names.
  internal.errorFor = (name, message) => {
    const Constructor = constructors[name];
    if (Constructor !== undefined) return new Constructor(message);
    const e = new p.Error(message);
    internal.define(e, 'name', name);
    return e;
  };
  const refusal = (v) => v !== null && typeof v === 'object' && p.hasOwn(v, '$error') ? v.$error : undefined;

  // sync calls a host operation with up to six arguments (integers, booleans, strings, ArrayBuffers).
  internal.sync = (name, a, b, c, d, e, f) => {
    const v = host(op.sync, name, a, b, c, d, e, f);
    const failed = refusal(v);
    if (failed !== undefined) throw internal.errorFor(failed[0], failed[1]);
    return v;
  };

  // kind asks the host for what JavaScript cannot observe about an object. The numbers are those of quickjs.Kind.
  const kinds = internal.kinds = {
    __proto__: null, other: 0, proxy: 1, promise: 2, error: 3, args: 4, mapIterator: 5, setIterator: 6, generator: 7, weakMap: 8, weakSet: 9,
    module: 10, plain: 11, array: 12, date: 13, map: 14, set: 15, regexp: 16, buffer: 17, shared: 18, number: 19, string: 20, boolean: 21, bigint: 22,
    symbol: 23, weakRef: 24,
  };
  const kind = internal.kind = (v) => host(op.sync, 'value.kind', v, 0);
  const tells = internal.engineVersion !== ''; // of QuickJS the host tells all kinds, of other engines the first eleven
  // isKind reports whether v, of kind known, has the internal slot of kind wanted. On other engines it calls method, which
  // throws for objects without the slot; that takes QuickJS 20 times as long.
  internal.isKind = (v, known, wanted, method) => {
    if (tells || known === wanted) return known === wanted;
    try {
      method(v);
      return true;
    } catch { return false; }
  };
  // has is isKind for a value of unknown kind.
  internal.has = (v, wanted, method) => typeof v === 'object' && v !== null && internal.isKind(v, tells ? kind(v) : kinds.other, wanted, method);

  // request starts an asynchronous host operation. payload is a string.
  internal.request = (name, payload) => new p.Promise((resolve, reject) => {
    const id = next++;
    p.mapSet(pending, id, { __proto__: null, resolve, reject });
    host(op.request, id, name, payload);
  });

  // settle resolves or rejects a pending request. The host calls it.
  internal.settle = (id, failed, value) => {
    const call = p.mapGet(pending, id);
    if (call === undefined) return;
    p.mapDelete(pending, id);
    if (failed) call.reject(internal.errorFor(value.$error[0], value.$error[1]));
    else call.resolve(value);
  };
  return internal;
}
