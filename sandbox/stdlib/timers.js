// Timers. Callbacks are kept here; the host waits.
(host, internal) => {
  'use strict';
  const { p, op, define } = internal;
  const timers = new p.Map();
  const maxTimers = 10000;
  let next = 1;

  // inContext calls f in a context (node_async_hooks.js).
  internal.context = undefined;
  const inContext = internal.inContext = (context, f, self, args) => {
    const before = internal.context;
    internal.context = context;
    try {
      return p.apply(f, self, args);
    } finally { internal.context = before; }
  };

  // Values of repeat: once, repeatedly, and once before all timers.
  const once = 0, repeatedly = 1, immediately = 2;
  const add = (fn, ms, args, repeat) => {
    if (p.mapSize(timers) >= maxTimers) throw new p.RangeError(`too many timers at once (${maxTimers})`);
    const id = next++;
    latest = { __proto__: null, fn, args, repeat: repeat === repeatedly, context: internal.context, self: globalThis };
    p.mapSet(timers, id, latest);
    host(op.timer, id, ms, repeat);
    return id;
  };
  let latest; // what add has added
  // The delay is a WebIDL long: it wraps around at 32 bits, and a negative delay counts as 0.
  const set = (fn, delay, args, repeat) => {
    if (typeof fn !== 'function') throw internal.nodeWrongType('callback', 'of type function', fn);
    const ms = p.max(delay | 0, 0);
    return new Timeout(add(fn, ms, args, repeat), ms, latest);
  };
  const clear = (id) => {
    id = numberOf(id);
    const timer = p.mapGet(timers, id);
    if (timer === undefined) return;
    timer.cleared = true;
    p.mapDelete(timers, id);
    host(op.clear, id, 0, 0);
  };

  // A Timeout is Node's timer object. It converts to the timer's number.
  let numberOf;
  class Timeout {
    #id; #ms; #timer; #waits = true;
    static {
      internal.isTimeout = (v) => v !== null && typeof v === 'object' && #id in v;
      numberOf = (v) => v !== null && typeof v === 'object' && #id in v ? v.#id : typeof v === 'symbol' ? 0 : v | 0;
    }
    constructor(id, ms, timer) {
      this.#id = id;
      this.#ms = ms;
      this.#timer = timer;
      timer.self = this;
    }
    get _destroyed() { return !p.mapHas(timers, this.#id); }
    hasRef() { return this.#waits; }
    ref() { return #id in this ? this.#hold(true) : this; }
    // A run does not wait for an unreferenced timer.
    unref() { return #id in this ? this.#hold(false) : this; }
    #hold(waits) {
      this.#waits = waits;
      if (p.mapHas(timers, this.#id)) host(op.clear, this.#id, waits ? 2 : 1, 0);
      return this;
    }
    refresh() {
      const timer = this.#timer; // one that has fired starts again
      if (!timer.cleared && !timer.immediate) {
        p.mapSet(timers, this.#id, timer);
        host(op.timer, this.#id, this.#ms, timer.repeat ? repeatedly : once);
        if (!this.#waits) host(op.clear, this.#id, 1, 0);
      }
      return this;
    }
    close() { clear(this); return this; }
    [Symbol.toPrimitive]() { return this.#id; }
    [Symbol.dispose]() { clear(this); }
  }

  define(globalThis, 'setTimeout', function setTimeout(fn, delay = 0, ...args) { return set(fn, delay, args, once); });
  define(globalThis, 'setInterval', function setInterval(fn, delay = 0, ...args) { return set(fn, delay, args, repeatedly); });
  define(globalThis, 'clearTimeout', function clearTimeout(id = 0) { clear(id); });
  define(globalThis, 'clearInterval', function clearInterval(id = 0) { clear(id); });
  define(globalThis, 'queueMicrotask', function queueMicrotask(callback) {
    if (typeof callback !== 'function') throw internal.nodeWrongType('callback', 'of type function', callback);
    const context = internal.context;
    internal.enqueue(() => {
      try { inContext(context, callback, undefined, []); } catch (e) { internal.report(e); }
    });
  });
  // addTick adds a callback of process.nextTick. The host calls runTicks when no microtask is left.
  let ticks = [];
  internal.addTick = (fn, args) => {
    if (ticks.length === 0) host(op.tick, 0, 0, 0);
    p.arrayPush(ticks, { __proto__: null, fn, args, context: internal.context });
  };
  internal.hasTicks = () => ticks.length > 0;
  internal.runTicks = () => {
    if (internal.listening === true) host(op.tick, 1, 0, 0); // a run that continues from a snapshot does not know
    while (ticks.length > 0) {
      const due = ticks;
      ticks = [];
      for (let i = 0; i < due.length; i++) {
        const { fn, args, context } = due[i];
        try { inContext(context, fn, undefined, args); } catch (e) { internal.report(e); }
      }
    }
  };
  // startTimer starts a timer for internal use. It caps the delay at 2^31-1 ms.
  internal.startTimer = (ms, fn) => add(fn, p.min(p.trunc(ms), 0x7fffffff), [], ms === 0 ? immediately : once);
  // startIdleTimer starts one for which the run does not wait.
  internal.startIdleTimer = (ms, fn) => {
    const id = internal.startTimer(ms, fn);
    host(op.clear, id, 1, 0);
  };
  internal.setImmediate = (fn, args) => {
    const timeout = new Timeout(add(fn, 0, args, immediately), 0, latest);
    latest.immediate = true;
    return timeout;
  };
  // callFor makes self the this of the callback of the timer that was added last.
  internal.callFor = (self) => { latest.self = self; };
  internal.clearTimer = clear;

  // fire calls the callback of the timer id. The host calls it when the timer is due.
  internal.fire = (id) => {
    const timer = p.mapGet(timers, id);
    if (timer === undefined) return;
    if (!timer.repeat) p.mapDelete(timers, id);
    try {
      inContext(timer.context, timer.fn, timer.self, timer.args);
    } catch (e) {
      internal.report(e);
    }
    internal.runTicks(); // they precede microtasks
  };
  return internal;
}
