// What was thrown, told to the host as plain strings. Nothing a guest throws can make this throw.
(host, internal) => {
  'use strict';
  const { p, op } = internal;
  const limit = 16 << 10;

  const errorTag = p.uncurry(p.ObjectPrototype.toString);
  internal.isError = (v) => {
    try {
      for (let o = v, n = 0; o !== null && n < 64; o = p.getPrototypeOf(o), n++) if (o === p.Error.prototype) return true;
      return false;
    } catch { return false; }
  };
  internal.isRegExp = (v) => {
    try { return errorTag(v) === '[object RegExp]'; } catch { return false; }
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

  // trimStack drops the library's own frames.
  internal.trimStack = (stack) => {
    let out = '', from = 0;
    while (from < stack.length) {
      let to = p.indexOf(stack, '\n', from);
      if (to < 0) to = stack.length;
      const line = p.slice(stack, from, to);
      if (line !== '' && p.indexOf(line, '(airlock:') < 0 && p.indexOf(line, 'at airlock:') < 0 && p.indexOf(line, '(native)') < 0) out += (out === '' ? '' : '\n') + line;
      from = to + 1;
    }
    return out;
  };

  // fail ends the run with what was thrown. The first failure counts.
  internal.fail = (e) => {
    let name = '', message = '', stack = '';
    if (e !== null && (typeof e === 'object' || typeof e === 'function')) {
      name = text(() => e.name);
      message = text(() => e.message);
      stack = text(() => e.stack);
      if (name === '' && message === '') message = cut(internal.inspect(e));
      if (name === '') name = 'Error';
    } else {
      name = 'Error';
      message = typeof e === 'string' ? cut(e) : internal.inspect(e);
    }
    host(op.fail, name, message, stack, e);
  };

  // No CallSite objects: their getFunction() would hand out functions of the library.
  delete p.Error.prepareStackTrace;
  internal.define(p.Error, 'captureStackTrace', function captureStackTrace(target) {
    if (target === null || typeof target !== 'object') throw new p.TypeError('not an object');
    internal.define(target, 'stack', new p.Error().stack);
  });
  return internal;
}
