// AbortController and AbortSignal, as specified by the DOM standard.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { EventTarget, Event } = globalThis;
  const states = new p.WeakMap();
  const of = (s, argument) => {
    const state = internal.isObject(s) ? p.weakMapGet(states, s) : undefined;
    if (state === undefined) throw argument === undefined ? internal.wrongThis('AbortSignal') : internal.nodeWrongType(argument, 'an instance of AbortSignal', s);
    return state;
  };

  class AbortSignal extends EventTarget {
    constructor(key = undefined) {
      internal.illegal(key);
      super();
      p.weakMapSet(states, this, { __proto__: null, aborted: false, reason: undefined, algorithms: [], sources: null, dependents: [] });
    }
    static abort(reason = undefined) {
      const signal = new AbortSignal(internal.key);
      const s = of(signal);
      s.aborted = true;
      s.reason = reason === undefined ? internal.domError('AbortError', 'This operation was aborted') : reason;
      return signal;
    }
    static timeout(milliseconds) {
      if (typeof milliseconds !== 'number') throw internal.nodeWrongType('delay', 'of type number', milliseconds);
      if (!(milliseconds >= 0 && milliseconds <= 0xffffffff)) throw internal.nodeOutOfRange('delay', '>= 0 && <= 4294967295', milliseconds);
      const ms = p.trunc(milliseconds);
      const signal = new AbortSignal(internal.key);
      internal.startIdleTimer(ms, () => { abort(signal, internal.domError('TimeoutError', 'The operation was aborted due to timeout')); });
      return signal;
    }
    static any(signals) {
      if (!internal.isObject(signals) || typeof signals[internal.symbols.iterator] !== 'function') throw internal.nodeWrongType('signals', 'an instance of Array', signals);
      let at = 0;
      const list = internal.sequence(signals, (s) => {
        if (!internal.isObject(s) || !p.weakMapHas(states, s)) throw internal.nodeWrongType(`signals[${at}]`, 'an instance of AbortSignal', s);
        at++;
        return s;
      }, 'AbortSignal.any: the argument');
      return any(list);
    }
    get aborted() { return of(this).aborted; }
    get reason() { return of(this).reason; }
    throwIfAborted() {
      const s = of(this);
      if (s.aborted) throw s.reason;
    }
  }
  internal.expose(AbortSignal);
  internal.handler(AbortSignal.prototype, 'abort');

  const any = (list) => {
    const signal = new AbortSignal(internal.key);
    const state = of(signal);
    for (let i = 0; i < list.length; i++) {
      const s = of(list[i]);
      if (s.aborted) {
        state.aborted = true;
        state.reason = s.reason;
        return signal;
      }
    }
    state.sources = [];
    for (let i = 0; i < list.length; i++) {
      const s = of(list[i]);
      // A dependent signal subscribes to the root sources of its inputs, so chains stay flat.
      const roots = s.sources === null ? [list[i]] : s.sources;
      for (let j = 0; j < roots.length; j++) {
        if (p.arrayIndexOf(state.sources, roots[j]) >= 0) continue;
        p.arrayPush(state.sources, roots[j]);
        p.arrayPush(of(roots[j]).dependents, signal);
      }
    }
    return signal;
  };

  const abort = (signal, reason) => {
    const s = of(signal);
    if (s.aborted) return;
    s.aborted = true;
    s.reason = reason === undefined ? internal.domError('AbortError', 'This operation was aborted') : reason;
    const due = [signal];
    for (let i = 0; i < s.dependents.length; i++) {
      const d = of(s.dependents[i]);
      if (d.aborted) continue;
      d.aborted = true;
      d.reason = s.reason;
      p.arrayPush(due, s.dependents[i]);
    }
    for (let i = 0; i < due.length; i++) {
      const d = of(due[i]), algorithms = d.algorithms;
      d.algorithms = [];
      for (let j = 0; j < algorithms.length; j++) if (algorithms[j] !== null) algorithms[j]();
      internal.fireEvent(due[i], new Event('abort'));
    }
  };

  internal.expose(class AbortController {
    #signal = new AbortSignal(internal.key);
    get signal() { return this.#signal; }
    abort(reason = undefined) { abort(this.#signal, reason); }
  });

  // internal.abort holds the signal operations that other files of the library use. add returns a function that removes
  // the algorithm.
  internal.abort = {
    __proto__: null,
    // controller returns an AbortController for internal use.
    controller: () => {
      const signal = new AbortSignal(internal.key);
      return { __proto__: null, signal, abort: (reason) => { abort(signal, reason); } };
    },
    check: (s, argument) => { of(s, argument); },
    is: (s) => internal.isObject(s) && p.weakMapHas(states, s),
    any,
    aborted: (s) => of(s).aborted,
    reason: (s) => of(s).reason,
    add: (s, algorithm) => {
      const { algorithms } = of(s);
      p.arrayPush(algorithms, algorithm);
      return () => {
        const i = p.arrayIndexOf(algorithms, algorithm);
        if (i >= 0) p.arraySplice(algorithms, i, 1);
      };
    },
  };
  return internal;
}
