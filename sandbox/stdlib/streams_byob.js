// ReadableStreamBYOBReader, whose caller supplies the buffers, and ReadableStreamBYOBRequest, with which a source fills them.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  let requestOf, readerOf;

  class ReadableStreamBYOBRequest {
    #q;
    constructor(key = undefined, q = undefined) {
      internal.illegal(key);
      this.#q = q;
    }
    static {
      requestOf = (o) => {
        if (!internal.isObject(o) || !(#q in o)) throw new p.TypeError('not a ReadableStreamBYOBRequest');
        return o.#q;
      };
    }
    get view() { return requestOf(this).view; }
    respond(bytesWritten) {
      const q = requestOf(this);
      internal.need(arguments.length, 1, 'ReadableStreamBYOBRequest.respond');
      const n = internal.enforceRange(bytesWritten, 9007199254740991, 'bytesWritten');
      if (q.controller === undefined) throw new p.TypeError('the request is invalid');
      if (p.bufferDetached(p.typedBuffer(q.view))) throw new p.TypeError('the view was transferred');
      streams.respond(q.controller, n);
    }
    respondWithNewView(view) {
      const q = requestOf(this);
      internal.need(arguments.length, 1, 'ReadableStreamBYOBRequest.respondWithNewView');
      if (!p.isView(view)) throw new p.TypeError('not a view');
      if (q.controller === undefined) throw new p.TypeError('the request is invalid');
      const at = internal.span(view);
      if (!internal.isBuffer(at.buffer) || p.bufferDetached(at.buffer)) throw new p.TypeError('the view was transferred');
      streams.respondWith(q.controller, at);
    }
  }
  internal.expose(ReadableStreamBYOBRequest);

  streams.byobRequestObject = (q) => new ReadableStreamBYOBRequest(internal.key, q);

  class ReadableStreamBYOBReader {
    #r;
    constructor(stream) {
      internal.need(arguments.length, 1, 'ReadableStreamBYOBReader');
      const s = streams.readableOf(stream, 'stream');
      if (s.reader !== undefined) throw streams.invalid('ReadableStream is locked');
      if (!s.controller.byte) throw new p.TypeError('the stream is not a byte stream');
      this.#r = streams.lock(s, this, true);
    }
    static {
      readerOf = (o) => {
        if (!internal.isObject(o) || !(#r in o)) throw new p.TypeError('not a ReadableStreamBYOBReader');
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
    read(view, options = undefined) {
      try {
        const reader = readerOf(this);
        internal.need(arguments.length, 1, 'ReadableStreamBYOBReader.read');
        if (!p.isView(view)) throw new p.TypeError('not a view');
        const given = internal.dictionary(options, 'ReadableStreamBYOBReader.read: the options').min;
        const min = given === undefined ? 1 : internal.enforceRange(given, 9007199254740991, 'min');
        const at = internal.span(view);
        if (!internal.isBuffer(at.buffer)) throw new p.TypeError('the view is of shared memory');
        if (at.length === 0) throw new p.TypeError('the view is empty');
        if (p.bufferLength(at.buffer) === 0) throw new p.TypeError('the view\'s buffer is empty');
        if (p.bufferDetached(at.buffer)) throw new p.TypeError('the view was transferred');
        if (min === 0) throw new p.TypeError('min is 0');
        const elements = at.length / streams.elementSize(view);
        if (min > elements) throw new p.RangeError('min is larger than the view');
        if (reader.stream === undefined) throw streams.invalid('The reader is not attached to a stream');
        const request = streams.promised();
        streams.readInto(reader, view, min, request);
        return request.promise;
      } catch (e) { return p.promiseReject(e); }
    }
    releaseLock() {
      const reader = readerOf(this);
      if (reader.stream !== undefined) streams.unlock(reader);
    }
  }
  internal.expose(ReadableStreamBYOBReader);
  streams.byobReader = (s) => new ReadableStreamBYOBReader(s.object);
  streams.readInto = (reader, view, min, request) => {
    const s = reader.stream;
    s.disturbed = true;
    if (s.state === 'errored') request.error(s.error);
    else streams.pullInto(s.controller, view, min, request);
  };
  return internal;
}
