// Node's async_hooks, diagnostics_channel and tty. internal.context holds the stores of the current context, a Map or
// undefined. Callbacks of timers, microtasks and promises run in the context in which they were registered. In code
// that names async_hooks, package source replaces await by calls of then, since the engine's own await does not call
// then.
(host, internal) => {
  'use strict';
  const { p, modules, define, nodeError } = internal;

  const inContext = internal.inContext;
  const bind = (f) => {
    const context = internal.context;
    return function (...args) { return inContext(context, f, this, args); };
  };
  // entered reports that enterWith was called: the context of a job may then differ from undefined when it starts.
  let followed = false, entered = false;
  const follow = () => {
    if (followed) return;
    followed = true;
    const { then } = Promise.prototype;
    define(Promise.prototype, 'then', { then(onFulfilled, onRejected) {
      if (internal.context === undefined && !entered) return p.apply(then, this, [onFulfilled, onRejected]);
      return p.apply(then, this, [
        typeof onFulfilled === 'function' ? bind(onFulfilled) : onFulfilled,
        typeof onRejected === 'function' ? bind(onRejected) : onRejected,
      ]);
    } }.then);
  };
  const withStore = (storage, store) => {
    const context = new Map(internal.context);
    if (store === undefined) context.delete(storage);
    else context.set(storage, store);
    return context;
  };

  class AsyncLocalStorage {
    #disabled = false;
    constructor() { follow(); }
    static bind(f) {
      if (typeof f !== 'function') throw internal.nodeWrongType('fn', 'of type function', f);
      return bind(f);
    }
    static snapshot() { return bind((f, ...args) => f(...args)); }
    getStore() { return this.#disabled ? undefined : internal.context?.get(this); }
    run(store, f, ...args) {
      this.#disabled = false;
      return inContext(withStore(this, store), f, undefined, args);
    }
    exit(f, ...args) { return inContext(withStore(this, undefined), f, undefined, args); }
    enterWith(store) {
      entered = true;
      this.#disabled = false;
      internal.context = withStore(this, store);
    }
    disable() {
      this.#disabled = true;
      internal.context = withStore(this, undefined);
    }
  }

  let lastID = 1;
  class AsyncResource {
    #context = internal.context;
    #id = ++lastID; #trigger;
    constructor(type, options = {}) {
      if (typeof type !== 'string') throw internal.nodeWrongType('type', 'of type string', type);
      const trigger = typeof options === 'number' ? options : options.triggerAsyncId === undefined ? 1 : options.triggerAsyncId;
      if (!Number.isSafeInteger(trigger) || trigger < -1) throw nodeError(RangeError, 'ERR_INVALID_ASYNC_ID', `Invalid triggerAsyncId value: ${internal.inspect(trigger)}`);
      this.#trigger = trigger;
      this.type = type;
      Object.defineProperty(this, 'type', { enumerable: false });
      follow();
    }
    runInAsyncScope(f, thisArg, ...args) { return inContext(this.#context, f, thisArg, args); }
    bind(f, thisArg) {
      if (typeof f !== 'function') throw internal.nodeWrongType('fn', 'of type function', f);
      const resource = this;
      const bound = function (...args) { return resource.runInAsyncScope(f, thisArg === undefined ? this : thisArg, ...args); };
      Object.defineProperty(bound, 'length', { __proto__: null, value: f.length, configurable: true });
      Object.defineProperty(bound, 'asyncResource', { __proto__: null, value: resource, writable: true, enumerable: true, configurable: true });
      return bound;
    }
    static bind(f, type, thisArg) { return new AsyncResource(type ?? (f.name || 'bound-anonymous-fn')).bind(f, thisArg); }
    emitDestroy() { return this; }
    asyncId() { return this.#id; }
    triggerAsyncId() { return this.#trigger; }
  }
  modules.async_hooks = {
    AsyncLocalStorage, AsyncResource, asyncWrapProviders: Object.freeze({ __proto__: null, NONE: 0, TIMERWRAP: 1 }), executionAsyncId: () => 1, triggerAsyncId: () => 0, executionAsyncResource: () => ({}),
    createHook: (hooks) => {
      for (const name of ['init', 'before', 'after', 'destroy', 'promiseResolve']) {
        if (hooks[name] !== undefined && typeof hooks[name] !== 'function') throw nodeError(TypeError, 'ERR_ASYNC_CALLBACK', `hook.${name} must be a function`);
      }
      throw nodeError(Error, 'ERR_NOT_SUPPORTED', 'async_hooks.createHook is not available in the sandbox');
    },
  };

  const channels = new Map();
  class Channel {
    #subscribers = []; #stores = new Map();
    constructor(name) { this.name = name; }
    get hasSubscribers() { return this.#subscribers.length > 0 || this.#stores.size > 0; }
    subscribe(f) {
      if (typeof f !== 'function') throw internal.nodeWrongType('subscription', 'of type function', f);
      this.#subscribers = [...this.#subscribers, f];
    }
    unsubscribe(f) {
      const i = this.#subscribers.indexOf(f);
      if (i >= 0) this.#subscribers = this.#subscribers.toSpliced(i, 1);
      return i >= 0;
    }
    bindStore(store, transform) { this.#stores.set(store, transform); }
    unbindStore(store) { return this.#stores.delete(store); }
    publish(message) {
      for (const f of this.#subscribers) {
        try { f(message, this.name); } catch (e) { fail(e); }
      }
    }
    runStores(message, f, thisArg, ...args) {
      let run = () => {
        this.publish(message);
        return Reflect.apply(f, thisArg, args);
      };
      for (const [store, transform] of this.#stores) {
        const next = run;
        run = () => {
          let value = message;
          try { if (transform !== undefined) value = transform(message); } catch (e) {
            fail(e);
            return next();
          }
          return store.run(value, next);
        };
      }
      return run();
    }
  }
  const fail = (e) => process.nextTick(() => internal.report(e));
  const channel = function channel(name) {
    if (typeof name !== 'string' && typeof name !== 'symbol') throw internal.nodeWrongType('channel', 'one of type string or symbol', name);
    if (!channels.has(name)) channels.set(name, new Channel(name));
    return channels.get(name);
  };
  const kinds = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
  class TracingChannel {
    constructor(of) {
      const isObject = typeof of === 'object' && of !== null;
      if (typeof of !== 'string' && !isObject) throw internal.nodeWrongType('nameOrChannels', 'of type string or an instance of TracingChannel or Object', of);
      for (const kind of kinds) {
        if (isObject && !(of[kind] instanceof Channel)) throw internal.nodeWrongType(`nameOrChannels.${kind}`, 'an instance of Channel', of[kind]);
        Object.defineProperty(this, kind, { __proto__: null, value: isObject ? of[kind] : channel(`tracing:${of}:${kind}`) });
      }
    }
    get hasSubscribers() { return kinds.some((kind) => this[kind].hasSubscribers); }
    subscribe(handlers) { for (const kind of kinds) if (handlers[kind]) this[kind].subscribe(handlers[kind]); }
    unsubscribe(handlers) {
      let done = true;
      for (const kind of kinds) if (handlers[kind] && !this[kind].unsubscribe(handlers[kind])) done = false;
      return done;
    }
    // #trace publishes the start and the end of f, and its error.
    #trace(context, f) {
      return this.start.runStores(context, () => {
        try { return f(); } catch (e) {
          context.error = e;
          this.error.publish(context);
          throw e;
        } finally { this.end.publish(context); }
      });
    }
    traceSync(f, context = {}, thisArg = undefined, ...args) {
      if (!this.hasSubscribers) return Reflect.apply(f, thisArg, args);
      return this.#trace(context, () => context.result = Reflect.apply(f, thisArg, args));
    }
    tracePromise(f, context = {}, thisArg = undefined, ...args) {
      if (!this.hasSubscribers) return Reflect.apply(f, thisArg, args);
      const settled = (name, value) => {
        context[name] = value;
        if (name === 'error') this.error.publish(context);
        this.asyncStart.publish(context);
        this.asyncEnd.publish(context);
        return value;
      };
      return this.#trace(context, () => {
        const result = Reflect.apply(f, thisArg, args);
        return (result instanceof Promise ? result : Promise.resolve(result)).then((v) => settled('result', v), (e) => Promise.reject(settled('error', e)));
      });
    }
    traceCallback(f, position = -1, context = {}, thisArg = undefined, ...args) {
      if (!this.hasSubscribers) return Reflect.apply(f, thisArg, args);
      const callback = args.at(position), channels = this;
      if (typeof callback !== 'function') throw internal.nodeWrongType('callback', 'of type function', callback);
      args.splice(position, 1, function (e, result) {
        if (e) {
          context.error = e;
          channels.error.publish(context);
        } else context.result = result;
        channels.asyncStart.runStores(context, () => {
          try { return Reflect.apply(callback, this, arguments); } finally { channels.asyncEnd.publish(context); }
        });
      });
      return this.#trace(context, () => Reflect.apply(f, thisArg, args));
    }
  }
  modules.diagnostics_channel = {
    channel, hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
    subscribe: (name, f) => channel(name).subscribe(f), tracingChannel: (of) => new TracingChannel(of), unsubscribe: (name, f) => channel(name).unsubscribe(f),
    Channel,
  };

  const noTerminal = () => { throw nodeError(Error, 'ERR_NOT_SUPPORTED', 'there is no terminal in the sandbox'); };
  modules.tty = {
    isatty: () => false, ReadStream: function ReadStream() { noTerminal(); }, WriteStream: function WriteStream() { noTerminal(); },
  };
  return internal;
}
