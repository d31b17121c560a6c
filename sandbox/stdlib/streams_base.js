// Helpers shared by all streams, as specified by the Streams standard: queues, promises, strategies and callbacks. Each
// stream object keeps its state in a null-prototype object; the functions in internal.streams take that state.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const streams = internal.streams = { __proto__: null };
  // invalid returns Node's error of a stream, or of what belongs to one, that is in the wrong state.
  streams.invalid = (what) => internal.nodeError(p.TypeError, 'ERR_INVALID_STATE', `Invalid state: ${what}`);

  // A queue is a linked list, so taking the first element is O(1).
  streams.queue = () => ({ __proto__: null, head: null, tail: null, length: 0 });
  streams.push = (q, value) => {
    const node = { __proto__: null, value, next: null };
    if (q.tail === null) q.head = node;
    else q.tail.next = node;
    q.tail = node;
    q.length++;
  };
  streams.shift = (q) => {
    const { value, next } = q.head;
    q.head = next;
    if (next === null) q.tail = null;
    q.length--;
    return value;
  };

  const nothing = () => {};
  streams.nothing = nothing;
  streams.deferred = () => {
    const d = { __proto__: null, promise: undefined, resolve: undefined, reject: undefined, settled: false };
    d.promise = new p.Promise((resolve, reject) => {
      d.resolve = (v) => {
        d.settled = true;
        resolve(v);
      };
      d.reject = (e) => {
        d.settled = true;
        reject(e);
      };
    });
    return d;
  };
  streams.resolved = (v) => {
    const d = streams.deferred();
    d.resolve(v);
    return d;
  };
  streams.rejected = (e) => {
    const d = streams.deferred();
    d.reject(e);
    streams.handled(d.promise);
    return d;
  };
  // promise is WebIDL's "a promise resolved with": always a new promise.
  streams.promise = (v) => new p.Promise((resolve) => { resolve(v); });
  // handled keeps a rejection of promise from being reported as unhandled.
  streams.handled = (promise) => { p.promiseThen(promise, undefined, nothing); };
  // after attaches reactions to a promise. The reactions must not throw: their errors are dropped.
  streams.after = (promise, done, failed) => { streams.handled(p.promiseThen(promise, done, failed)); };

  // call invokes a guest's callback whose WebIDL return type is a promise.
  streams.call = (f, self, args) => {
    try { return streams.promise(p.apply(f, self, args)); } catch (e) { return p.promiseReject(e); }
  };
  // method reads a callback from a guest's object.
  streams.method = (o, name) => {
    const f = o[name];
    if (f === undefined) return undefined;
    if (typeof f !== 'function') throw new p.TypeError(`${name} is not a function`);
    return f;
  };
  streams.optional = (o, what) => {
    if (o === undefined) return null;
    if (!internal.isObject(o)) throw new p.TypeError(`${what} is not an object`);
    return o;
  };

  streams.highWaterMark = (strategy, otherwise) => {
    if (strategy.highWaterMark === undefined) return otherwise;
    const mark = strategy.highWaterMark;
    if (mark !== mark || mark < 0) throw internal.nodeError(p.RangeError, 'ERR_INVALID_ARG_VALUE', `The property 'strategy.highWaterMark' is invalid. Received ${internal.inspect(mark)}`);
    return mark;
  };
  // strategy reads the members of a queuing strategy in alphabetical order.
  streams.strategy = (o, what) => {
    const s = { __proto__: null, highWaterMark: undefined, size: undefined };
    const given = internal.dictionary(o, what);
    const mark = given.highWaterMark;
    if (mark !== undefined) s.highWaterMark = +mark;
    const { size } = given;
    if (size !== undefined) s.size = internal.callback(size, 'size');
    return s;
  };
  streams.sizeOf = (strategy) => {
    const { size } = strategy;
    return size === undefined ? () => 1 : (chunk) => p.apply(size, undefined, [chunk]);
  };
  // checkSize validates the size that a strategy returned for a chunk.
  streams.checkSize = (size) => {
    size = +size;
    if (!(size >= 0) || size === Infinity) throw new p.RangeError('the size of a chunk is not a finite number of at least 0');
    return size;
  };

  const strategyInit = (init, what) => {
    if (!internal.isObject(init)) throw new p.TypeError(`${what}: the argument is not an object`);
    const mark = init.highWaterMark;
    if (mark === undefined) throw new p.TypeError(`${what}: highWaterMark is missing`);
    return +mark;
  };
  const byteLengthSize = { size(chunk) { return chunk.byteLength; } }.size;
  const countSize = { size() { return 1; } }.size;
  internal.expose(class ByteLengthQueuingStrategy {
    #mark;
    constructor(init) { this.#mark = strategyInit(init, 'ByteLengthQueuingStrategy'); }
    get highWaterMark() { return this.#mark; }
    get size() {
      this.#mark;
      return byteLengthSize;
    }
  });
  internal.expose(class CountQueuingStrategy {
    #mark;
    constructor(init) { this.#mark = strategyInit(init, 'CountQueuingStrategy'); }
    get highWaterMark() { return this.#mark; }
    get size() {
      this.#mark;
      return countSize;
    }
  });
  return internal;
}
