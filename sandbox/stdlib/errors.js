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
  internal.isRegExp = (v) => {
    try { return regexpSource(v) !== undefined && v !== p.RegExp.prototype; } catch { return false; }
  };
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

  // CallSite objects are not available: getFunction() would expose functions of the library.
  delete p.Error.prepareStackTrace;
  internal.define(p.Error, 'captureStackTrace', function captureStackTrace(target, from) {
    if (target === null || (typeof target !== 'object' && typeof target !== 'function')) throw new p.TypeError('not an object');
    let frames = p.slice(new p.Error().stack, 5);
    if (typeof from === 'function') frames = framesBehind(frames, p.getOwnPropertyDescriptor(from, 'name')?.value);
    internal.define(target, 'stack', `${p.errorToString(target)}${frames}`);
  });
  // framesBehind drops the frames up to and including the named function's.
  const framesBehind = (frames, name) => {
    const at = typeof name === 'string' && name !== '' ? p.indexOf(frames, `\n    at ${name} (`) : -1;
    const end = at < 0 ? -1 : p.indexOf(frames, '\n', at + 1);
    return at < 0 ? frames : end < 0 ? '' : p.slice(frames, end);
  };
  return internal;
}
