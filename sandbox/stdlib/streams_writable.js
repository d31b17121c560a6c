// WritableStream, its writer and its controller.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const { handled, deferred, resolved, rejected } = streams;
  const closeMark = { __proto__: null }; // marks a close request in the queue
  let stateOf, writerOf, of;

  class WritableStream {
    #s;
    constructor(underlyingSink = undefined, strategy = undefined) {
      if (underlyingSink === internal.key) {
        this.#s = strategy;
        return;
      }
      const sink = streams.optional(underlyingSink, 'WritableStream: the underlying sink');
      const how = streams.strategy(strategy, 'WritableStream: the strategy');
      const s = this.#s = fresh(this);
      const o = sink ?? { __proto__: null };
      const abort = streams.method(o, 'abort'), close = streams.method(o, 'close'), start = streams.method(o, 'start');
      if (o.type !== undefined) throw new p.RangeError('a writable stream has no type');
      const write = streams.method(o, 'write');
      const measure = streams.sizeOf(how), mark = streams.highWaterMark(how, 1);
      const settled = () => streams.promise(undefined);
      setUp(s, start === undefined ? streams.nothing : (c) => p.apply(start, sink, [c.object]),
        write === undefined ? settled : (chunk) => streams.call(write, sink, [chunk, s.controller.object]),
        close === undefined ? settled : () => streams.call(close, sink, []),
        abort === undefined ? settled : (reason) => streams.call(abort, sink, [reason]), mark, measure);
    }
    static {
      stateOf = (o, argument) => {
        if (!internal.isObject(o) || !(#s in o)) throw argument === undefined ? internal.wrongThis('WritableStream') : internal.nodeWrongType(argument, 'an instance of WritableStream', o);
        return o.#s;
      };
    }
    get locked() { return stateOf(this).writer !== undefined; }
    abort(reason = undefined) {
      try {
        const s = stateOf(this);
        if (s.writer !== undefined) throw streams.invalid('WritableStream is locked');
        return abort(s, reason);
      } catch (e) { return p.promiseReject(e); }
    }
    close() {
      try {
        const s = stateOf(this);
        if (s.writer !== undefined) throw streams.invalid('WritableStream is locked');
        if (closing(s)) throw streams.invalid('Failure to close WritableStream');
        return close(s);
      } catch (e) { return p.promiseReject(e); }
    }
    getWriter() { return new WritableStreamDefaultWriter(this); }
  }
  internal.expose(WritableStream);

  const fresh = (object) => ({ __proto__: null, object, state: 'writable', error: undefined, writer: undefined, controller: undefined, writes: streams.queue(),
    inFlight: null, closeRequest: null, closeInFlight: null, pendingAbort: null, backpressure: false, over: undefined });
  streams.createWritable = () => {
    const s = fresh(undefined);
    s.object = new WritableStream(internal.key, s);
    return s;
  };
  streams.writableOf = (o, argument) => stateOf(o, argument);

  const closing = (s) => s.closeRequest !== null || s.closeInFlight !== null;
  const abort = (s, reason) => {
    if (s.state === 'closed' || s.state === 'errored') return streams.promise(undefined);
    s.controller.abortController.abort(reason);
    if (s.state === 'closed' || s.state === 'errored') return streams.promise(undefined);
    if (s.pendingAbort !== null) return s.pendingAbort.done.promise;
    const wasErroring = s.state === 'erroring';
    if (wasErroring) reason = undefined;
    const done = deferred();
    s.pendingAbort = { __proto__: null, done, reason, wasErroring };
    if (!wasErroring) startErroring(s, reason);
    return done.promise;
  };
  const close = (s) => {
    if (s.state === 'closed' || s.state === 'errored') return p.promiseReject(streams.invalid('WritableStream is closed'));
    const done = deferred();
    s.closeRequest = done;
    if (s.writer !== undefined && s.backpressure && s.state === 'writable') s.writer.ready.resolve(undefined);
    streams.push(s.controller.queue, { __proto__: null, chunk: closeMark, size: 0 });
    advance(s.controller);
    return done.promise;
  };
  const dealWithRejection = (s, e) => {
    if (s.state === 'writable') startErroring(s, e);
    else finishErroring(s);
  };
  const startErroring = (s, reason) => {
    s.state = 'erroring';
    s.error = reason;
    if (s.writer !== undefined) rejectReady(s.writer, reason);
    if (s.inFlight === null && s.closeInFlight === null && s.controller.started) finishErroring(s);
  };
  const finishErroring = (s) => {
    if (s.inFlight !== null || s.closeInFlight !== null) return; // the operation in flight calls this again when it ends
    s.state = 'errored';
    if (s.over !== undefined) s.over.reject(s.error);
    s.controller.queue = streams.queue();
    s.controller.size = 0;
    const writes = s.writes;
    s.writes = streams.queue();
    while (writes.length > 0) streams.shift(writes).reject(s.error);
    const { pendingAbort } = s;
    if (pendingAbort === null) {
      rejectClose(s);
      return;
    }
    s.pendingAbort = null;
    if (pendingAbort.wasErroring) {
      pendingAbort.done.reject(s.error);
      rejectClose(s);
      return;
    }
    const result = s.controller.abort(pendingAbort.reason);
    clear(s.controller);
    streams.after(result, () => {
      pendingAbort.done.resolve(undefined);
      rejectClose(s);
    }, (e) => {
      pendingAbort.done.reject(e);
      rejectClose(s);
    });
  };
  const rejectClose = (s) => {
    if (s.closeRequest !== null) {
      s.closeRequest.reject(s.error);
      s.closeRequest = null;
    }
    if (s.writer !== undefined) {
      s.writer.closed.reject(s.error);
      handled(s.writer.closed.promise);
    }
  };
  const rejectReady = (writer, e) => {
    if (writer.ready.settled) writer.ready = rejected(e);
    else writer.ready.reject(e);
    handled(writer.ready.promise);
  };
  const setBackpressure = (s, on) => {
    if (s.writer !== undefined && on !== s.backpressure) {
      if (on) s.writer.ready = deferred();
      else s.writer.ready.resolve(undefined);
    }
    s.backpressure = on;
  };

  class WritableStreamDefaultController {
    #c;
    constructor(key = undefined, c = undefined) {
      internal.illegal(key);
      this.#c = c;
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#c in o)) throw new p.TypeError('not a WritableStreamDefaultController');
        return o.#c;
      };
    }
    get signal() { return of(this).abortController.signal; }
    error(e = undefined) {
      const c = of(this);
      if (c.stream.state === 'writable') streams.errorWritable(c, e);
    }
  }
  internal.expose(WritableStreamDefaultController);

  // setUp adds a controller to stream s. start may throw; write, close and abort return promises.
  const setUp = (s, start, write, close, abort, mark, measure) => {
    const c = { __proto__: null, object: undefined, stream: s, queue: streams.queue(), size: 0, started: false, write, close, abort, mark, measure, abortController: internal.abort.controller() };
    c.object = new WritableStreamDefaultController(internal.key, c);
    s.controller = c;
    setBackpressure(s, c.mark - c.size <= 0);
    const started = start(c);
    streams.after(streams.promise(started), () => {
      c.started = true;
      advance(c);
    }, (e) => {
      c.started = true;
      dealWithRejection(s, e);
    });
    return c;
  };
  streams.setUpWritable = setUp;
  const clear = (c) => {
    c.write = c.close = c.abort = () => streams.promise(undefined);
    c.measure = undefined;
  };
  streams.errorWritable = (c, e) => {
    clear(c);
    startErroring(c.stream, e);
  };
  streams.errorIfWritable = (c, e) => { if (c.stream.state === 'writable') streams.errorWritable(c, e); };
  const advance = (c) => {
    const s = c.stream;
    if (!c.started || s.inFlight !== null) return;
    if (s.state === 'erroring') {
      finishErroring(s);
      return;
    }
    if (c.queue.length === 0) return;
    const { chunk } = c.queue.head.value;
    if (chunk === closeMark) processClose(c);
    else processWrite(c, chunk);
  };
  const processClose = (c) => {
    const s = c.stream;
    s.closeInFlight = s.closeRequest;
    s.closeRequest = null;
    streams.shift(c.queue);
    const result = c.close();
    clear(c);
    streams.after(result, () => {
      s.closeInFlight.resolve(undefined);
      s.closeInFlight = null;
      if (s.state === 'erroring') {
        s.error = undefined;
        if (s.pendingAbort !== null) {
          s.pendingAbort.done.resolve(undefined);
          s.pendingAbort = null;
        }
      }
      s.state = 'closed';
      if (s.over !== undefined) s.over.resolve(undefined);
      if (s.writer !== undefined) s.writer.closed.resolve(undefined);
    }, (e) => {
      s.closeInFlight.reject(e);
      s.closeInFlight = null;
      if (s.pendingAbort !== null) {
        s.pendingAbort.done.reject(e);
        s.pendingAbort = null;
      }
      dealWithRejection(s, e);
    });
  };
  const processWrite = (c, chunk) => {
    const s = c.stream;
    s.inFlight = streams.shift(s.writes);
    streams.after(c.write(chunk), () => {
      s.inFlight.resolve(undefined);
      s.inFlight = null;
      c.size = p.max(c.size - streams.shift(c.queue).size, 0);
      if (!closing(s) && s.state === 'writable') setBackpressure(s, c.mark - c.size <= 0);
      advance(c);
    }, (e) => {
      if (s.state === 'writable') clear(c);
      s.inFlight.reject(e);
      s.inFlight = null;
      dealWithRejection(s, e);
    });
  };

  class WritableStreamDefaultWriter {
    #w;
    constructor(stream) {
      internal.need(arguments.length, 1, 'WritableStreamDefaultWriter');
      this.#w = lock(stateOf(stream, 'stream'));
    }
    static {
      writerOf = (o) => {
        if (!internal.isObject(o) || !(#w in o)) throw internal.wrongThis('WritableStreamDefaultWriter');
        return o.#w;
      };
    }
    get closed() {
      try { return writerOf(this).closed.promise; } catch (e) { return p.promiseReject(e); }
    }
    get desiredSize() { return desired(held(writerOf(this))); }
    get ready() {
      try { return writerOf(this).ready.promise; } catch (e) { return p.promiseReject(e); }
    }
    abort(reason = undefined) {
      try { return abort(held(writerOf(this)), reason); } catch (e) { return p.promiseReject(e); }
    }
    close() {
      try {
        const s = held(writerOf(this));
        if (closing(s)) throw streams.invalid('Failure to close WritableStream');
        return close(s);
      } catch (e) { return p.promiseReject(e); }
    }
    releaseLock() {
      const writer = writerOf(this);
      if (writer.stream !== undefined) streams.releaseWriter(writer);
    }
    write(chunk = undefined) {
      try {
        const writer = writerOf(this);
        held(writer);
        return streams.write(writer, chunk);
      } catch (e) { return p.promiseReject(e); }
    }
  }
  internal.expose(WritableStreamDefaultWriter);

  const held = (writer) => {
    if (writer.stream === undefined) throw streams.invalid('Writer is not bound to a WritableStream');
    return writer.stream;
  };
  const desired = (s) => {
    if (s.state === 'errored' || s.state === 'erroring') return null;
    return s.state === 'closed' ? 0 : s.controller.mark - s.controller.size;
  };
  const lock = (s) => {
    if (s.writer !== undefined) throw streams.invalid('WritableStream is locked');
    const writer = { __proto__: null, stream: s, ready: undefined, closed: undefined };
    s.writer = writer;
    const waits = s.state === 'writable' && !closing(s) && s.backpressure;
    const failing = s.state === 'erroring' || s.state === 'errored';
    writer.ready = waits ? deferred() : failing ? rejected(s.error) : resolved(undefined);
    writer.closed = s.state === 'closed' ? resolved(undefined) : s.state === 'errored' ? rejected(s.error) : deferred();
    return writer;
  };
  streams.acquireWriter = lock;
  streams.releaseWriter = (writer) => {
    const s = writer.stream, gone = streams.invalid('Writer is not bound to a WritableStream');
    rejectReady(writer, gone);
    if (writer.closed.settled) writer.closed = rejected(gone);
    else {
      writer.closed.reject(gone);
      handled(writer.closed.promise);
    }
    s.writer = undefined;
    writer.stream = undefined;
  };
  streams.write = (writer, chunk) => {
    const s = writer.stream, c = s.controller;
    let size = 1;
    if (c.measure !== undefined) {
      try { size = c.measure(chunk); } catch (e) { streams.errorIfWritable(c, e); }
    }
    if (writer.stream !== s) return p.promiseReject(streams.invalid('Writer is not bound to a WritableStream'));
    if (s.state === 'errored') return p.promiseReject(s.error);
    if (closing(s) || s.state === 'closed') return p.promiseReject(streams.invalid('WritableStream is closed'));
    if (s.state === 'erroring') return p.promiseReject(s.error);
    const done = deferred();
    streams.push(s.writes, done);
    try {
      size = streams.checkSize(size);
      streams.push(c.queue, { __proto__: null, chunk, size });
      c.size += size;
      if (!closing(s) && s.state === 'writable') setBackpressure(s, c.mark - c.size <= 0);
      advance(c);
    } catch (e) {
      streams.errorIfWritable(c, e);
    }
    return done.promise;
  };
  // closeQuietly is close that succeeds if the stream is already closing or closed.
  streams.closeQuietly = (s) => {
    if (closing(s) || s.state === 'closed') return streams.promise(undefined);
    return s.state === 'errored' ? p.promiseReject(s.error) : close(s);
  };
  streams.abortWritable = abort;
  streams.closingWritable = closing;
  streams.desiredWritable = desired;
  return internal;
}
