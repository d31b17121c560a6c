// Node's events.
(host, internal) => {
  'use strict';
  const { p, modules, nodeError, define } = internal;
  const shapeMode = Symbol('shapeMode'), capturing = Symbol('kCapture'); // printed with an emitter
  const errorMonitor = Symbol('events.errorMonitor'), captureRejection = Symbol.for('nodejs.rejection');

  const listenerOf = (f) => {
    if (typeof f !== 'function') throw internal.nodeWrongType('listener', 'of type function', f);
    return f;
  };
  const add = (emitter, type, f, first) => {
    listenerOf(f);
    const events = emitter._events ??= Object.create(null);
    if ((type === 'unhandledRejection' || type === 'uncaughtException') && emitter === modules.process) {
      internal.listening = true;
      host(internal.op.tick, 1, 0, 0);
    }
    if (events.newListener !== undefined) emitter.emit('newListener', type, f.listener ?? f);
    const old = emitter._events[type];
    if (old === undefined) {
      emitter._events[type] = f;
      emitter._eventsCount++;
      return emitter;
    }
    const list = typeof old === 'function' ? emitter._events[type] = [old] : old;
    if (first) list.unshift(f);
    else list.push(f);
    const most = emitter.getMaxListeners();
    if (most > 0 && list.length > most && !list.warned) {
      list.warned = true;
      const warning = new Error(`Possible EventEmitter memory leak detected. ${list.length} ${String(type)} listeners added to [${emitter.constructor?.name}]. MaxListeners is ${most}. Use emitter.setMaxListeners() to increase limit`);
      process.emitWarning(Object.assign(warning, { name: 'MaxListenersExceededWarning', emitter, type, count: list.length }));
    }
    return emitter;
  };
  // listOf returns the listeners of a type: _events has one alone as it is, and several as an array.
  const listOf = (emitter, type) => {
    const v = emitter._events?.[type];
    return v === undefined ? [] : typeof v === 'function' ? [v] : v;
  };
  const onceOf = (emitter, type, f) => {
    const state = { fired: false };
    const wrapped = function (...args) {
      if (state.fired) return undefined;
      state.fired = true;
      emitter.removeListener(type, wrapped);
      return f.apply(emitter, args);
    };
    wrapped.listener = listenerOf(f);
    define(wrapped, 'name', 'bound onceWrapper');
    return wrapped;
  };

  function EventEmitter(options) {
    EventEmitter.init.call(this, options);
  }
  const captures = new WeakSet();
  const captured = (emitter, type, args) => (e) => {
    const own = emitter[captureRejection];
    if (typeof own === 'function') own.call(emitter, e, type, ...args);
    else emitter.emit('error', e);
  };
  EventEmitter.init = function (options) {
    if (options?.captureRejections ?? EventEmitter.captureRejections) captures.add(this);
    if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
      this._events = Object.create(null);
      this._eventsCount = 0;
    }
    this._maxListeners ??= undefined;
    this[shapeMode] ??= false;
    this[capturing] ??= captures.has(this);
  };
  EventEmitter.prototype._events = undefined;
  EventEmitter.prototype._eventsCount = 0;
  EventEmitter.prototype._maxListeners = undefined;

  const methods = {
    setMaxListeners(n) {
      if (typeof n !== 'number' || n < 0 || Number.isNaN(n)) throw internal.nodeOutOfRange('setMaxListeners', '>= 0', n);
      this._maxListeners = n;
      return this;
    },
    getMaxListeners() { return this._maxListeners ?? EventEmitter.defaultMaxListeners; },
    emit(type, ...args) {
      const events = this._events;
      if (type === 'error') {
        if (events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
        if (events?.error === undefined) {
          if (args[0] instanceof Error) throw args[0];
          const e = nodeError(Error, 'ERR_UNHANDLED_ERROR', `Unhandled error. (${typeof args[0] === 'string' ? `'${args[0]}'` : internal.inspect(args[0])})`);
          e.context = args[0];
          throw e;
        }
      }
      const list = events?.[type];
      if (list === undefined) return false;
      if (typeof list === 'function' && captures.has(this) === false) {
        list.apply(this, args);
        return true;
      }
      const awaited = type !== 'error' && captures.has(this);
      for (const f of listOf(this, type).slice()) {
        const value = f.apply(this, args);
        if (awaited && typeof value?.then === 'function') value.then(undefined, (e) => { process.nextTick(captured(this, type, args), e); });
      }
      return true;
    },
    on(type, f) { return add(this, type, f, false); },
    prependListener(type, f) { return add(this, type, f, true); },
    once(type, f) {
      this.on(type, onceOf(this, type, f)); // a stream flows from its first listener of data
      return this;
    },
    prependOnceListener(type, f) {
      this.prependListener(type, onceOf(this, type, f));
      return this;
    },
    removeListener(type, f) {
      listenerOf(f);
      const list = listOf(this, type);
      for (let i = list.length - 1; i >= 0; i--) {
        if (list[i] !== f && list[i].listener !== f) continue;
        const original = list[i].listener ?? f;
        const left = list.filter((_, j) => j !== i);
        this._events[type] = left.length === 1 ? left[0] : left;
        if (list.length === 1) {
          delete this._events[type];
          this._eventsCount--;
        }
        if (this._events.removeListener !== undefined) this.emit('removeListener', type, original);
        break;
      }
      return this;
    },
    removeAllListeners(type) {
      if (this._events === undefined) return this;
      if (arguments.length === 0) {
        for (const t of Reflect.ownKeys(this._events)) if (t !== 'removeListener') this.removeAllListeners(t);
        this._events = Object.create(null);
        this._eventsCount = 0;
        return this;
      }
      for (const f of listOf(this, type).slice().reverse()) this.removeListener(type, f);
      return this;
    },
    listeners(type) { return listOf(this, type).map((f) => f.listener ?? f); },
    rawListeners(type) { return listOf(this, type).slice(); },
    listenerCount(type, f) {
      const list = listOf(this, type);
      return f === undefined || f === null ? list.length : list.filter((g) => g === f || g.listener === f).length;
    },
    eventNames() { return this._events === undefined ? [] : Reflect.ownKeys(this._events); },
  };
  methods.addListener = methods.on;
  methods.off = methods.removeListener;
  for (const name of Object.keys(methods)) {
    Object.defineProperty(EventEmitter.prototype, name, { __proto__: null, value: methods[name], writable: true, enumerable: true, configurable: true });
  }

  const isTarget = (o) => typeof o?.addEventListener === 'function' && typeof o.on !== 'function';
  const listen = (o, type, f, once) => {
    if (isTarget(o)) o.addEventListener(type, f, { once });
    else o[once ? 'once' : 'on'](type, f);
  };
  const unlisten = (o, type, f) => {
    if (isTarget(o)) o.removeEventListener(type, f);
    else o.removeListener(type, f);
  };
  const aborted = (signal) => {
    const e = nodeError(Error, 'ABORT_ERR', 'The operation was aborted');
    e.name = 'AbortError';
    e.cause = signal.reason;
    return e;
  };
  internal.nodeAborted = aborted;

  const once = (emitter, type, { signal } = {}) => new Promise((resolve, reject) => {
    if (signal?.aborted) throw aborted(signal);
    const stop = () => {
      unlisten(emitter, type, done);
      if (type !== 'error' && !isTarget(emitter)) unlisten(emitter, 'error', failed);
      signal?.removeEventListener('abort', given);
    };
    const done = (...args) => { stop(); resolve(args); };
    const failed = (e) => { stop(); reject(e); };
    const given = () => failed(aborted(signal));
    listen(emitter, type, done, true);
    if (type !== 'error' && !isTarget(emitter)) listen(emitter, 'error', failed, true);
    signal?.addEventListener('abort', given, { once: true });
  });

  // Fifo is a queue. Unlike the shift of an array, which moves the elements that remain, its shift takes constant time.
  const Fifo = internal.Fifo = class {
    #items = []; #at = 0;
    get length() { return this.#items.length - this.#at; }
    push(v) { this.#items.push(v); }
    unshift(v) {
      if (this.#at > 0) this.#items[--this.#at] = v;
      else this.#items.unshift(v);
    }
    shift() {
      const v = this.#items[this.#at];
      this.#items[this.#at++] = undefined;
      if (2 * this.#at >= this.#items.length) {
        this.#items = this.#items.slice(this.#at);
        this.#at = 0;
      }
      return v;
    }
    items() { return this.#items.slice(this.#at); }
    take() { // empties the queue and returns what was in it
      const all = this.items();
      this.#items = [];
      this.#at = 0;
      return all;
    }
  };

  const on = (emitter, type, { signal, close = [] } = {}) => {
    if (signal?.aborted) throw aborted(signal);
    const values = new Fifo(), waiting = [];
    let ended = false, failure;
    const push = (...args) => { if (waiting.length > 0) waiting.shift().resolve({ value: args, done: false }); else values.push(args); };
    const fail = (e) => { failure = e; if (waiting.length > 0) { waiting.shift().reject(e); failure = undefined; } finish(); };
    const finish = () => {
      ended = true;
      unlisten(emitter, type, push);
      if (!isTarget(emitter)) unlisten(emitter, 'error', fail);
      for (const w of waiting.splice(0)) w.resolve({ value: undefined, done: true });
      return Promise.resolve({ value: undefined, done: true });
    };
    listen(emitter, type, push, false);
    if (type !== 'error' && !isTarget(emitter)) listen(emitter, 'error', fail, false);
    for (const name of close) listen(emitter, name, finish, true);
    signal?.addEventListener('abort', () => fail(aborted(signal)), { once: true });
    return {
      next() {
        if (values.length > 0) return Promise.resolve({ value: values.shift(), done: false });
        if (failure !== undefined) { const e = failure; failure = undefined; return Promise.reject(e); }
        if (ended) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
      },
      return: finish,
      throw(e) { fail(e); return Promise.reject(e); },
      [Symbol.asyncIterator]() { return this; },
    };
  };

  EventEmitter.defaultMaxListeners = 10;
  Object.assign(EventEmitter, {
    EventEmitter, once, on, errorMonitor, captureRejectionSymbol: captureRejection, captureRejections: false, usingDomains: false,
    listenerCount: (emitter, type) => (typeof emitter.listenerCount === 'function' ? emitter.listenerCount(type) : listOf(emitter, type).length),
    getEventListeners: (emitter, type) => typeof emitter.listeners === 'function' ? emitter.listeners(type) : internal.eventListeners(emitter, type),
    getMaxListeners: (emitter) => emitter.getMaxListeners?.() ?? 10,
    setMaxListeners: (n = 10, ...emitters) => { for (const e of emitters) e.setMaxListeners?.(n); if (emitters.length === 0) EventEmitter.defaultMaxListeners = n; },
    addAbortListener: (signal, f) => {
      signal.addEventListener('abort', f, { once: true });
      return { [Symbol.dispose]() { signal.removeEventListener('abort', f); } };
    },
  });
  class EventEmitterAsyncResource extends EventEmitter {}
  define(EventEmitter, 'EventEmitterAsyncResource', EventEmitterAsyncResource);
  const { prototype } = EventEmitter;
  internal.isEmitter = (v) => {
    for (let depth = 0; v !== null && typeof v === 'object' && depth < 100; depth++) {
      if ((v = p.getPrototypeOf(v)) === prototype) return true;
    }
    return false;
  };
  modules.events = EventEmitter;
  return internal;
}
