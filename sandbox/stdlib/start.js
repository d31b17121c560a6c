// The life of a run: start the caller's function, tell the host when it settles, hand over the result.
(host, internal) => {
  'use strict';
  const { p, op, define } = internal;
  const { isExtensible, deleteProperty } = Reflect;
  const main = internal.require?.main;
  let value, loaded, packages, resultLimit = 0;

  const supervise = async (fn, flags, input, context) => {
    try {
      value = flags & 4 ? loaded : await fn(undefined, main, main?.exports, packages);
      if (flags & 8) value = await value(undefined, main, main?.exports, packages);
      if (flags & 1 && typeof value === 'function') value = await value(input, context);
    } catch (e) {
      internal.fail(e);
      return;
    }
    host(op.settled, value === undefined ? 0 : 1, 0, 0);
  };

  const resolved = (async () => {})();
  internal.enqueue = (job) => { (async () => { await resolved; job(); })(); };

  const defineOutput = () => {
    p.defineProperty(globalThis, 'output', { __proto__: null, value: undefined, writable: true, enumerable: false, configurable: true });
  };

  // makeRoom grows the engine's tables of names and of the shapes of objects. A run that had to grow them would write to
  // every object of the image.
  const makeRoom = () => {
    const kept = [];
    for (let i = 0; i < 2048; i++) {
      const o = { __proto__: null };
      p.defineProperty(o, 'room ' + i, { __proto__: null, value: i, writable: true, enumerable: true, configurable: true });
      p.arrayPush(kept, o);
    }
  };

  // load evaluates the top level of code that many runs will start with, before there is a run. brought has the names of
  // the globals that each run brings along, and whether they are enumerable: who asks for one of them now asks too early.
  // asPackages keeps the value for the code that imports from it.
  const load = (fn, brought, onlyCompiled, asPackages) => {
    defineOutput();
    if (onlyCompiled) {
      loaded = fn;
      host(op.loaded, 1, 0, 0);
      return;
    }
    const names = p.ownKeys(brought);
    const traps = [];
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (p.hasOwn(globalThis, name)) host(op.early, name, 0, 0); // does not return
      const ask = () => { host(op.early, name, 0, 0); };
      p.arrayPush(traps, ask);
      p.defineProperty(globalThis, name, { __proto__: null, get: ask, set: ask, enumerable: brought[name], configurable: true });
    }
    (async () => {
      try {
        const evaluated = await fn(undefined, undefined, undefined, packages);
        if (asPackages) {
          packages = evaluated;
          makeRoom();
        } else loaded = evaluated;
      } catch {
        host(op.loaded, 0, 0, 0);
      }
      for (let i = 0; i < names.length; i++) {
        if (p.getOwnPropertyDescriptor(globalThis, names[i])?.get !== traps[i] || !deleteProperty(globalThis, names[i])) host(op.early, names[i], 0, 0);
      }
      if (!isExtensible(globalThis)) host(op.early, 'globalThis', 0, 0);
      host(op.loaded, 1, 0, 0);
    })();
  };

  // flags: 1, the value is a function to be called; 2, the host has a setup to ask for; 4, fn was loaded; 8, what fn gives
  // is the script.
  const start = (fn, context, input, flags, limit) => {
    resultLimit = limit;
    const names = p.ownKeys(context);
    for (let i = 0; i < names.length; i++) {
      p.defineProperty(globalThis, names[i], { __proto__: null, value: context[names[i]], writable: true, enumerable: true, configurable: true });
    }
    if (!p.hasOwn(context, 'input')) {
      p.defineProperty(globalThis, 'input', { __proto__: null, value: input, writable: true, enumerable: false, configurable: true });
    }
    if (!(flags & 4)) defineOutput();
    if (flags & 2) internal.setup(internal.sync('setup'));
    supervise(fn, flags, input, context);
  };

  internal.outputText = () => internal.serialise(globalThis.output, resultLimit);

  // finish is called when nothing is left to wait for.
  const finish = () => {
    try {
      internal.flushOutput?.();
      host(op.done, internal.serialise(value !== undefined ? value : globalThis.output, resultLimit), 0, 0);
    } catch (e) {
      internal.fail(e);
    }
  };

  // reject is called when nothing is left to wait for, the code has no value, and a rejection is unhandled.
  const reject = (reason, promise) => {
    try {
      if (globalThis.output !== undefined || internal.emitRejection?.(reason, promise)) return;
    } catch (e) {
      internal.fail(e);
      return;
    }
    internal.fail(reason);
  };

  // stack is asked for by the host while the guest stands still.
  const stack = () => new p.Error().stack;

  host(start, finish, internal.fire, internal.settle, stack, load, reject);
  return internal;
}
