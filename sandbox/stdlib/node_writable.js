// The writable side of Node's streams.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const EventEmitter = modules.events;
  const { destroyOnAbort, Stream, Readable, common, stateView, commonState, setup, over, mark, sizeOf, getters, readableState, construct, defaultMark, nextTick, finished } = internal.nodeStream;

  function Writable(options = {}) {
    if (!(this instanceof Writable)) return new Writable(options);
    EventEmitter.call(this);
    setup(this, options, [['construct', '_construct'], ['write', '_write'], ['writev', '_writev'], ['final', '_final'], ['destroy', '_destroy']]);
    writableState(this, options);
    construct(this);
    if (options.signal) destroyOnAbort(options.signal, this);
  }
  Object.setPrototypeOf(Writable.prototype, Stream.prototype);
  Object.setPrototypeOf(Writable, Stream);
  const writableState = (stream, options) => {
    const objectMode = !!(options.objectMode || options.writableObjectMode);
    stream._w = { queue: new internal.Fifo(), size: 0, objectMode, mark: mark(options, 'writable', objectMode), writing: false, needDrain: false, ending: false, finished: false, corked: 0, decode: options.decodeStrings !== false, encoding: options.defaultEncoding ?? 'utf8', finalising: false, ends: [], pending: 0, working: false, settling: false, begin: () => { work(stream); finishMaybe(stream, true); } };
  };

  // A write that is over while _write runs calls back in the next tick, and only if somebody waits for it.
  const dispatch = (s, batch, chunk, encoding) => {
    const w = s._w;
    let sync = true, called = false;
    w.writing = true;
    const done = (e) => {
      if (called) { s.destroy(nodeError(Error, 'ERR_MULTIPLE_CALLBACK', 'Callback called multiple times')); return; }
      called = true;
      w.writing = false;
      for (const entry of batch) w.size -= entry.size;
      if (e) {
        s.errored ??= e;
        if (sync) nextTick(failed, s, batch, e);
        else failed(s, batch, e);
        return;
      }
      if (w.queue.length > 0) work(s);
      if (!sync) { settled(s, batch); return; }
      const silent = batch.every((entry) => entry.done === undefined), drains = w.needDrain && w.size === 0 || w.objectMode;
      if (!silent || drains && !w.settling) {
        w.settling ||= silent;
        nextTick(settled, s, batch);
      } else {
        w.pending -= batch.length;
        finishMaybe(s, true);
      }
    };
    try {
      if (s.destroyed) done(nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed'));
      else if (chunk === undefined) s._writev(batch.map(({ chunk, encoding }) => ({ chunk, encoding })), done);
      else s._write(chunk, encoding, done);
    } finally { sync = false; }
  };
  const settled = (s, list) => {
    const w = s._w;
    w.settling = false;
    if (w.needDrain && w.size === 0 && !w.ending && !s.destroyed) { w.needDrain = false; s.emit('drain'); }
    for (const entry of list) { w.pending--; entry.done?.(null); }
    if (s.destroyed) refuseAll(s);
    finishMaybe(s, true);
  };
  const failed = (s, batch, e) => {
    for (const entry of batch) { s._w.pending--; entry.done?.(e); }
    refuseAll(s);
    s.errored = null; // destroy sets it
    s.destroy(e);
  };
  // refuseAll calls back what waits behind an error or a destruction.
  const refuseAll = (s) => {
    const w = s._w;
    if (w.writing) return;
    const e = (method) => s.errored ?? nodeError(Error, 'ERR_STREAM_DESTROYED', `Cannot call ${method} after a stream was destroyed`);
    for (const entry of w.queue.take()) {
      w.size -= entry.size;
      w.pending--;
      entry.done?.(e('write'));
    }
    for (const done of w.ends.splice(0)) done(e('end'));
  };
  // work writes what waits, until a write is not over at once.
  const work = (s) => {
    const w = s._w;
    if (w.writing || w.working || w.corked > 0 || s.destroyed || s._constructing) return;
    w.working = true;
    try {
      if (s._writev && w.queue.length > 1) dispatch(s, w.queue.take());
      else while (w.queue.length > 0 && !w.writing) {
        const entry = w.queue.shift();
        dispatch(s, [entry], entry.chunk, entry.encoding);
      }
    } finally { w.working = false; }
  };
  const canFinish = (s) => { const w = s._w; return w.ending && !s.destroyed && !s._constructing && w.size === 0 && !s.errored && w.queue.length === 0 && !w.finished && !w.writing; };
  const finishMaybe = (s, sync) => {
    const w = s._w;
    if (!canFinish(s)) return;
    if (!w.finalising) finalise(s);
    if (w.pending > 0) return;
    w.pending++;
    const finish = () => {
      if (canFinish(s)) finishNow(s);
      else w.pending--;
    };
    if (sync) nextTick(finish);
    else finish();
  };
  const finishNow = (s) => {
    const w = s._w;
    w.pending--;
    w.finished = true;
    for (const done of w.ends.splice(0)) done(null);
    s.emit('finish');
    over(s);
  };
  const finalise = (s) => {
    const w = s._w;
    w.finalising = true;
    if (typeof s._final !== 'function') { s.emit('prefinish'); return; }
    let called = false;
    const done = (e) => {
      if (called) { s.destroy(e ?? nodeError(Error, 'ERR_MULTIPLE_CALLBACK', 'Callback called multiple times')); return; }
      called = true;
      w.pending--;
      if (e) {
        for (const end of w.ends.splice(0)) end(e);
        s.destroy(e);
      } else if (canFinish(s)) {
        s.emit('prefinish');
        w.pending++;
        nextTick(finishNow, s);
      }
    };
    w.pending++;
    try { s._final(done); } catch (e) { done(e); }
  };

  const writable = Object.assign({}, common, {
    destroy(e, done) {
      if (!this.destroyed && (this._w.queue.length > 0 || this._w.ends.length > 0)) nextTick(refuseAll, this);
      return common.destroy.call(this, e, done);
    },
    _write(chunk, encoding, done) {
      if (this._writev) this._writev([{ chunk, encoding }], done);
      else throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _write() method is not implemented');
    },
    write(chunk, encoding, done) {
      const w = this._w;
      if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
      encoding ??= w.encoding;
      if (chunk === null) throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
      if (!w.objectMode) {
        if (typeof chunk === 'string') { if (w.decode) { chunk = Buffer.from(chunk, encoding); encoding = 'buffer'; } } else if (ArrayBuffer.isView(chunk)) {
          if (!(chunk instanceof Buffer)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
          encoding = 'buffer';
        } else throw internal.nodeWrongType('chunk', 'of type string or an instance of Buffer, TypedArray, or DataView', chunk);
      }
      const refused = w.ending ? nodeError(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end') : this.destroyed ? nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed') : undefined;
      if (refused) {
        nextTick(() => done?.(refused));
        if (w.ending) this.destroy(refused);
        return false;
      }
      const size = sizeOf(chunk, w.objectMode), entry = { chunk, encoding, done, size };
      w.pending++;
      w.size += size;
      if (w.writing || w.corked > 0 || this.errored || this._constructing) w.queue.push(entry);
      else dispatch(this, [entry], chunk, encoding);
      const room = w.size < w.mark || w.size === 0;
      if (!room) w.needDrain = true;
      return room && !this.errored && !this.destroyed;
    },
    end(chunk, encoding, done) {
      const w = this._w;
      if (typeof chunk === 'function') { done = chunk; chunk = undefined; } else if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
      if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
      if (w.corked > 0) {
        w.corked = 1;
        this.uncork();
      }
      let refused;
      if (!this.errored && !w.ending) {
        w.ending = true;
        finishMaybe(this, true);
      } else if (w.finished) refused = nodeError(Error, 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished');
      else if (this.destroyed) refused = nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call end after a stream was destroyed');
      if (typeof done === 'function') {
        if (refused !== undefined || w.finished) nextTick(done, refused);
        else w.ends.push(done);
      }
      return this;
    },
    cork() { this._w.corked++; },
    uncork() { if (this._w.corked > 0 && --this._w.corked === 0) work(this); },
    setDefaultEncoding(encoding) { this._w.encoding = internal.nodeEncoding(encoding); return this; },
  });
  const writableGetters = {
    writable: (s) => !s.destroyed && !s._w.ending, writableEnded: (s) => s._w.ending, writableFinished: (s) => s._w.finished, writableLength: (s) => s._w.size,
    writableHighWaterMark: (s) => s._w.mark, writableObjectMode: (s) => s._w.objectMode, writableNeedDrain: (s) => s._w.needDrain, writableCorked: (s) => s._w.corked,
  };
  Object.assign(Writable.prototype, writable);
  getters(Writable.prototype, writableGetters);
  const seen = { ...commonState, ending: (w) => w.ending, ended: (w) => w.ending, finished: (w) => w.finished, writing: (w) => w.writing, needDrain: (w) => w.needDrain, corked: (w) => w.corked, defaultEncoding: (w) => w.encoding };
  stateView(Writable.prototype, '_writableState', '_w', seen);
  Object.defineProperty(Writable, Symbol.hasInstance, {
    value(o) {
      const has = Function.prototype[Symbol.hasInstance];
      return has.call(this, o) || this === Writable && has.call(Duplex, o);
    },
  });
  Writable.prototype.pipe = function () { this.destroy(nodeError(Error, 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable')); };

  function Duplex(options = {}) {
    if (!(this instanceof Duplex)) return new Duplex(options);
    EventEmitter.call(this);
    setup(this, options, [['construct', '_construct'], ['read', '_read'], ['write', '_write'], ['writev', '_writev'], ['final', '_final'], ['destroy', '_destroy']]);
    readableState(this, options);
    writableState(this, options);
    if (options.readable === false) this._r.eof = this._r.ended = true;
    if (options.writable === false) this._w.ending = this._w.finished = true;
    this.allowHalfOpen = options.allowHalfOpen !== false;
    construct(this);
    if (options.signal) destroyOnAbort(options.signal, this);
  }
  Object.setPrototypeOf(Duplex.prototype, Readable.prototype);
  Object.setPrototypeOf(Duplex, Readable);
  Object.assign(Duplex.prototype, writable);
  getters(Duplex.prototype, writableGetters);
  stateView(Duplex.prototype, '_writableState', '_w', seen);

  function Transform(options = {}) {
    if (!(this instanceof Transform)) return new Transform(options);
    Duplex.call(this, options);
    this._pending = null;
    this._r.asking = false;
    if (typeof options.transform === 'function') this._transform = options.transform;
    if (typeof options.flush === 'function') this._flush = options.flush;
  }
  Object.setPrototypeOf(Transform.prototype, Duplex.prototype);
  Object.setPrototypeOf(Transform, Duplex);
  Object.assign(Transform.prototype, {
    _transform() { throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _transform() method is not implemented'); },
    _write(chunk, encoding, done) {
      this._transform(chunk, encoding, (e, out) => {
        if (e) { done(e); return; }
        if (out !== undefined && out !== null) this.push(out);
        if (this._r.size < this._r.mark || this._r.mark === 0) done();
        else this._pending = done;
      });
    },
    _read() {
      const done = this._pending;
      this._pending = null;
      this._r.reading = false;
      done?.();
    },
    _final(done) {
      const end = (e, out) => {
        if (e) { done(e); return; }
        if (out !== undefined && out !== null) this.push(out);
        this.push(null);
        done();
      };
      if (this._flush) this._flush(end);
      else end();
    },
  });
  function PassThrough(options) {
    if (!(this instanceof PassThrough)) return new PassThrough(options);
    Transform.call(this, options);
  }
  Object.setPrototypeOf(PassThrough.prototype, Transform.prototype);
  Object.setPrototypeOf(PassThrough, Transform);
  PassThrough.prototype._transform = (chunk, encoding, done) => done(null, chunk);
  for (const C of [Readable, Writable, Duplex, Transform, PassThrough]) Object.defineProperty(C.prototype, 'constructor', { value: C, writable: true, configurable: true });

  const isIterable = (v) => typeof v?.[Symbol.asyncIterator] === 'function' || typeof v?.[Symbol.iterator] === 'function';
  const pipeline = (...streams) => {
    const done = typeof streams[streams.length - 1] === 'function' && (streams.length > 2 || streams[streams.length - 1].length <= 2) ? streams.pop() : () => {};
    const list = streams.flat();
    let options = {};
    const last = list[list.length - 1];
    if (last !== null && typeof last === 'object' && typeof last.on !== 'function' && !isIterable(last)) options = list.pop();
    if (list.length < 2) throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
    let over = false, current, value;
    // Functions get a signal that says that the pipeline is over.
    const all = [], ending = new AbortController(), { signal } = options;
    const finish = (e) => {
      if (over) return;
      over = true;
      signal?.removeEventListener('abort', stop);
      ending.abort();
      if (e) for (const s of all) if (!s.destroyed) { s.on('error', () => {}); s.destroy(e); }
      done(e ?? undefined, value);
    };
    const stop = () => finish(internal.nodeAborted(signal));
    let left = 0;
    const watch = (s, reads, writes) => {
      all.push(s);
      left++;
      finished(s, { readable: reads, writable: writes }, (e) => { if (e) finish(e); else if (--left === 0) finish(); });
    };
    list.forEach((step, i) => {
      const first = i === 0, final = i === list.length - 1;
      if (typeof step === 'function') {
        const out = step(current, { signal: ending.signal });
        if (final && typeof out?.then === 'function') {
          left++;
          out.then((v) => { value = v; if (--left === 0) finish(); }, finish);
          return;
        }
        current = isIterable(out) && out._r === undefined ? Readable.from(out) : out;
        watch(current, !final, false);
        if (final) current.resume();
        return;
      }
      if (first) { current = step._r !== undefined || typeof step.pipe === 'function' ? step : Readable.from(step); watch(current, true, false); return; }
      const end = !final || options.end !== false && step !== process.stdout && step !== process.stderr;
      if (end) watch(step, !final, true);
      current.pipe(step, { end });
      current = step;
    });
    if (signal?.aborted) queueMicrotask(stop);
    else signal?.addEventListener('abort', stop);
    return current;
  };
  const promises = {
    pipeline: (...streams) => new Promise((resolve, reject) => pipeline(...streams, (e, value) => e ? reject(e) : resolve(value))),
    finished: (stream, options = {}) => new Promise((resolve, reject) => finished(stream, options, (e) => e ? reject(e) : resolve())),
  };
  const collect = async (source) => { const parts = []; for await (const c of source) parts.push(typeof c === 'string' ? Buffer.from(c) : c); return Buffer.concat(parts); };
  modules['stream/promises'] = promises;
  const web = modules['stream/web'] = {};
  for (const name of ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamBYOBReader', 'ReadableStreamBYOBRequest', 'ReadableByteStreamController', 'ReadableStreamDefaultController',
    'TransformStream', 'TransformStreamDefaultController', 'WritableStream', 'WritableStreamDefaultController', 'WritableStreamDefaultWriter', 'ByteLengthQueuingStrategy', 'CountQueuingStrategy',
    'TextEncoderStream', 'TextDecoderStream', 'CompressionStream', 'DecompressionStream']) web[name] = globalThis[name];
  modules['stream/consumers'] = {
    buffer: collect, text: async (s) => (await collect(s)).toString(), json: async (s) => JSON.parse((await collect(s)).toString()),
    arrayBuffer: async (s) => { const b = await collect(s); return b.buffer.slice(b.byteOffset, b.byteOffset + b.length); },
  };
  modules.stream = Object.assign(Stream, {
    Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises,
    addAbortSignal(signal, stream) {
      destroyOnAbort(signal, stream);
      return stream;
    },
    isReadable: (s) => s?.readable ?? null, isErrored: (s) => !!s?.errored, isDisturbed: (s) => !!s?._r?.flowing,
    getDefaultHighWaterMark: defaultMark,
  });
  return internal;
}
