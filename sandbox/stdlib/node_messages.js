// MessageChannel, MessagePort and MessageEvent within one run.
(host, internal) => {
  'use strict';
  const { define } = internal;
  const { Event, EventTarget, structuredClone } = globalThis;

  class MessageEvent extends Event {
    #init;
    constructor(type, init = {}) { super(type, init); this.#init = init; }
    get data() { return this.#init.data ?? null; }
    get origin() { return this.#init.origin ?? ''; }
    get lastEventId() { return this.#init.lastEventId ?? ''; }
    get source() { return this.#init.source ?? null; }
    get ports() { return this.#init.ports ?? []; }
  }

  let entangle;
  class MessagePort extends EventTarget {
    #other; #queue = new internal.Fifo(); #started = false; #closed = false; #handlers = {}; #listeners = new Map();
    static { entangle = (a, b) => { a.#other = b; b.#other = a; }; }
    constructor(key) { super(); internal.illegal(key); }
    postMessage(message, options) {
      if (arguments.length === 0) throw internal.nodeError(TypeError, 'ERR_MISSING_ARGS', 'Not enough arguments to MessagePort.postMessage');
      const copy = structuredClone(message, Array.isArray(options) ? { transfer: options } : options);
      const to = this.#other;
      if (to === undefined || to.#closed) return;
      to.#queue.push(copy);
      if (to.#started) to.#later();
    }
    #later() {
      internal.startTimer(0, () => {
        if (this.#closed || this.#queue.length === 0) return;
        this.dispatchEvent(new MessageEvent('message', { data: this.#queue.shift() }));
      });
    }
    start() {
      if (this.#started) return;
      this.#started = true;
      for (let i = 0; i < this.#queue.length; i++) this.#later();
    }
    close() {
      for (const port of [this, this.#other]) {
        if (port === undefined || port.#closed) continue;
        port.#closed = true;
        internal.startTimer(0, () => { port.dispatchEvent(new Event('close')); });
      }
    }
    #handle(type, f) {
      const old = this.#handlers[type];
      if (old !== undefined) this.removeEventListener(type, old);
      this.#handlers[type] = typeof f === 'function' ? f : undefined;
      if (typeof f === 'function') this.addEventListener(type, f);
    }
    get onmessage() { return this.#handlers.message ?? null; }
    set onmessage(f) { this.#handle('message', f); this.start(); }
    get onmessageerror() { return this.#handlers.messageerror ?? null; }
    set onmessageerror(f) { this.#handle('messageerror', f); }
    // As in Node, a listener added with on receives the message itself.
    on(type, listener) {
      const f = (e) => { listener(type === 'message' ? e.data : e); };
      this.#listeners.set(listener, f);
      this.addEventListener(type, f);
      if (type === 'message') this.start();
      return this;
    }
    once(type, listener) {
      const f = (...args) => { this.off(type, f); listener(...args); };
      return this.on(type, f);
    }
    off(type, listener) { this.removeEventListener(type, this.#listeners.get(listener) ?? listener); return this; }
    ref() { return this; }
    unref() { return this; }
  }
  Object.assign(MessagePort.prototype, { addListener: MessagePort.prototype.on, removeListener: MessagePort.prototype.off });

  class MessageChannel {
    #port1 = new MessagePort(internal.key); #port2 = new MessagePort(internal.key);
    constructor() { entangle(this.#port1, this.#port2); }
    get port1() { return this.#port1; }
    get port2() { return this.#port2; }
  }
  define(globalThis, 'MessageEvent', MessageEvent);
  define(globalThis, 'MessagePort', MessagePort);
  define(globalThis, 'MessageChannel', MessageChannel);
  return internal;
}
