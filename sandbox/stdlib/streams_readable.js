// ReadableStream and ReadableStreamDefaultReader.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const { asyncIterator } = internal.symbols;
  const { handled, deferred, resolved, rejected } = streams;
  let stateOf, readerOf;

  class ReadableStream {
    #s;
    constructor(underlyingSource = undefined, strategy = undefined) {
      if (underlyingSource === internal.key) {
        this.#s = strategy;
        return;
      }
      const source = streams.optional(underlyingSource, 'ReadableStream: the underlying source');
      const how = streams.strategy(strategy, 'ReadableStream: the strategy');
      const s = this.#s = fresh(this);
      streams.setUpFrom(s, source, how);
    }
    static {
      stateOf = (o, argument) => {
        if (!internal.isObject(o) || !(#s in o)) throw argument === undefined ? internal.wrongThis('ReadableStream') : internal.nodeWrongType(argument, 'an instance of ReadableStream', o);
        return o.#s;
      };
    }
    static from(asyncIterable) {
      internal.need(arguments.length, 1, 'ReadableStream.from');
      return streams.from(asyncIterable);
    }
    get locked() { return stateOf(this).reader !== undefined; }
    cancel(reason = undefined) {
      try {
        const s = stateOf(this);
        if (s.reader !== undefined) throw streams.invalid('ReadableStream is locked');
        return streams.cancel(s, reason);
      } catch (e) { return p.promiseReject(e); }
    }
    getReader(options = undefined) {
      const s = stateOf(this);
      const { mode } = internal.dictionary(options, 'ReadableStream.getReader: the options');
      if (mode === undefined) return new ReadableStreamDefaultReader(this);
      if (internal.text(mode) !== 'byob') throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.mode' is invalid. Received ${internal.inspect(mode)}`);
      return streams.byobReader(s);
    }
    pipeThrough(transform, options = undefined) {
      const s = stateOf(this);
      internal.need(arguments.length, 1, 'ReadableStream.pipeThrough');
      if (!internal.isObject(transform)) throw new p.TypeError('ReadableStream.pipeThrough: the argument is not an object');
      const { readable } = transform;
      if (readable === undefined) throw new p.TypeError('ReadableStream.pipeThrough: readable is missing');
      stateOf(readable, 'transform.readable');
      const { writable } = transform;
      if (writable === undefined) throw new p.TypeError('ReadableStream.pipeThrough: writable is missing');
      const w = streams.writableOf(writable, 'transform.writable');
      const how = streams.pipeOptions(options);
      if (s.reader !== undefined) throw streams.invalid('The ReadableStream is locked');
      if (w.writer !== undefined) throw streams.invalid('The WritableStream is locked');
      handled(streams.pipe(s, w, how));
      return readable;
    }
    pipeTo(destination, options = undefined) {
      try {
        const s = stateOf(this);
        internal.need(arguments.length, 1, 'ReadableStream.pipeTo');
        const w = streams.writableOf(destination, 'transform.writable');
        const how = streams.pipeOptions(options);
        if (s.reader !== undefined) throw streams.invalid('The ReadableStream is locked');
        if (w.writer !== undefined) throw streams.invalid('The WritableStream is locked');
        return streams.pipe(s, w, how);
      } catch (e) { return p.promiseReject(e); }
    }
    tee() { return streams.tee(stateOf(this)); }
    values(options = undefined) {
      const s = stateOf(this);
      const { preventCancel } = internal.dictionary(options, 'ReadableStream.values: the options');
      return streams.iterate(s, !!preventCancel);
    }
  }
  p.defineProperty(ReadableStream.prototype, asyncIterator, internal.property(ReadableStream.prototype.values, false));
  internal.expose(ReadableStream);

  // over, if finished and the like asked for it, is settled when the stream has ended.
  const fresh = (object) => ({ __proto__: null, object, state: 'readable', reader: undefined, error: undefined, disturbed: false, controller: undefined, over: undefined });
  // create returns a stream for internal use.
  streams.create = () => {
    const s = fresh(undefined);
    s.object = new ReadableStream(internal.key, s);
    return s;
  };
  streams.readableOf = (o, argument) => stateOf(o, argument);
  streams.isReadable = (o) => {
    try { return stateOf(o) !== undefined; } catch { return false; }
  };

  streams.cancel = (s, reason) => {
    s.disturbed = true;
    if (s.state === 'closed') return streams.promise(undefined);
    if (s.state === 'errored') return p.promiseReject(s.error);
    streams.close(s);
    const { reader } = s;
    if (reader !== undefined && reader.byob) {
      const intos = reader.intos;
      reader.intos = streams.queue();
      while (intos.length > 0) streams.shift(intos).close(undefined);
    }
    return p.promiseThen(s.controller.cancelSteps(reason), streams.nothing);
  };
  streams.close = (s) => {
    s.state = 'closed';
    if (s.over !== undefined) s.over.resolve(undefined);
    const { reader } = s;
    if (reader === undefined) return;
    reader.closed.resolve(undefined);
    if (reader.byob) return;
    const requests = reader.requests;
    reader.requests = streams.queue();
    while (requests.length > 0) streams.shift(requests).close();
  };
  streams.error = (s, e) => {
    s.state = 'errored';
    s.error = e;
    if (s.over !== undefined) s.over.reject(e);
    const { reader } = s;
    if (reader === undefined) return;
    reader.closed.reject(e);
    handled(reader.closed.promise);
    streams.failRequests(reader, e);
  };
  streams.failRequests = (reader, e) => {
    const requests = reader.byob ? reader.intos : reader.requests;
    if (reader.byob) reader.intos = streams.queue();
    else reader.requests = streams.queue();
    while (requests.length > 0) streams.shift(requests).error(e);
  };
  // fulfil passes a chunk to the first pending read request.
  streams.fulfil = (s, chunk, done) => {
    const request = streams.shift(s.reader.requests);
    if (done) request.close();
    else request.chunk(chunk);
  };
  streams.waiting = (s) => s.reader !== undefined && !s.reader.byob ? s.reader.requests.length : 0;

  // lock locks a stream and returns the state of its reader.
  streams.lock = (s, object, byob) => {
    if (s.reader !== undefined) throw streams.invalid('ReadableStream is locked');
    const reader = { __proto__: null, object, stream: s, byob, requests: streams.queue(), intos: streams.queue(), closed: undefined };
    s.reader = reader;
    reader.closed = s.state === 'readable' ? deferred() : s.state === 'closed' ? resolved(undefined) : rejected(s.error);
    return reader;
  };
  streams.unlock = (reader) => {
    const s = reader.stream, gone = streams.invalid('The reader is not attached to a stream');
    if (s.state === 'readable') reader.closed.reject(gone);
    else reader.closed = rejected(gone);
    handled(reader.closed.promise);
    s.controller.releaseSteps();
    s.reader = undefined;
    reader.stream = undefined;
    streams.failRequests(reader, gone);
  };
  streams.read = (reader, request) => {
    const s = reader.stream;
    s.disturbed = true;
    if (s.state === 'closed') request.close();
    else if (s.state === 'errored') request.error(s.error);
    else s.controller.pullSteps(request);
  };
  // promised returns a read request that settles a promise with {value, done}.
  streams.promised = () => {
    const d = deferred();
    return {
      __proto__: null, promise: d.promise,
      chunk: (value) => { d.resolve({ value, done: false }); },
      close: (value) => { d.resolve({ value, done: true }); },
      error: (e) => { d.reject(e); },
    };
  };

  class ReadableStreamDefaultReader {
    #r;
    constructor(stream) {
      internal.need(arguments.length, 1, 'ReadableStreamDefaultReader');
      this.#r = streams.lock(stateOf(stream, 'stream'), this, false);
    }
    static {
      readerOf = (o) => {
        if (!internal.isObject(o) || !(#r in o)) throw internal.wrongThis('ReadableStreamDefaultReader');
        return o.#r;
      };
    }
    get closed() {
      try { return readerOf(this).closed.promise; } catch (e) { return p.promiseReject(e); }
    }
    cancel(reason = undefined) {
      try {
        const { stream } = readerOf(this);
        if (stream === undefined) throw streams.invalid('The reader is not attached to a stream');
        return streams.cancel(stream, reason);
      } catch (e) { return p.promiseReject(e); }
    }
    read() {
      try {
        const reader = readerOf(this);
        if (reader.stream === undefined) throw streams.invalid('The reader is not attached to a stream');
        const request = streams.promised();
        streams.read(reader, request);
        return request.promise;
      } catch (e) { return p.promiseReject(e); }
    }
    releaseLock() {
      const reader = readerOf(this);
      if (reader.stream !== undefined) streams.unlock(reader);
    }
  }
  internal.expose(ReadableStreamDefaultReader);
  // acquire locks a stream for internal use.
  streams.acquire = (s) => streams.lock(s, undefined, false);
  return internal;
}
