// The life of a run: start the caller's function, tell the host when it settles, hand over the result.
(host, internal) => {
  'use strict';
  const { p, op, define } = internal;
  let value, resultLimit = 0;

  const supervise = async (fn, called, input, context) => {
    try {
      value = await fn();
      if (called && typeof value === 'function') value = await value(input, context);
    } catch (e) {
      internal.fail(e);
      return;
    }
    host(op.settled, value === undefined ? 0 : 1, 0, 0);
  };

  const resolved = (async () => {})();
  internal.enqueue = (job) => { (async () => { await resolved; job(); })(); };

  // flags: 1, the value is a function to be called; 2, the host has grants to tell of.
  const start = (fn, context, input, flags, limit) => {
    resultLimit = limit;
    const names = p.ownKeys(context);
    for (let i = 0; i < names.length; i++) {
      p.defineProperty(globalThis, names[i], { __proto__: null, value: context[names[i]], writable: true, enumerable: true, configurable: true });
    }
    const data = { __proto__: null, input, output: undefined };
    for (const name in data) {
      if (name === 'input' && p.hasOwn(context, 'input')) continue;
      p.defineProperty(globalThis, name, { __proto__: null, value: data[name], writable: true, enumerable: false, configurable: true });
    }
    if (flags & 2) internal.setup(internal.sync('setup'));
    supervise(fn, flags & 1, input, context);
  };

  // finish is called when nothing is left to wait for.
  const finish = () => {
    try {
      internal.flushOutput();
      host(op.done, internal.serialise(value !== undefined ? value : globalThis.output, resultLimit), 0, 0);
    } catch (e) {
      internal.fail(e);
    }
  };

  // stack is asked for by the host while the guest stands still.
  const stack = () => new p.Error().stack;

  host(start, finish, internal.fire, internal.settle, stack);
  return internal;
}
