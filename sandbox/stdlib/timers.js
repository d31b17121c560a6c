// Timers: callbacks stay here, waiting is the host's.
(host, internal) => {
  'use strict';
  const { p, op, define } = internal;
  const timers = new p.Map();
  const maxTimers = 10000;
  let next = 1;

  const add = (fn, delay, args, repeat) => {
    if (typeof fn !== 'function') throw new p.TypeError('a timer needs a function (strings are not evaluated)');
    if (p.mapSize(timers) >= maxTimers) throw new p.RangeError(`too many timers at once (${maxTimers})`);
    const ms = p.trunc(p.min(p.max(+delay || 0, 0), 0x7fffffff));
    const id = next++;
    p.mapSet(timers, id, { __proto__: null, fn, args, repeat });
    host(op.timer, id, ms, repeat);
    return id;
  };
  const clear = (id) => {
    id = typeof id === 'number' ? id : +id;
    if (p.mapDelete(timers, id)) host(op.clear, id, 0, 0);
  };

  define(globalThis, 'setTimeout', function setTimeout(fn, delay, ...args) { return add(fn, delay, args, 0); });
  define(globalThis, 'setInterval', function setInterval(fn, delay, ...args) { return add(fn, delay, args, 1); });
  define(globalThis, 'clearTimeout', function clearTimeout(id) { clear(id); });
  define(globalThis, 'clearInterval', function clearInterval(id) { clear(id); });
  define(globalThis, 'queueMicrotask', function queueMicrotask(fn) {
    if (typeof fn !== 'function') throw new p.TypeError('queueMicrotask needs a function');
    internal.enqueue(() => {
      try { fn(); } catch (e) { internal.fail(e); }
    });
  });

  // fire runs the timer id when its time has come.
  internal.fire = (id) => {
    const timer = p.mapGet(timers, id);
    if (timer === undefined) return;
    if (!timer.repeat) p.mapDelete(timers, id);
    try {
      p.apply(timer.fn, globalThis, timer.args);
    } catch (e) {
      internal.fail(e);
    }
  };
  return internal;
}
