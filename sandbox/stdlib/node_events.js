// Node's events.
(host, internal) => {
  'use strict';
  const { p, modules, nodeError, define } = internal;
  const shapeMode = Symbol('shapeMode'), capturing = Symbol('kCapture'); // printed with an emitter
  const errorMonitor = Symbol('events.errorMonitor'), captureRejection = Symbol.for('nodejs.rejection');

  let defaultMax = 10;
  const maxOf = (emitter) => emitter._maxListeners === undefined ? defaultMax : emitter._maxListeners;
  // count checks a number of listeners.
  const count = (n, name) => {
    if (typeof n !== 'number') throw internal.nodeWrongType(name, 'of type number', n);
    if (!(n >= 0)) throw internal.nodeOutOfRange(name, '>= 0', n);
    return n;
  };
  const boolean = (v, name) => {
    internal.check.boolean(v, name);
    return v;
  };
  const signalOf = internal.nodeSignal = (v, name = 'options.signal') => {
    internal.check.signal(v, name);
    return v;
  };
  const listenerOf = (f) => {
    internal.check.func(f, 'listener');
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
    const most = maxOf(emitter);
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
  const captured = (emitter, type, args) => (e) => {
    const own = emitter[captureRejection];
    if (typeof own === 'function') own.call(emitter, e, type, ...args);
    else emitter.emit('error', e);
  };
  EventEmitter.init = function (options) {
    const captures = options?.captureRejections ? boolean(options.captureRejections, 'options.captureRejections') : EventEmitter.prototype[capturing];
    if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
      this._events = Object.create(null);
      this._eventsCount = 0;
    }
    this._maxListeners ??= undefined;
    this[shapeMode] ??= false;
    if (captures || !Object.hasOwn(this, capturing)) this[capturing] = captures;
  };
  EventEmitter.prototype._events = undefined;
  EventEmitter.prototype._eventsCount = 0;
  EventEmitter.prototype._maxListeners = undefined;

  const methods = {
    setMaxListeners(n) {
      this._maxListeners = count(n, 'setMaxListeners');
      return this;
    },
    getMaxListeners() { return maxOf(this); },
    emit(type, ...args) {
      const events = this._events;
      if (type === 'error') {
        if (events?.[errorMonitor] !== undefined) this.emit(errorMonitor, ...args);
        if (events?.error === undefined) {
          if (args[0] instanceof Error) throw args[0];
          let shown = args[0];
          try { shown = internal.utilInspect(shown); } catch { /* what inspects itself and throws is shown as text */ }
          const e = nodeError(Error, 'ERR_UNHANDLED_ERROR', `Unhandled error. (${shown})`);
          e.context = args[0];
          throw e;
        }
      }
      const list = events?.[type];
      if (list === undefined) return false;
      if (typeof list === 'function' && !this[capturing]) {
        list.apply(this, args);
        return true;
      }
      const awaited = type !== 'error' && this[capturing];
      for (const f of listOf(this, type).slice()) {
        const value = f.apply(this, args);
        if (awaited && typeof value?.then === 'function') value.then(undefined, (e) => { process.nextTick(captured(this, type, args), e); });
      }
      return true;
    },
    addListener(type, f) { return add(this, type, f, false); },
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
        this.removeAllListeners('removeListener');
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
  for (const name of Object.keys(methods)) {
    const put = (as) => Object.defineProperty(EventEmitter.prototype, as, { __proto__: null, value: methods[name], writable: true, enumerable: true, configurable: true });
    put(name);
    if (name === 'addListener') put('on');
    if (name === 'removeListener') put('off');
  }
  Object.defineProperty(EventEmitter.prototype, capturing, { __proto__: null, value: false, writable: true });

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

  const isListening = (o) => typeof o?.on === 'function' || isTarget(o);
  const emitterOf = (o, name = 'emitter') => {
    if (!isListening(o)) throw internal.nodeWrongType(name, 'an instance of EventEmitter or EventTarget', o);
    return o;
  };
  const once = async function once(emitter, type, options) { return await soon(emitter, type, options); };
  const soon = (emitter, type, { signal } = {}) => new Promise((resolve, reject) => {
    signalOf(signal);
    if (!isListening(emitter)) throw internal.nodeWrongType('emitter', 'an instance of EventEmitter', emitter);
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

  const on = function on(emitter, type, options = {}) {
    const { signal, close = [] } = options;
    signalOf(signal);
    if (!isListening(emitter)) throw internal.nodeWrongType('emitter', 'an instance of EventEmitter', emitter);
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

  const targetMax = new WeakMap();
  Object.assign(EventEmitter, {
    addAbortListener: function addAbortListener(signal, f) {
      if (signal === undefined) throw internal.nodeWrongType('signal', 'an instance of AbortSignal', signal);
      signalOf(signal, 'signal');
      listenerOf(f);
      if (signal.aborted) queueMicrotask(() => f());
      else signal.addEventListener('abort', f, { once: true });
      return { __proto__: null, [Symbol.dispose]() { signal.removeEventListener('abort', f); } };
    },
    once, on,
    getEventListeners: function getEventListeners(emitter, type) {
      if (typeof emitter?.listeners === 'function') return emitter.listeners(type);
      try { return internal.eventListeners(emitter, type); } catch { throw internal.nodeWrongType('emitter', 'an instance of EventEmitter or EventTarget', emitter); }
    },
    getMaxListeners: function getMaxListeners(emitter) {
      if (typeof emitter?.getMaxListeners === 'function') return emitter.getMaxListeners();
      return targetMax.get(emitterOf(emitter)) ?? defaultMax;
    },
    EventEmitter, usingDomains: false, captureRejectionSymbol: captureRejection, captureRejections: false, EventEmitterAsyncResource: undefined, errorMonitor,
    defaultMaxListeners: 10,
    setMaxListeners: function setMaxListeners(n = defaultMax, ...targets) {
      count(n, 'setMaxListeners');
      if (targets.length === 0) defaultMax = n;
      for (const target of targets) {
        if (typeof target?.setMaxListeners === 'function') target.setMaxListeners(n);
        else targetMax.set(emitterOf(target, 'eventTargets'), n);
      }
    },
    listenerCount: function listenerCount(emitter, type) {
      return typeof emitter.listenerCount === 'function' ? emitter.listenerCount(type) : methods.listenerCount.call(emitter, type);
    },
  });
  const accessor = (name, get, set) => Object.defineProperty(EventEmitter, name, { __proto__: null, get, set, enumerable: true, configurable: true });
  accessor('defaultMaxListeners', () => defaultMax, (n) => { defaultMax = count(n, 'defaultMaxListeners'); });
  accessor('captureRejections', () => EventEmitter.prototype[capturing], (v) => { EventEmitter.prototype[capturing] = boolean(v, 'EventEmitter.captureRejections'); });
  // EventEmitterAsyncResource needs async_hooks, which are made later.
  let resourceClass;
  accessor('EventEmitterAsyncResource', () => resourceClass ??= (() => {
    const { AsyncResource } = modules.async_hooks;
    class EventEmitterReferencingAsyncResource extends AsyncResource {
      #emitter;
      constructor(emitter, type, options) { super(type, options); this.#emitter = emitter; }
      get eventEmitter() { return this.#emitter; }
    }
    return class EventEmitterAsyncResource extends EventEmitter {
      #resource;
      constructor(options = undefined) {
        const given = typeof options === 'string' ? { name: options } : options ?? {};
        const name = new.target === EventEmitterAsyncResource && typeof options !== 'string' ? given.name : given.name ?? new.target.name;
        if (typeof name !== 'string') throw internal.nodeWrongType('options.name', 'of type string', name);
        super(typeof options === 'object' ? options : undefined);
        this.#resource = new EventEmitterReferencingAsyncResource(this, name, given);
      }
      static #of(o) {
        if (o === null || typeof o !== 'object' || !(#resource in o)) throw internal.wrongThis('EventEmitterAsyncResource');
        return o.#resource;
      }
      emit(type, ...args) { return EventEmitterAsyncResource.#of(this).runInAsyncScope(super.emit, this, type, ...args); }
      emitDestroy() { EventEmitterAsyncResource.#of(this).emitDestroy(); }
      get asyncId() { return EventEmitterAsyncResource.#of(this).asyncId(); }
      get triggerAsyncId() { return EventEmitterAsyncResource.#of(this).triggerAsyncId(); }
      get asyncResource() { return EventEmitterAsyncResource.#of(this); }
    };
  })(), undefined);
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
