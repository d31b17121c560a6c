// Event, CustomEvent, ErrorEvent and EventTarget. Uncaught errors are dispatched to the global object.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const state = new p.WeakMap(); // event → its dispatch state
  const of = (e, argument = false) => {
    const s = internal.isObject(e) ? p.weakMapGet(state, e) : undefined;
    if (s === undefined) throw argument ? internal.nodeWrongType('event', 'an instance of Event', e) : internal.wrongThis('Event');
    return s;
  };
  const trusted = function () { return of(this).trusted; };
  p.defineProperty(trusted, 'name', { __proto__: null, value: 'get isTrusted', configurable: true });

  class Event {
    constructor(type, init = undefined) {
      internal.need(arguments.length, 1, 'Event', ['type']);
      const name = internal.text(type);
      init = internal.dictionary(init, 'Event: the second argument', 'options');
      const bubbles = !!init.bubbles, cancelable = !!init.cancelable, composed = !!init.composed;
      p.weakMapSet(state, this, { __proto__: null, type: name, bubbles, cancelable, composed, trusted: false, target: null, current: null, phase: 0,
        canceled: false, passive: false, stop: false, stopNow: false, dispatching: false, time: -1 });
      p.defineProperty(this, 'isTrusted', { __proto__: null, get: trusted, set: undefined, enumerable: true, configurable: false });
    }
    get type() { return of(this).type; }
    get target() { return of(this).target; }
    get srcElement() { return of(this).target; }
    get currentTarget() { return of(this).current; }
    composedPath() {
      const s = of(this);
      return s.current === null ? [] : [s.current];
    }
    get eventPhase() { return of(this).phase; }
    stopPropagation() { of(this).stop = true; }
    get cancelBubble() { return of(this).stop; }
    set cancelBubble(v) { if (v) of(this).stop = true; else of(this); }
    stopImmediatePropagation() {
      const s = of(this);
      s.stop = s.stopNow = true;
    }
    get bubbles() { return of(this).bubbles; }
    get cancelable() { return of(this).cancelable; }
    get returnValue() { return !of(this).canceled; }
    set returnValue(v) { if (!v) cancel(of(this)); else of(this); }
    preventDefault() { cancel(of(this)); }
    get defaultPrevented() { return of(this).canceled; }
    get composed() { return of(this).composed; }
    get timeStamp() {
      const s = of(this);
      if (s.time < 0) s.time = internal.now(); // read lazily: an unused event must not make a run depend on the clock
      return s.time;
    }
    initEvent(type, bubbles = false, cancelable = false) {
      internal.need(arguments.length, 1, 'Event.initEvent', ['type']);
      const s = of(this);
      if (!s.dispatching) reset(s, internal.text(type), !!bubbles, !!cancelable);
    }
  }
  const cancel = (s) => { if (s.cancelable && !s.passive) s.canceled = true; };
  const reset = (s, type, bubbles, cancelable) => {
    s.type = type;
    s.bubbles = bubbles;
    s.cancelable = cancelable;
    s.stop = s.stopNow = s.canceled = s.trusted = false;
    s.target = null;
  };
  internal.constants(Event, { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 });
  internal.expose(Event);

  internal.expose(class CustomEvent extends Event {
    #detail;
    constructor(type, init = undefined) {
      internal.need(arguments.length, 1, 'CustomEvent', ['type']);
      super(type, init);
      const { detail = null } = internal.dictionary(init, 'CustomEvent: the second argument', 'options');
      this.#detail = detail;
    }
    get detail() { return this.#detail; }
    initCustomEvent(type, bubbles = false, cancelable = false, detail = null) {
      internal.need(arguments.length, 1, 'CustomEvent.initCustomEvent');
      this.#detail;
      const s = of(this);
      if (s.dispatching) return;
      reset(s, internal.text(type), !!bubbles, !!cancelable);
      this.#detail = detail;
    }
  });

  const ErrorEvent = internal.expose(class ErrorEvent extends Event {
    #message; #filename; #lineno; #colno; #error;
    constructor(type, init = undefined) {
      internal.need(arguments.length, 1, 'ErrorEvent');
      super(type, init);
      const { colno = 0, error, filename = '', lineno = 0, message = '' } = internal.dictionary(init, 'ErrorEvent: the second argument');
      this.#colno = colno >>> 0;
      this.#error = error;
      this.#filename = internal.usv(filename);
      this.#lineno = lineno >>> 0;
      this.#message = internal.text(message);
    }
    get message() { return this.#message; }
    get filename() { return this.#filename; }
    get lineno() { return this.#lineno; }
    get colno() { return this.#colno; }
    get error() { return this.#error; }
  });

  // targets maps an EventTarget to its listeners, oldest first: {type, callback, capture, once, passive, removed, handler}.
  const targets = new p.WeakMap();
  const listenersOf = (self) => {
    // The methods of the global object may be called without a receiver.
    const target = self === undefined || self === null ? globalThis : self;
    const list = internal.isObject(target) ? p.weakMapGet(targets, target) : undefined;
    if (list === undefined) throw internal.wrongThis('EventTarget');
    return list;
  };
  const captureOf = (options) => internal.isObject(options) ? !!options.capture : !!options;
  const find = (list, type, callback, capture) => {
    for (let i = 0; i < list.length; i++) if (list[i].type === type && list[i].callback === callback && list[i].capture === capture) return i;
    return -1;
  };
  const remove = (list, i) => {
    list[i].removed = true;
    p.arraySplice(list, i, 1);
  };

  class EventTarget {
    constructor() { p.weakMapSet(targets, this, []); }
    addEventListener(type, callback, options = undefined) {
      internal.need(arguments.length, 2, 'EventTarget.addEventListener', ['type', 'listener']);
      const list = listenersOf(this), name = internal.text(type);
      const capture = captureOf(options);
      let once = false, passive = false, signal;
      if (internal.isObject(options)) {
        once = !!options.once;
        passive = !!options.passive;
        signal = options.signal;
        if (signal !== undefined) internal.abort.check(signal, 'options.signal');
      }
      if (callback === null || callback === undefined) return;
      if (!internal.isObject(callback)) throw internal.nodeWrongType('listener', 'an instance of EventListener', callback);
      if ((signal !== undefined && internal.abort.aborted(signal)) || find(list, name, callback, capture) >= 0) return;
      const entry = { __proto__: null, type: name, callback, capture, once, passive, removed: false, handler: false };
      p.arrayPush(list, entry);
      if (signal !== undefined) {
        internal.abort.add(signal, () => {
          const i = p.arrayIndexOf(list, entry);
          if (i >= 0) remove(list, i);
        });
      }
    }
    removeEventListener(type, callback, options = undefined) {
      internal.need(arguments.length, 2, 'EventTarget.removeEventListener', ['type', 'listener']);
      const list = listenersOf(this);
      const i = find(list, internal.text(type), callback, captureOf(options));
      if (i >= 0) remove(list, i);
    }
    dispatchEvent(event) {
      internal.need(arguments.length, 1, 'EventTarget.dispatchEvent', ['event']);
      const list = listenersOf(this), s = of(event, true);
      if (s.dispatching) throw internal.domError('InvalidStateError', `The event "${s.type}" is already being dispatched`);
      s.trusted = false;
      return dispatch(this ?? globalThis, list, event, s);
    }
  }
  internal.expose(EventTarget);
  internal.eventListeners = (target, type) => {
    const list = listenersOf(target), name = internal.text(type), out = [];
    for (let i = 0; i < list.length; i++) if (list[i].type === name) p.arrayPush(out, list[i].callback);
    return out;
  };

  const dispatch = (target, list, event, s) => {
    s.dispatching = true;
    s.target = s.current = target;
    s.phase = 2;
    // The dispatch works on a copy of the list: listeners added or removed during the dispatch are not called.
    const now = [];
    for (let i = 0; i < list.length; i++) if (list[i].type === s.type && list[i].capture) p.arrayPush(now, list[i]);
    for (let i = 0; i < list.length; i++) if (list[i].type === s.type && !list[i].capture) p.arrayPush(now, list[i]);
    for (let i = 0; i < now.length && !s.stopNow; i++) {
      const l = now[i];
      if (l.removed) continue;
      if (l.once) remove(list, p.arrayIndexOf(list, l));
      s.passive = l.passive;
      try {
        if (l.handler) {
          if (l.call(target, event) === false) cancel(s);
        } else if (typeof l.callback === 'function') p.apply(l.callback, target, [event]);
        else {
          const handle = l.callback.handleEvent;
          p.apply(internal.callback(handle, 'handleEvent'), l.callback, [event]);
        }
      } catch (e) {
        internal.report(e);
      }
      s.passive = false;
    }
    s.phase = 0;
    s.current = null;
    s.dispatching = s.stop = s.stopNow = false;
    return !s.canceled;
  };
  // fireEvent dispatches a trusted event.
  internal.fireEvent = (target, event) => {
    const s = of(event);
    s.trusted = true;
    return dispatch(target, p.weakMapGet(targets, target), event, s);
  };

  // handler defines the event handler attribute on<type> on C.prototype or on a single object.
  internal.handler = (o, type) => {
    const handlers = new p.WeakMap();
    const get = { [`on${type}`]() {
      listenersOf(this);
      return p.weakMapGet(handlers, this ?? globalThis)?.callback ?? null;
    } }[`on${type}`];
    const set = { [`on${type}`](v) {
      const list = listenersOf(this), target = this ?? globalThis;
      let entry = p.weakMapGet(handlers, target);
      const callback = internal.isObject(v) ? v : null;
      if (entry === undefined) {
        if (callback === null) return;
        entry = { __proto__: null, type, callback, capture: false, once: false, passive: false, removed: false, handler: true };
        entry.call = (self, event) => {
          if (typeof entry.callback !== 'function') return undefined;
          // The global object's onerror is an OnErrorEventHandler: it takes five arguments, and true means handled.
          if (self === globalThis && type === 'error' && errorEvent(event)) {
            return p.apply(entry.callback, self, [event.message, event.filename, event.lineno, event.colno, event.error]) !== true;
          }
          return p.apply(entry.callback, self, [event]);
        };
        p.weakMapSet(handlers, target, entry);
        p.arrayPush(list, entry);
        return;
      }
      if (callback === null) {
        const i = p.arrayIndexOf(list, entry);
        if (i >= 0) remove(list, i);
        p.weakMapDelete(handlers, target);
      } else entry.callback = callback;
    } }[`on${type}`];
    for (const [f, kind] of [[get, 'get'], [set, 'set']]) p.defineProperty(f, 'name', { __proto__: null, value: `${kind} on${type}`, configurable: true });
    p.defineProperty(o, `on${type}`, { __proto__: null, get, set, enumerable: true, configurable: true });
  };
  const errorEvent = (e) => p.getPrototypeOf(e) === ErrorEvent.prototype;

  // Errors are reported to the global object: the run fails unless a listener calls preventDefault.
  const globalList = [];
  p.weakMapSet(targets, globalThis, globalList);
  const names = ['addEventListener', 'removeEventListener', 'dispatchEvent'];
  for (const name of names) define(globalThis, name, EventTarget.prototype[name]);
  internal.handler(globalThis, 'error');
  p.defineProperty(globalThis, 'onerror', { __proto__: null, enumerable: false });
  let reporting = false;
  internal.report = (e) => {
    if (!reporting && globalList.length > 0) {
      reporting = true;
      try {
        const event = new ErrorEvent('error', { __proto__: null, cancelable: true, error: e, message: internal.messageOf(e) });
        if (!internal.fireEvent(globalThis, event)) return;
      } finally {
        reporting = false;
      }
    }
    try {
      if (internal.caught?.(e, 'uncaughtException')) return;
    } catch (e2) { e = e2; }
    internal.fail(e);
  };
  internal.messageOf = (e) => {
    try { return internal.isError(e) ? `Uncaught ${p.errorToString(e)}` : `Uncaught ${internal.inspect(e)}`; } catch { return 'Uncaught'; }
  };
  define(globalThis, 'reportError', function reportError(e) {
    internal.need(arguments.length, 1, 'reportError');
    internal.report(e);
  });
  p.defineProperty(globalThis, 'self', {
    __proto__: null, enumerable: true, configurable: true, get: { self() { return globalThis; } }.self,
    set: { self(v) { define(globalThis, 'self', v); } }.self,
  });
  return internal;
}
