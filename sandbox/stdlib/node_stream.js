// Node's streams: Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished.
(host, internal) => {
  'use strict';
  const { modules, nodeError, define } = internal;
  const { Buffer } = modules.buffer;
  const EventEmitter = modules.events;
  const nextTick = (f, ...args) => internal.addTick(f, args);

  function Stream(options) { EventEmitter.call(this, options); }
  Object.setPrototypeOf(Stream, EventEmitter);
  Object.setPrototypeOf(Stream.prototype, EventEmitter.prototype);
  define(Stream.prototype, 'pipe', function pipe(to, options) { return Readable.prototype.pipe.call(this, to, options); });

  const destroyed = (stream, e, done) => {
    if (stream.destroyed) {
      done?.(e);
      return stream;
    }
    stream.destroyed = true;
    if (e) stream.errored = e;
    const after = (failure) => { // _destroy has the last word: without an error there is none
      if (failure) stream.errored = failure;
      done?.(failure ?? null);
      nextTick(() => {
        if (failure && !done) stream.emit('error', failure);
        stream.closed = true;
        if (stream._emitClose) stream.emit('close');
      });
    };
    try { stream._destroy(e ?? null, after); } catch (thrown) { after(thrown); }
    return stream;
  };
  const common = {
    destroy(e, done) { return destroyed(this, e, done); },
    _destroy(e, done) { done(e); },
    [Symbol.asyncDispose]() { this.destroy(); return Promise.resolve(); },
  };
  // destroyOnAbort destroys a stream when a signal is aborted, at once if it is already.
  const destroyOnAbort = (signal, stream) => {
    const abort = () => { stream.destroy(internal.nodeAborted(signal)); };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  };
  const setup = (stream, options, names) => {
    stream.destroyed = stream.closed = false;
    stream.errored = null;
    stream._emitClose = options.emitClose !== false;
    stream._autoDestroy = options.autoDestroy !== false;
    for (const [option, method] of names) if (typeof options[option] === 'function') stream[method] = options[option];
  };
  const sizeOf = (chunk, objectMode) => objectMode ? 1 : chunk.length;
  const mark = (options, side, objectMode) => options[side + 'HighWaterMark'] ?? options.highWaterMark ?? defaultMark(objectMode);
  const defaultMark = (objectMode) => objectMode ? 16 : 16384;
  // over destroys a stream once both of its sides have ended.
  const over = (s) => {
    if (s._autoDestroy && !s.destroyed && (s._r === undefined || s._r.ended) && (s._w === undefined || s._w.finished)) s.destroy();
  };

  function Readable(options = {}) {
    if (!(this instanceof Readable)) return new Readable(options);
    EventEmitter.call(this);
    setup(this, options, [['construct', '_construct'], ['read', '_read'], ['destroy', '_destroy']]);
    readableState(this, options);
    construct(this);
    if (options.signal) destroyOnAbort(options.signal, this);
  }
  Object.setPrototypeOf(Readable.prototype, Stream.prototype);
  Object.setPrototypeOf(Readable, Stream);
  const readableState = (stream, options) => {
    const objectMode = !!(options.objectMode || options.readableObjectMode);
    stream._r = { queue: new internal.Fifo(), size: 0, objectMode, mark: mark(options, 'readable', objectMode), flowing: null, reading: false, asking: true, eof: false, ended: false, pumping: false, pipes: [], decoder: null, encoding: null };
    if (options.encoding) stream.setEncoding(options.encoding);
  };

  // construct calls _construct before anything is read or written.
  const construct = (s) => {
    if (typeof s._construct !== 'function') return;
    s._constructing = true;
    let called = false;
    const done = (e) => {
      if (called) { s.destroy(e ?? nodeError(Error, 'ERR_MULTIPLE_CALLBACK', 'Callback called multiple times')); return; }
      called = true;
      s._constructing = false;
      if (e) { s.destroy(e); return; }
      nextTick(() => {
        s._w?.begin();
        if (s._r?.awaited) more(s);
      });
    };
    nextTick(() => { try { s._construct(done); } catch (e) { done(e); } });
  };
  const more = (s) => {
    const r = s._r;
    if (s._constructing) { r.awaited = true; return; }
    if (r.reading || r.eof || s.destroyed || r.size >= r.mark && r.mark > 0) return;
    r.reading = true;
    r.asking = true;
    try { s._read(r.mark); } catch (e) { s.destroy(e); }
    r.asking = false;
  };
  const ending = (s) => {
    const r = s._r;
    if (r.ended || !r.eof || r.queue.length > 0 || s.destroyed) return;
    r.ended = true;
    nextTick(() => {
      if (s.destroyed && s.errored) return;
      s.emit('end');
      if (s._w !== undefined && s.allowHalfOpen === false) s.end();
      over(s);
    });
  };
  const pump = (s) => {
    const r = s._r;
    if (r.pumping) return;
    r.pumping = true;
    nextTick(() => {
      r.pumping = false;
      while (r.flowing && r.queue.length > 0 && !s.destroyed) {
        const chunk = r.queue.shift();
        r.size -= sizeOf(chunk, r.objectMode);
        s.emit('data', chunk);
      }
      if (s.destroyed) return;
      if (r.flowing) more(s);
      else if (r.queue.length > 0 || r.eof) {
        if (s.listenerCount('readable') > 0 && !r.ended) s.emit('readable');
      }
      if (r.flowing || r.queue.length === 0) if (r.flowing !== null || s.listenerCount('readable') > 0) ending(s);
    });
  };

  Object.assign(Readable.prototype, common, {
    _read() { throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _read() method is not implemented'); },
    push(chunk, encoding) {
      const r = this._r;
      r.reading = false;
      if (chunk === null) {
        if (r.eof) return false;
        r.eof = true;
        const rest = r.decoder?.end();
        if (rest) { r.queue.push(rest); r.size += rest.length; }
        pump(this);
        return false;
      }
      if (r.eof) { this.destroy(nodeError(Error, 'ERR_STREAM_PUSH_AFTER_EOF', 'stream.push() after EOF')); return false; }
      if (!r.objectMode) {
        if (typeof chunk === 'string') chunk = Buffer.from(chunk, encoding);
        else if (ArrayBuffer.isView(chunk) && !(chunk instanceof Buffer)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        else if (!(chunk instanceof Buffer)) { this.destroy(internal.nodeWrongType('chunk', 'of type string or an instance of Buffer, TypedArray, or DataView', chunk)); return false; }
        if (r.decoder) chunk = r.decoder.write(chunk);
        if (chunk.length === 0) { if (r.flowing) pump(this); return r.size < r.mark; }
      }
      if (this.destroyed) return false;
      // What is pushed after the first _read, and outside it, goes straight to the listeners of a stream that flows, as in Node.
      if (r.flowing && r.queue.length === 0 && !r.asking && this.listenerCount('data') > 0) this.emit('data', chunk);
      else {
        r.queue.push(chunk);
        r.size += sizeOf(chunk, r.objectMode);
      }
      pump(this);
      return r.size < r.mark;
    },
    unshift(chunk, encoding) {
      const r = this._r;
      if (typeof chunk === 'string' && !r.objectMode && !r.decoder) chunk = Buffer.from(chunk, encoding);
      r.queue.unshift(chunk);
      r.size += sizeOf(chunk, r.objectMode);
      pump(this);
    },
    read(n) {
      const r = this._r;
      if (n === 0 || r.queue.length === 0) { more(this); if (r.queue.length === 0) { ending(this); return null; } }
      let chunk;
      if (r.objectMode) chunk = r.queue.shift();
      else {
        const list = r.queue.take(), all = r.decoder ? list.join('') : list.length === 1 ? list[0] : Buffer.concat(list);
        if (n !== undefined && n < all.length) {
          chunk = all.slice(0, n);
          r.queue.push(all.slice(n));
        } else if (n !== undefined && n > all.length && !r.eof) {
          r.queue.push(all);
          more(this);
          return null;
        } else chunk = all;
      }
      r.size -= sizeOf(chunk, r.objectMode);
      if (r.flowing !== true) this.emit('data', chunk);
      more(this);
      if (r.eof && r.queue.length === 0) ending(this);
      return chunk;
    },
    setEncoding(encoding) {
      const { StringDecoder } = modules.string_decoder;
      const r = this._r;
      r.decoder = new StringDecoder(encoding);
      r.encoding = r.decoder.encoding;
      const text = r.queue.take().map((c) => r.decoder.write(c)).join('');
      if (text !== '') r.queue.push(text);
      r.size = text.length;
      return this;
    },
    on(type, f) {
      EventEmitter.prototype.on.call(this, type, f);
      if (type === 'data' && this._r?.flowing !== false && this.listenerCount('readable') === 0) this.resume();
      if (type === 'readable' && this._r) { this._r.flowing = false; nextTick(() => { more(this); pump(this); }); }
      return this;
    },
    addListener(type, f) { return this.on(type, f); },
    pause() { this._r.flowing = false; this.emit('pause'); return this; },
    resume() {
      const r = this._r;
      if (!r.flowing) { r.flowing = true; nextTick(() => { if (r.flowing) this.emit('resume'); more(this); pump(this); }); }
      return this;
    },
    isPaused() { return this._r.flowing === false; },
    pipe(to, options) {
      const from = this;
      const data = (chunk) => { if (to.write(chunk) === false) from.pause(); };
      const drain = () => from.resume();
      const end = () => to.end();
      const undo = () => {
        from.removeListener('data', data);
        from.removeListener('end', end);
        to.removeListener('drain', drain);
        to.removeListener('close', undo);
      };
      from.on('data', data);
      to.on('drain', drain);
      to.on('close', undo);
      if (options?.end !== false && to !== process.stdout && to !== process.stderr) from.once('end', end);
      from._r?.pipes.push({ to, undo });
      to.emit('pipe', from);
      return to;
    },
    unpipe(to) {
      for (const pipe of this._r.pipes.filter((x) => to === undefined || x.to === to)) { pipe.undo(); pipe.to.emit('unpipe', this); }
      this._r.pipes = this._r.pipes.filter((x) => to !== undefined && x.to !== to);
      if (this._r.pipes.length === 0) this.pause();
      return this;
    },
    async* [Symbol.asyncIterator]() {
      const waiting = [];
      let ended = false, failure;
      const wake = () => { for (const w of waiting.splice(0)) w(); };
      const stop = finished(this, { writable: false }, (e) => { ended = true; failure = e; wake(); });
      this.on('readable', wake);
      try {
        for (;;) {
          const chunk = this.destroyed ? null : this.read();
          if (chunk !== null) yield chunk;
          else if (failure) throw failure;
          else if (ended) return;
          else await new Promise((resolve) => waiting.push(resolve));
        }
      } finally {
        this.removeListener('readable', wake);
        stop();
        if (!this.destroyed && (!ended || this._autoDestroy)) this.destroy();
      }
    },
    iterator() { return this[Symbol.asyncIterator](); },
  });
  const getters = (proto, list) => {
    for (const name of Object.keys(list)) Object.defineProperty(proto, name, { __proto__: null, configurable: true, get() { return list[name](this); } });
  };
  getters(Readable.prototype, {
    readable: (s) => !s.destroyed && !s._r.ended, readableEnded: (s) => s._r.ended, readableFlowing: (s) => s._r.flowing, readableLength: (s) => s._r.size,
    readableHighWaterMark: (s) => s._r.mark, readableObjectMode: (s) => s._r.objectMode, readableEncoding: (s) => s._r.encoding, readableAborted: (s) => s.destroyed && !s._r.ended, readableDidRead: (s) => s._r.flowing !== null,
  });
  // stateView defines what libraries read of Node's state of a stream, and the mode that some of them set there.
  const stateView = (proto, name, field, fields) => {
    class View {
      #stream;
      constructor(stream) { this.#stream = stream; }
      get objectMode() { return this.#stream[field].objectMode; }
      set objectMode(v) { this.#stream[field].objectMode = !!v; }
      static { for (const key of Object.keys(fields)) Object.defineProperty(View.prototype, key, { __proto__: null, configurable: true, get() { return fields[key](this.#stream[field], this.#stream); }, set(_) {} }); }
    }
    Object.defineProperty(proto, name, {
      __proto__: null, configurable: true,
      get() { return this[field] === undefined ? undefined : new View(this); },
      set(v) { define(this, name, v); },
    });
  };
  const commonState = { highWaterMark: (x) => x.mark, length: (x) => x.size, destroyed: (_, s) => s.destroyed, closed: (_, s) => s.closed, errored: (_, s) => s.errored, autoDestroy: (_, s) => s._autoDestroy, emitClose: (_, s) => s._emitClose, sync: () => false };
  stateView(Readable.prototype, '_readableState', '_r', { ...commonState, flowing: (r) => r.flowing, ended: (r) => r.eof, endEmitted: (r) => r.ended, reading: (r) => r.reading, buffer: (r) => r.queue.items(), encoding: (r) => r.encoding, decoder: (r) => r.decoder, pipes: (r) => r.pipes.map(({ to }) => to) });
  // iterated returns the methods of a stream that reads from an iterable.
  const iterated = (source) => {
    const waits = typeof source[Symbol.asyncIterator] === 'function';
    const iterator = waits ? source[Symbol.asyncIterator]() : source[Symbol.iterator]?.();
    if (iterator === undefined) throw internal.nodeWrongType('iterable', 'an instance of Iterable', source);
    let reading = false;
    const next = async (stream) => {
      try {
        for (;;) {
          const result = iterator.next(), { value, done } = waits ? await result : result;
          if (done) { stream.push(null); return; }
          const chunk = typeof value?.then === 'function' ? await value : value;
          if (chunk === null) throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
          if (!stream.push(chunk)) { reading = false; return; }
        }
      } catch (e) { stream.destroy(e); }
    };
    return {
      read() {
        if (reading) return;
        reading = true;
        next(this);
      },
      destroy(e, done) { Promise.resolve(iterator.return?.()).then(() => done(e), done); },
    };
  };
  Readable.from = (source, options) => {
    if (typeof source === 'string' || source instanceof Uint8Array) {
      return new Readable({ objectMode: true, ...options, read() { this.push(source); this.push(null); } });
    }
    return new Readable({ objectMode: true, highWaterMark: 1, ...options, ...iterated(source) });
  };
  Readable.fromWeb = (web, options) => Readable.from((async function* () {
    const reader = web.getReader();
    try { for (;;) { const { value, done } = await reader.read(); if (done) return; yield value instanceof Uint8Array ? Buffer.from(value) : value; } } finally { reader.releaseLock(); }
  })(), { objectMode: false, ...options });
  Readable.toWeb = (stream) => {
    const iterator = stream[Symbol.asyncIterator]();
    return new ReadableStream({
      async pull(c) { const { value, done } = await iterator.next(); if (done) c.close(); else c.enqueue(value instanceof Buffer && !stream._r?.objectMode ? new Uint8Array(value) : value); },
      cancel(reason) { stream.destroy(reason); },
    });
  };

  internal.nodeStream = { destroyOnAbort, stateView, commonState, Stream, Readable, common, setup, over, mark, sizeOf, getters, readableState, construct, defaultMark, nextTick, iterated };
  // Streams of libraries, such as copies of older streams, have the properties of Node's.
  const reads = (s) => s._r !== undefined || s._w === undefined && (s._readableState ? s._readableState.readable !== false : s.readable === true && typeof s.pipe === 'function');
  const writes = (s) => s._w !== undefined || s._r === undefined && typeof s.write === 'function' && typeof s.end === 'function';
  const hasEnded = (s) => s._r?.ended ?? s._readableState?.endEmitted ?? s.readableEnded === true;
  const hasFinished = (s) => s._w?.finished ?? s._writableState?.finished ?? s.writableFinished === true;
  const finished = (stream, options, done) => {
    if (typeof options === 'function') { done = options; options = {}; }
    let left = 0, over = false;
    const call = (e) => { if (!over) { over = true; undo(); done.call(stream, e); } };
    const step = () => { if (--left === 0) call(); };
    const listeners = [];
    const listen = (type, f) => { stream.on(type, f); listeners.push([type, f]); };
    const undo = () => { for (const [type, f] of listeners) stream.removeListener(type, f); };
    const wantsRead = options.readable !== false && reads(stream), wantsWrite = options.writable !== false && writes(stream);
    if (wantsRead && !hasEnded(stream)) { left++; listen('end', step); }
    if (wantsWrite && !hasFinished(stream)) { left++; listen('finish', step); }
    if (options.error !== false) listen('error', call);
    listen('close', () => {
      if (left > 0 && !stream.errored) call(nodeError(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close'));
      else call(stream.errored ?? undefined);
    });
    if (left === 0 || stream.closed) nextTick(() => { if (left === 0) call(stream.errored ?? undefined); else if (stream.closed) call(stream.errored ?? nodeError(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close')); });
    const { signal } = options;
    if (signal?.aborted) nextTick(() => call(internal.nodeAborted(signal)));
    else signal?.addEventListener('abort', () => call(internal.nodeAborted(signal)), { once: true });
    return undo;
  };
  internal.nodeStream.finished = finished;
  // This stdin is empty; node_readline.js replaces it.
  const stdin = new Readable({ read() { this.push(null); } });
  Object.assign(stdin, { fd: 0 });
  internal.define(stdin, 'toJSON', () => null);
  globalThis.process.stdin = stdin;
  return internal;
}
