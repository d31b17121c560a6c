// Timers: callbacks stay here, waiting is the host's.
(host, internal) => {
  'use strict';
  const { p, op, define } = internal;
  const timers = new p.Map();
  const maxTimers = 10000;
  let next = 1;

  const add = (fn, ms, args, repeat) => {
    if (p.mapSize(timers) >= maxTimers) throw new p.RangeError(`too many timers at once (${maxTimers})`);
    const id = next++;
    p.mapSet(timers, id, { __proto__: null, fn, args, repeat });
    host(op.timer, id, ms, repeat);
    return id;
  };
  // The delay is WebIDL's long: it wraps around at 32 bits, and what is negative then is zero.
  const set = (got, name, fn, delay, args, repeat) => {
    internal.need(got, 1, name);
    if (typeof fn !== 'function') throw internal.nodeWrongType('callback', 'of type function', fn);
    const ms = p.max(delay | 0, 0);
    return new Timeout(add(fn, ms, args, repeat), ms);
  };
  const clear = (id) => {
    id = numberOf(id);
    if (p.mapDelete(timers, id)) host(op.clear, id, 0, 0);
  };

  // A Timeout is what Node has for the number of a timer. It is that number where a number is wanted.
  let numberOf;
  class Timeout {
    #id; #ms; #waits = true;
    static {
      numberOf = (v) => v !== null && typeof v === 'object' && #id in v ? v.#id : typeof v === 'symbol' ? 0 : v | 0;
    }
    constructor(id, ms) { this.#id = id; this.#ms = ms; }
    hasRef() { return this.#waits; }
    ref() { return this.#hold(true); }
    // A run does not wait for a timer that is unreferenced.
    unref() { return this.#hold(false); }
    #hold(waits) {
      this.#waits = waits;
      if (p.mapHas(timers, this.#id)) host(op.clear, this.#id, waits ? 2 : 1, 0);
      return this;
    }
    refresh() {
      const timer = p.mapGet(timers, this.#id);
      if (timer !== undefined) {
        host(op.timer, this.#id, this.#ms, timer.repeat);
        if (!this.#waits) host(op.clear, this.#id, 1, 0);
      }
      return this;
    }
    close() { clear(this); return this; }
    [Symbol.toPrimitive]() { return this.#id; }
    [Symbol.dispose]() { clear(this); }
  }

  define(globalThis, 'setTimeout', function setTimeout(fn, delay = 0, ...args) { return set(arguments.length, 'setTimeout', fn, delay, args, 0); });
  define(globalThis, 'setInterval', function setInterval(fn, delay = 0, ...args) { return set(arguments.length, 'setInterval', fn, delay, args, 1); });
  define(globalThis, 'clearTimeout', function clearTimeout(id = 0) { clear(id); });
  define(globalThis, 'clearInterval', function clearInterval(id = 0) { clear(id); });
  define(globalThis, 'queueMicrotask', function queueMicrotask(callback) {
    internal.need(arguments.length, 1, 'queueMicrotask');
    internal.callback(callback, 'queueMicrotask: the callback');
    internal.enqueue(() => {
      try { p.apply(callback, undefined, []); } catch (e) { internal.report(e); }
    });
  });
  // startTimer is for the library's own waiting, of any length.
  internal.startTimer = (ms, fn) => add(fn, p.min(p.trunc(ms), 0x7fffffff), [], 0);
  internal.clearTimer = clear;

  // fire runs the timer id when its time has come.
  internal.fire = (id) => {
    const timer = p.mapGet(timers, id);
    if (timer === undefined) return;
    if (!timer.repeat) p.mapDelete(timers, id);
    try {
      p.apply(timer.fn, globalThis, timer.args);
    } catch (e) {
      internal.report(e);
    }
  };
  return internal;
}
