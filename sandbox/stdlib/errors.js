// Reports thrown values to the host as plain strings. No value that a guest throws can make these functions throw.
(host, internal) => {
  'use strict';
  const { p, op } = internal;
  const limit = 16 << 10;

  internal.isError = (v) => {
    try {
      for (let o = v, n = 0; o !== null && n < 64; o = p.getPrototypeOf(o), n++) if (o === p.Error.prototype) return true;
      return false;
    } catch { return false; }
  };
  const regexpSource = p.getter(p.RegExp.prototype, 'source');
  internal.isRegExp = (v) => internal.has(v, internal.kinds.regexp, regexpSource) && v !== p.RegExp.prototype;
  internal.isPromise = (v) => {
    try { return p.getPrototypeOf(v) === p.Promise.prototype; } catch { return false; }
  };

  const cut = (s) => s.length > limit ? p.slice(s, 0, limit) + '...' : s;
  const text = (get) => {
    try {
      const v = get();
      return typeof v === 'string' ? cut(v) : v === undefined ? '' : cut(`${v}`);
    } catch { return ''; }
  };

  // stackOf returns an error's stack. Another engine may have it in another form.
  internal.stackOf ??= (e) => e.stack;

  // causesOf formats the stacks of an error's cause chain, at most eight.
  const causesOf = (e) => {
    let out = '';
    const seen = new p.Set();
    try {
      for (let c = e.cause; internal.isError(c) && p.setSize(seen) < 8 && !p.setHas(seen, c); c = c.cause) {
        p.setAdd(seen, c);
        const stack = text(() => internal.stackOf(c));
        out += `\nCaused by: ${stack === '' ? text(() => p.errorToString(c)) : stack}`;
      }
    } catch { /* the error itself is reported anyway */ }
    return out;
  };

  // fail ends the run with the thrown value. Only the first failure counts.
  internal.fail = (e) => {
    let name = '', message = '', stack = '';
    if (e !== null && (typeof e === 'object' || typeof e === 'function')) {
      name = text(() => e.name);
      message = text(() => e.message);
      stack = text(() => internal.stackOf(e));
      if (name === 'AggregateError' && message === '') message = 'All promises were rejected';
      stack = cut(stack + causesOf(e));
      if (name === '' && message === '') message = cut(internal.inspect(e));
      if (name === '') name = 'Error';
    } else {
      name = 'Error';
      // The engine throws a value of unknown type if an array is too long.
      message = typeof e === 'string' ? cut(e) : typeof e === 'unknown' ? 'an array is too long' : internal.inspect(e);
    }
    internal.flushOutput?.();
    host(op.fail, name, message, stack, e);
    try { internal.leave?.(1); } catch { /* the first error is the one that ends the run */ }
    internal.flushOutput?.();
  };

  // Guests do not get the engine's call sites: their getFunction() would expose functions of the library. The guest's
  // Error.prepareStackTrace gets objects of the class CallSite below, which know only the text of a frame.
  // Only QuickJS has a hook. On other engines, captureStackTrace alone calls the guest's function.
  const hook = p.getOwnPropertyDescriptor(p.Error, 'prepareStackTrace')?.set;
  delete p.Error.prepareStackTrace;
  let prepare;
  const setHook = (f) => { if (hook !== undefined) p.apply(hook, p.Error, [f]); };
  // plainStack returns the stack as text, whatever the guest prepares.
  const plainStack = internal.plainStack = () => {
    if (typeof prepare !== 'function') return new p.Error().stack;
    setHook(undefined);
    try { return new p.Error().stack; } finally { setHook(prepared); }
  };
  // The engine makes no text of the frames while it runs its hook, and knows only those of compiled code. The host
  // translates them, and words the errors that the engine throws.
  const described = (e, sites) => {
    let frames = '', head = '';
    for (let i = 0; i < sites.length; i++) {
      const site = sites[i], name = site.getFunctionName() ?? '<anonymous>';
      frames += site.isNative() ? `    at ${name} (native)\n` : `    at ${name} (${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()})\n`;
    }
    try { head = p.errorToString(e); } catch { /* the guest's own name or message */ }
    const told = internal.sync('stack.trace', cut(head), cut(frames)), message = told[0];
    const d = p.getOwnPropertyDescriptor(e, 'message');
    if (message !== '' && d !== undefined && d.writable) p.defineProperty(e, 'message', { __proto__: null, value: message });
    return told[1];
  };
  const prepared = (e, sites) => {
    const frames = described(e, sites);
    return p.hasOwn(p.Error, 'prepareStackTrace') ? p.apply(prepare, p.Error, [e, sitesOf(frames)]) : `${p.errorToString(e)}${frames}`;
  };
  p.defineProperty(p.Error, 'prepareStackTrace', {
    __proto__: null, enumerable: false, configurable: true,
    get: () => prepare,
    set(f) {
      prepare = f;
      setHook(typeof f === 'function' ? prepared : undefined);
    },
  });
  const frameParts = /^(async )?(?:(new )?(.+?) \()?(.+?)(?::(\d+))?(?::(\d+))?\)?$/;
  class CallSite {
    #text; #async; #made; #name; #file; #line; #column;
    constructor(text) {
      this.#text = text;
      const m = p.regexpExec(frameParts, text) ?? [];
      this.#async = m[1] !== undefined;
      this.#made = m[2] !== undefined;
      this.#name = m[3] === undefined || m[3] === '<anonymous>' ? null : m[3];
      this.#file = m[4] ?? null;
      this.#line = m[5] === undefined ? null : +m[5];
      this.#column = m[6] === undefined ? null : +m[6];
    }
    getThis() {}
    getTypeName() { return null; }
    getFunction() {}
    getFunctionName() { return this.#name; }
    getMethodName() { return null; }
    getFileName() { return this.#file; }
    getLineNumber() { return this.#line; }
    getColumnNumber() { return this.#column; }
    getEnclosingLineNumber() { return this.#line; }
    getEnclosingColumnNumber() { return this.#column; }
    getEvalOrigin() {}
    getScriptNameOrSourceURL() { return this.#file; }
    getScriptHash() { return ''; }
    getPosition() { return 0; }
    getPromiseIndex() { return null; }
    isToplevel() { return true; }
    isEval() { return false; }
    isNative() { return this.#file === 'native'; }
    isConstructor() { return this.#made; }
    isAsync() { return this.#async; }
    isPromiseAll() { return false; }
    toString() { return this.#text; }
  }
  const sitesOf = (frames) => {
    const out = [], mark = '\n    at ';
    for (let at = p.indexOf(frames, mark); at >= 0;) {
      const next = p.indexOf(frames, mark, at + 1);
      p.arrayPush(out, new CallSite(p.slice(frames, at + mark.length, next < 0 ? undefined : next)));
      at = next;
    }
    return out;
  };
  internal.define(p.Error, 'captureStackTrace', function captureStackTrace(target, from) {
    if (target === null || (typeof target !== 'object' && typeof target !== 'function')) throw new p.TypeError('not an object');
    let frames = ownFrames();
    if (typeof from === 'function') frames = framesBehind(frames, p.getOwnPropertyDescriptor(from, 'name')?.value);
    const wanted = p.Error.prepareStackTrace;
    const sites = typeof wanted === 'function' ? sitesOf(frames) : undefined;
    // Frames of packages are not shown. Libraries such as depd, which express loads, read the third call site while they
    // load, where Node has those of its loader.
    if (sites !== undefined) while (sites.length < 3 && sites.length < (stackLimit() ?? 0)) p.arrayPush(sites, new CallSite('<anonymous>'));
    internal.define(target, 'stack', sites !== undefined ? p.apply(wanted, p.Error, [target, sites]) : `${p.errorToString(target)}${frames}`);
  });
  // ownFrames returns the frames of the caller. The engine counts those of the library and of native functions, too, so it
  // lists more than the guest's limit, which holds for what is left. Only QuickJS has its limit behind an accessor.
  const limited = p.getOwnPropertyDescriptor(p.Error, 'stackTraceLimit');
  const stackLimit = () => {
    const limit = limited?.get === undefined ? undefined : p.apply(limited.get, p.Error, []);
    return typeof limit === 'number' ? limit : undefined;
  };
  const ownFrames = () => {
    const limit = stackLimit();
    if (limit === undefined) return p.slice(plainStack(), 5);
    let text, end = 0;
    p.apply(limited.set, p.Error, [limit + 16]);
    try { text = p.slice(plainStack(), 5); } finally { p.apply(limited.set, p.Error, [limit]); }
    // The text is a line break and a frame, again and again.
    for (let n = 0; n < limit && end >= 0; n++) end = p.indexOf(text, '\n', end + 1);
    return limit < 1 ? '' : end < 0 ? text : p.slice(text, 0, end);
  };
  // framesBehind drops the frames up to and including the named function's.
  const framesBehind = (frames, name) => {
    const at = typeof name === 'string' && name !== '' ? p.indexOf(frames, `\n    at ${name} (`) : -1;
    const end = at < 0 ? -1 : p.indexOf(frames, '\n', at + 1);
    return at < 0 ? frames : end < 0 ? '' : p.slice(frames, end);
  };
  return internal;
}
