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
