// The life cycle of a run: call the caller's function, tell the host when it settles, return the result.
(host, internal) => {
  'use strict';
  const { p, op, define } = internal;
  const { isExtensible, deleteProperty } = Reflect;
  const main = internal.require?.main;
  let value, loaded, packages, resultLimit = 0;

  const isClass = (fn) => p.startsWith(p.functionToString(fn), 'class') && p.getOwnPropertyDescriptor(fn, 'prototype')?.writable === false;

  const supervise = async (fn, flags, input, context) => {
    const names = flags & 16 ? keep : undefined;
    let thrown = true; // and not a promise that was rejected later
    const started = (running) => {
      thrown = internal.listening !== true || internal.inspecting.promiseState(running) !== 0;
      return begun(running, flags);
    };
    try {
      if (flags & 1024) packages = await loaded();
      const given = [undefined, main, main?.exports, packages, names];
      value = flags & 4 ? loaded : await started(p.apply(fn, flags & 32 ? undefined : main?.exports, given));
      if (flags & 8) value = await started(p.apply(value, main?.exports, given));
      if (flags & 1 && typeof value === 'function' && !isClass(value)) value = await value(input, context);
      if (active(value)) value = undefined;
    } catch (e) {
      if ((thrown || !listened(e)) && !handled(e, thrown ? undefined : 'unhandledRejection')) return;
      value = undefined;
    }
    host(op.settled, value === undefined ? 0 : 1, 0, 0);
  };

  // begun returns the promise of the code's value. Code that is no ES module, and has no top-level await, is a CommonJS
  // module: its ticks precede microtasks.
  const begun = (running, flags) => {
    if (!(flags & 32) && internal.hasTicks() && internal.inspecting.promiseState(running) !== 0) internal.runTicks();
    return running;
  };

  // active reports whether a value is a timer, stream or other emitter. Code that ends with stream.on(…) has no result
  // yet and continues until nothing is pending.
  const active = (v) => internal.isTimeout(v) || internal.isImmediate?.(v) || internal.isEmitter !== undefined && internal.isEmitter(v);

  // handled reports whether the code itself handles an error that ends it. If not, the run fails.
  const handled = (e, origin = 'uncaughtException') => {
    try {
      if (internal.caught?.(e, origin)) return true;
    } catch (thrown) { e = thrown; }
    internal.fail(e);
    return false;
  };

  // listened reports whether the code listens for unhandled rejections and has received this one.
  const listened = (e) => {
    const promise = (async () => { throw e; })();
    p.promiseThen(promise, undefined, () => {});
    try { return internal.emitRejection?.(e, promise) === true; } catch { return false; }
  };

  // keep defines globals that stand for the declarations of a step of a session: name to [get, set], or [get] of a constant.
  const keep = (declared) => {
    const names = p.ownKeys(declared);
    for (let i = 0; i < names.length; i++) {
      const name = names[i], get = declared[name][0];
      const set = declared[name][1] ?? (() => { throw new p.TypeError('Assignment to constant variable.'); });
      p.defineProperty(globalThis, name, { __proto__: null, get, set, enumerable: true, configurable: true });
    }
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

  // extendRegExp gives code what it needs of RegExp and other code has not.
  const extendRegExp = (flags) => {
    if (flags & 64) internal.keepMatches?.();
    if (flags & 256) internal.addSets?.();
    if (flags & 512) internal.namePatterns?.();
  };

  // load evaluates top-level code that many runs share, before any run exists. brought maps the names of the globals that
  // each run supplies to whether they are enumerable. Code that accesses one of them during load fails with op.early.
  // asPackages keeps the value for the code that imports from it, or has start evaluate what is only compiled. flags are those of start that extendRegExp knows.
  const load = (fn, brought, onlyCompiled, asPackages, flags) => {
    defineOutput();
    if (onlyCompiled) {
      loaded = fn;
      if (asPackages) makeRoom();
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
    extendRegExp(flags);
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

  // start starts a run. flags: 1, call the value if it is a function; 2, ask the host for a setup; 4, load has evaluated fn;
  // 8, fn returns the script's function; 16, it is a step of a session, whose declarations are kept;
  // 32, the code is an ES module by its syntax; 64, it mentions RegExp.$1 or the like; 128, it is a CommonJS module that
  // mentions __dirname or __filename; 256, it may make regular expressions with the flag v; 1024, load has compiled the
  // packages.
  const start = (fn, context, input, flags, limit) => {
    resultLimit = limit;
    internal.isStep = (flags & 16) !== 0;
    const names = p.ownKeys(context);
    for (let i = 0; i < names.length; i++) {
      p.defineProperty(globalThis, names[i], { __proto__: null, value: context[names[i]], writable: true, enumerable: true, configurable: true });
    }
    if (!p.hasOwn(context, 'input')) {
      p.defineProperty(globalThis, 'input', { __proto__: null, value: input, writable: true, enumerable: false, configurable: true });
    }
    if (!(flags & 4)) defineOutput();
    if (internal.isStep) { // what was given to an earlier step
      internal.setArguments([]);
      internal.forgetInput();
    }
    if (flags & 2) internal.setup(internal.sync('setup'));
    extendRegExp(flags);
    if (flags & 128) {
      define(globalThis, '__dirname', '/');
      define(globalThis, '__filename', '/script.js');
    }
    supervise(fn, flags, input, context);
  };

  internal.outputText = () => internal.serialise(globalThis.output, resultLimit);

  // finish returns the result. The host calls it when nothing is pending. If listeners of beforeExit may have started
  // something, it returns nothing, and the host calls it again with whether anything happened.
  const finish = (happened) => {
    try {
      if (value === undefined && internal.drain?.(happened === 1)) return;
      internal.leave?.();
      internal.flushOutput?.();
      host(op.done, internal.serialise(value !== undefined ? value : globalThis.output, resultLimit), 0, 0);
    } catch (e) {
      internal.fail(e);
    }
  };

  // reject reports an unhandled rejection. The host calls it when nothing is pending and the code returned no value.
  const reject = (reason, promise) => {
    try {
      if (globalThis.output !== undefined || internal.emitRejection?.(reason, promise)) return;
    } catch (e) {
      internal.fail(e);
      return;
    }
    handled(reason, 'unhandledRejection');
  };

  // stack returns the guest's stack. The host calls it while the guest is interrupted.
  const stack = () => internal.plainStack();

  host(start, finish, internal.fire, internal.settle, stack, load, reject, internal.runTicks);
  return internal;
}
