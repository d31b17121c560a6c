// Thrown values, reported to the host as plain strings. Nothing a guest throws can make this throw.
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

  // causesOf returns what led to an error, and what led to that.
  const causesOf = (e) => {
    let out = '';
    const seen = new p.Set();
    try {
      for (let c = e.cause; internal.isError(c) && p.setSize(seen) < 8 && !p.setHas(seen, c); c = c.cause) {
        p.setAdd(seen, c);
        const stack = text(() => c.stack);
        out += `\nCaused by: ${stack === '' ? text(() => p.errorToString(c)) : stack}`;
      }
    } catch { /* the error itself says enough */ }
    return out;
  };

  // fail ends the run with what was thrown. The first failure counts.
  internal.fail = (e) => {
    let name = '', message = '', stack = '';
    if (e !== null && (typeof e === 'object' || typeof e === 'function')) {
      name = text(() => e.name);
      message = text(() => e.message);
      stack = text(() => e.stack);
      if (name === 'AggregateError' && message === '') message = 'All promises were rejected';
      stack = cut(stack + causesOf(e));
      if (name === '' && message === '') message = cut(internal.inspect(e));
      if (name === '') name = 'Error';
    } else {
      name = 'Error';
      // What the engine throws when an array is too long for it is no value at all.
      message = typeof e === 'string' ? cut(e) : typeof e === 'unknown' ? 'an array is too long' : internal.inspect(e);
    }
    host(op.fail, name, message, stack, e);
  };

  // No CallSite objects: their getFunction() would hand out functions of the library.
  delete p.Error.prepareStackTrace;
  internal.define(p.Error, 'captureStackTrace', function captureStackTrace(target, from) {
    if (target === null || (typeof target !== 'object' && typeof target !== 'function')) throw new p.TypeError('not an object');
    let frames = p.slice(new p.Error().stack, 5);
    if (typeof from === 'function') frames = framesBehind(frames, p.getOwnPropertyDescriptor(from, 'name')?.value);
    internal.define(target, 'stack', `${p.errorToString(target)}${frames}`);
  });
  // framesBehind leaves out the frames up to that of a function.
  const framesBehind = (frames, name) => {
    const at = typeof name === 'string' && name !== '' ? p.indexOf(frames, `\n    at ${name} (`) : -1;
    const end = at < 0 ? -1 : p.indexOf(frames, '\n', at + 1);
    return at < 0 ? frames : end < 0 ? '' : p.slice(frames, end);
  };
  return internal;
}
