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

  class AsyncResource {
    #context = internal.context;
    constructor(type) {
      if (typeof type !== 'string') throw internal.nodeWrongType('type', 'of type string', type);
      this.type = type;
      Object.defineProperty(this, 'type', { enumerable: false });
      follow();
    }
    runInAsyncScope(f, thisArg, ...args) { return inContext(this.#context, f, thisArg, args); }
    bind(f, thisArg) {
      const resource = this;
      return function (...args) { return resource.runInAsyncScope(f, thisArg === undefined ? this : thisArg, ...args); };
    }
    static bind(f, type, thisArg) { return new AsyncResource(type ?? (f.name || 'bound-anonymous-fn')).bind(f, thisArg); }
    emitDestroy() { return this; }
    asyncId() { return 1; }
    triggerAsyncId() { return 0; }
  }
  modules.async_hooks = {
    AsyncLocalStorage, AsyncResource, executionAsyncId: () => 1, triggerAsyncId: () => 0, executionAsyncResource: () => ({}),
    createHook: () => { throw nodeError(Error, 'ERR_NOT_SUPPORTED', 'async_hooks.createHook is not available in the sandbox'); },
  };

  const channels = new Map();
  class Channel {
    #subscribers = [];
    constructor(name) { this.name = name; }
    get hasSubscribers() { return this.#subscribers.length > 0; }
    subscribe(f) {
      if (typeof f !== 'function') throw internal.nodeWrongType('subscription', 'of type function', f);
      this.#subscribers = [...this.#subscribers, f];
    }
    unsubscribe(f) {
      const i = this.#subscribers.indexOf(f);
      if (i >= 0) this.#subscribers = this.#subscribers.toSpliced(i, 1);
      return i >= 0;
    }
    publish(message) {
      for (const f of this.#subscribers) {
        try { f(message, this.name); } catch (e) { internal.report(e); }
      }
    }
    runStores(message, f, thisArg, ...args) {
      this.publish(message);
      return f.apply(thisArg, args);
    }
  }
  const channel = (name) => {
    if (typeof name !== 'string' && typeof name !== 'symbol') throw internal.nodeWrongType('channel', 'one of type string or symbol', name);
    if (!channels.has(name)) channels.set(name, new Channel(name));
    return channels.get(name);
  };
  const kinds = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];
  class TracingChannel {
    constructor(of) { for (const kind of kinds) this[kind] = typeof of === 'string' ? channel(`tracing:${of}:${kind}`) : of[kind]; }
    get hasSubscribers() { return kinds.some((kind) => this[kind].hasSubscribers); }
    subscribe(handlers) { for (const kind of kinds) if (handlers[kind]) this[kind].subscribe(handlers[kind]); }
    unsubscribe(handlers) { return kinds.every((kind) => !handlers[kind] || this[kind].unsubscribe(handlers[kind])); }
    traceSync(f, context = {}, thisArg = undefined, ...args) {
      return this.#trace(() => context.result = f.apply(thisArg, args), context);
    }
    #trace(f, context) {
      this.start.publish(context);
      try { return f(); } catch (e) {
        context.error = e;
        this.error.publish(context);
        throw e;
      } finally { this.end.publish(context); }
    }
    tracePromise(f, context = {}, thisArg = undefined, ...args) {
      const settled = (name, value) => {
        context[name] = value;
        if (name === 'error') this.error.publish(context);
        this.asyncStart.publish(context);
        this.asyncEnd.publish(context);
      };
      return Promise.resolve(this.#trace(() => f.apply(thisArg, args), context)).then(
        (value) => { settled('result', value); return value; }, (e) => { settled('error', e); throw e; });
    }
  }
  modules.diagnostics_channel = {
    Channel, channel, hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
    subscribe: (name, f) => channel(name).subscribe(f), unsubscribe: (name, f) => channel(name).unsubscribe(f),
    tracingChannel: (of) => new TracingChannel(of),
  };

  const noTerminal = () => { throw nodeError(Error, 'ERR_NOT_SUPPORTED', 'there is no terminal in the sandbox'); };
  modules.tty = {
    isatty: () => false, ReadStream: function ReadStream() { noTerminal(); }, WriteStream: function WriteStream() { noTerminal(); },
  };
  return internal;
}
