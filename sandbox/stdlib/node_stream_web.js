// Node's streams as streams of the web, and the other way around.
(host, internal) => {
  'use strict';
  const { modules, streams } = internal;
  const { Buffer } = modules.buffer;
  const { Readable, Writable, Duplex, finished, destroy } = modules.stream;
  const { codes, AbortError, utils, validators } = internal.nodeStream;
  const { validateObject, validateBoolean } = validators;
  const { ReadableStream, WritableStream, CountQueuingStrategy, ByteLengthQueuingStrategy } = globalThis;
  const { nextTick } = globalThis.process;

  // What streams of the web show of themselves to finished and the like.
  const shown = (C, stateOf, getters) => {
    for (const [name, get] of Object.entries(getters)) {
      Object.defineProperty(C.prototype, Symbol.for(name), { __proto__: null, configurable: true, get() { return get(stateOf(this)); } });
    }
  };
  // over returns {promise}, whose promise settles with the stream.
  const over = (s) => {
    if (s.over === undefined) {
      s.over = streams.deferred();
      streams.handled(s.over.promise);
      if (s.state === 'closed') s.over.resolve(undefined);
      else if (s.state === 'errored') s.over.reject(s.error);
    }
    return s.over;
  };
  shown(ReadableStream, (o) => streams.readableOf(o), {
    'nodejs.stream.disturbed': (s) => s.disturbed, 'nodejs.stream.errored': (s) => s.state === 'errored', 'nodejs.stream.readable': (s) => s.state === 'readable',
    'nodejs.webstream.isClosedPromise': over,
    'nodejs.webstream.controllerErrorFunction': (s) => (e) => { (s.controller.byte ? streams.errorBytes : streams.errorDefault)(s.controller, e); },
  });
  shown(WritableStream, (o) => streams.writableOf(o), {
    'nodejs.stream.errored': (s) => s.state === 'errored', 'nodejs.stream.writable': (s) => s.state === 'writable',
    'nodejs.webstream.isClosedPromise': over,
    'nodejs.webstream.controllerErrorFunction': (s) => (e) => { streams.errorIfWritable(s.controller, e); },
  });

  const wrong = (name, want, v) => new codes.ERR_INVALID_ARG_TYPE(name, want, v);
  const known = (e) => {
    if (e?.code === 'ERR_STREAM_PREMATURE_CLOSE') return new AbortError(undefined, { cause: e });
    if (typeof e?.code === 'string' && /^Z_[A-Z_]+$/.test(e.code)) return internal.nodeError(TypeError, e.code, e.message);
    return e;
  };
  const ignored = () => {};

  Writable.toWeb = function (streamWritable) {
    if (typeof streamWritable?._writableState !== 'object') throw wrong('streamWritable', 'stream.Writable', streamWritable);
    if (utils.isDestroyed(streamWritable) || !utils.isWritable(streamWritable)) {
      const closed = new WritableStream();
      closed.close();
      return closed;
    }
    const highWaterMark = streamWritable.writableHighWaterMark;
    let controller, room, closing;
    const undo = finished(streamWritable, (e) => {
      e = known(e);
      undo();
      streamWritable.on('error', ignored);
      if (e != null) {
        room?.reject(e);
        closing?.reject(e);
        closing = undefined;
        controller.error(e);
      } else if (closing !== undefined) {
        closing.resolve();
        closing = undefined;
      } else controller.error(new AbortError());
    });
    streamWritable.on('drain', () => room?.resolve());
    return new WritableStream({
      start(c) { controller = c; },
      write(chunk) {
        if (!streamWritable.writableNeedDrain && streamWritable.write(chunk)) return undefined;
        room = Promise.withResolvers();
        return room.promise.finally(() => { room = undefined; });
      },
      abort(reason) { destroy(streamWritable, reason); },
      close() {
        if (closing === undefined && !utils.isWritableEnded(streamWritable)) {
          closing = Promise.withResolvers();
          streamWritable.end();
        }
        return closing?.promise;
      },
    }, streamWritable.writableObjectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark });
  };

  Readable.toWeb = function (streamReadable, options = {}) {
    if (typeof streamReadable?._readableState !== 'object') throw wrong('streamReadable', 'stream.Readable', streamReadable);
    if (utils.isDestroyed(streamReadable) || !utils.isReadable(streamReadable)) {
      const cancelled = new ReadableStream();
      cancelled.cancel();
      return cancelled;
    }
    const { readableObjectMode, readableHighWaterMark: highWaterMark } = streamReadable;
    let controller, cancelled = false;
    streamReadable.pause();
    const undo = finished(streamReadable, (e) => {
      e = known(e);
      undo();
      streamReadable.on('error', ignored);
      if (e) controller.error(e);
      else if (!cancelled) controller.close();
    });
    streamReadable.on('data', (chunk) => {
      if (Buffer.isBuffer(chunk) && !readableObjectMode) chunk = new Uint8Array(chunk);
      controller.enqueue(chunk);
      if (controller.desiredSize <= 0) streamReadable.pause();
    });
    return new ReadableStream({
      start(c) { controller = c; },
      pull() { streamReadable.resume(); },
      cancel(reason) {
        cancelled = true;
        destroy(streamReadable, reason);
      },
    }, options?.strategy ?? (readableObjectMode ? new CountQueuingStrategy({ highWaterMark }) : new ByteLengthQueuingStrategy({ highWaterMark })));
  };

  // reading adds what reads from a stream of the web to the options of a stream of Node, and writing what writes to one.
  // stops has, for each, what ends it when the stream is destroyed; made returns that stream.
  const reading = (web, options, stops, made) => {
    const reader = web.getReader();
    let closed = false;
    options.read = () => { reader.read().then(({ value, done }) => { made().push(done ? null : value); }, (e) => destroy(made(), e)); };
    stops.push((e) => closed ? undefined : reader.cancel(e));
    reader.closed.then(() => { closed = true; }, (e) => {
      closed = true;
      destroy(made(), e);
    });
  };
  const writing = (web, options, stops, made) => {
    const writer = web.getWriter(), decodes = options.decodeStrings && !options.objectMode;
    let closed = false;
    // once returns a callback whose own error destroys the stream.
    const once = (done) => (e) => { try { done(e); } catch (thrown) { nextTick(() => destroy(made(), thrown)); } };
    const write = ({ chunk, encoding }) => {
      if (typeof chunk === 'string' && decodes) {
        const b = Buffer.from(chunk, encoding);
        chunk = new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
      }
      return writer.write(chunk);
    };
    options.write = (chunk, encoding, done) => {
      const over = once(done);
      writer.ready.then(() => write({ chunk, encoding }).then(over, over), over);
    };
    options.writev = (chunks, done) => {
      const over = once(done);
      writer.ready.then(() => Promise.all(chunks.map(write)).then(() => over(), over), over);
    };
    options.final = (done) => {
      const over = once(done);
      if (!closed) writer.close().then(over, over);
    };
    stops.push((e) => closed ? undefined : e != null ? writer.abort(e) : writer.close());
    writer.closed.then(() => {
      closed = true;
      if (!utils.isWritableEnded(made())) destroy(made(), new codes.ERR_STREAM_PREMATURE_CLOSE());
    }, (e) => {
      closed = true;
      destroy(made(), e);
    });
  };
  const stopping = (stops) => (e, done) => {
    const over = () => { try { done(e); } catch (thrown) { nextTick(() => { throw thrown; }); } };
    const pending = stops.map((stop) => stop(e)).filter((promise) => promise !== undefined);
    if (pending.length === 0) over();
    else Promise.all(pending).then(over, over);
  };
  const isReadableStream = (v) => streams.isReadable(v);
  const isWritableStream = (v) => { try { return streams.writableOf(v) !== undefined; } catch { return false; } };
  // wrapped returns a stream of class C over streams of the web.
  const wrapped = (C, readable, writable, given) => {
    validateObject(given, 'options');
    const { objectMode = false, decodeStrings = true, allowHalfOpen = false, encoding, highWaterMark, signal } = given;
    validateBoolean(objectMode, 'options.objectMode');
    if (writable !== undefined) validateBoolean(decodeStrings, 'options.decodeStrings');
    if (readable !== undefined && encoding !== undefined && !Buffer.isEncoding(encoding)) throw new codes.ERR_INVALID_ARG_VALUE('options.encoding', encoding);
    const options = { objectMode, decodeStrings, allowHalfOpen, encoding, highWaterMark, signal }, stops = [], made = () => stream;
    if (writable !== undefined) writing(writable, options, stops, made);
    if (readable !== undefined) reading(readable, options, stops, made);
    const stream = new C({ ...options, destroy: stopping(stops) });
    return stream;
  };
  Readable.fromWeb = function (readableStream, options = {}) {
    if (!isReadableStream(readableStream)) throw wrong('readableStream', 'ReadableStream', readableStream);
    return wrapped(Readable, readableStream, undefined, options);
  };
  Writable.fromWeb = function (writableStream, options = {}) {
    if (!isWritableStream(writableStream)) throw wrong('writableStream', 'WritableStream', writableStream);
    return wrapped(Writable, undefined, writableStream, options);
  };
  Duplex.fromWeb = function (pair = {}, options = {}) {
    validateObject(pair, 'pair');
    const { readable, writable } = pair;
    if (!isReadableStream(readable)) throw wrong('pair.readable', 'ReadableStream', readable);
    if (!isWritableStream(writable)) throw wrong('pair.writable', 'WritableStream', writable);
    return wrapped(Duplex, readable, writable, options);
  };
  Duplex.toWeb = function (duplex) {
    if (typeof duplex?._writableState !== 'object' || typeof duplex?._readableState !== 'object') throw wrong('duplex', 'stream.Duplex', duplex);
    return { writable: Writable.toWeb(duplex), readable: Readable.toWeb(duplex) };
  };

  const web = modules['stream/web'] = {};
  for (const name of ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamBYOBReader', 'ReadableStreamBYOBRequest', 'ReadableByteStreamController', 'ReadableStreamDefaultController',
    'TransformStream', 'TransformStreamDefaultController', 'WritableStream', 'WritableStreamDefaultController', 'WritableStreamDefaultWriter', 'ByteLengthQueuingStrategy', 'CountQueuingStrategy',
    'TextEncoderStream', 'TextDecoderStream', 'CompressionStream', 'DecompressionStream']) web[name] = globalThis[name];
  return internal;
}
