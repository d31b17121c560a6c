// The writable side of Node's streams.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const EventEmitter = modules.events;
  const { Stream, Readable, common, setup, over, mark, sizeOf, getters, readableState, nextTick, finished } = internal.nodeStream;

  function Writable(options = {}) {
    if (!(this instanceof Writable)) return new Writable(options);
    EventEmitter.call(this);
    setup(this, options, [['write', '_write'], ['writev', '_writev'], ['final', '_final'], ['destroy', '_destroy']]);
    writableState(this, options);
  }
  Object.setPrototypeOf(Writable.prototype, Stream.prototype);
  Object.setPrototypeOf(Writable, Stream);
  const writableState = (stream, options) => {
    const objectMode = !!(options.objectMode || options.writableObjectMode);
    stream._w = { queue: [], size: 0, objectMode, mark: mark(options, 'writable', objectMode), writing: false, needDrain: false, ending: false, finished: false, corked: 0, decode: options.decodeStrings !== false, encoding: options.defaultEncoding ?? 'utf8', finalising: false, ends: [] };
  };

  const work = (s) => {
    const w = s._w;
    if (w.writing || w.corked > 0 || s.destroyed) return;
    if (w.queue.length === 0) {
      if (w.ending && !w.finalising) finalise(s);
      return;
    }
    w.writing = true;
    const batch = s._writev && w.queue.length > 1 ? w.queue.splice(0) : [w.queue.shift()];
    let sync = true, called = false;
    const done = (e) => {
      if (called) { s.destroy(nodeError(Error, 'ERR_MULTIPLE_CALLBACK', 'Callback called multiple times')); return; }
      called = true;
      const after = () => {
        w.writing = false;
        for (const entry of batch) w.size -= entry.size;
        if (e) {
          for (const entry of [...batch, ...w.queue.splice(0)]) entry.done?.(e);
          s.destroy(e);
          return;
        }
        if (w.needDrain && w.size === 0 && !w.ending) { w.needDrain = false; s.emit('drain'); }
        for (const entry of batch) entry.done?.(null);
        work(s);
      };
      if (sync) nextTick(after);
      else after();
    };
    try {
      if (s._writev && (batch.length > 1 || s._write === Writable.prototype._write)) s._writev(batch.map(({ chunk, encoding }) => ({ chunk, encoding })), done);
      else s._write(batch[0].chunk, batch[0].encoding, done);
    } catch (e) {
      w.writing = false;
      s.destroy(e);
    }
    sync = false;
  };
  const finalise = (s) => {
    const w = s._w;
    w.finalising = true;
    const done = (e) => nextTick(() => {
      if (e) { s.destroy(e); return; }
      if (s.destroyed) return;
      w.finished = true;
      for (const done of w.ends) done();
      s.emit('finish');
      over(s);
    });
    try {
      if (s._final) s._final(done);
      else done();
    } catch (e) { s.destroy(e); }
  };

  const writable = Object.assign({}, common, {
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
      const size = sizeOf(chunk, w.objectMode);
      w.queue.push({ chunk, encoding, done, size });
      w.size += size;
      const room = w.size < w.mark;
      if (!room) w.needDrain = true;
      work(this);
      return room;
    },
    end(chunk, encoding, done) {
      const w = this._w;
      if (typeof chunk === 'function') { done = chunk; chunk = undefined; } else if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
      if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
      w.corked = 0;
      if (done) {
        if (w.finished || this.destroyed) nextTick(done, w.finished ? nodeError(Error, 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished') : this.errored ?? undefined);
        else {
          let told = false;
          const once = (e) => {
            if (told) return;
            told = true;
            done(e);
          };
          w.ends.push(once);
          finished(this, { readable: false }, once);
        }
      }
      w.ending = true;
      work(this);
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
    setup(this, options, [['read', '_read'], ['write', '_write'], ['writev', '_writev'], ['final', '_final'], ['destroy', '_destroy']]);
    readableState(this, options);
    writableState(this, options);
    this.allowHalfOpen = options.allowHalfOpen !== false;
  }
  Object.setPrototypeOf(Duplex.prototype, Readable.prototype);
  Object.setPrototypeOf(Duplex, Readable);
  Object.assign(Duplex.prototype, writable);
  getters(Duplex.prototype, writableGetters);

  function Transform(options = {}) {
    if (!(this instanceof Transform)) return new Transform(options);
    Duplex.call(this, options);
    this._pending = null;
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
    if (last !== null && typeof last === 'object' && last._w === undefined && last._r === undefined && !isIterable(last)) options = list.pop();
    if (list.length < 2) throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
    let over = false, current, value;
    const all = [];
    const finish = (e) => {
      if (over) return;
      over = true;
      for (const s of all) if (e || !s._autoDestroy) if (!s.destroyed) { s.on('error', () => {}); s.destroy(e); }
      done(e ?? undefined, value);
    };
    let left = 0;
    const watch = (s, reads, writes) => {
      all.push(s);
      left++;
      finished(s, { readable: reads, writable: writes }, (e) => { if (e) finish(e); else if (--left === 0) finish(); });
    };
    list.forEach((step, i) => {
      const first = i === 0, final = i === list.length - 1;
      if (typeof step === 'function') {
        const out = step(current, { signal: options.signal });
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
      if (first) { current = step._r !== undefined ? step : Readable.from(step); watch(current, true, false); return; }
      watch(step, !final, true);
      current.pipe(step);
      current = step;
    });
    options.signal?.addEventListener('abort', () => finish(internal.nodeAborted(options.signal)), { once: true });
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
    addAbortSignal(signal, stream) { signal.addEventListener('abort', () => stream.destroy(internal.nodeAborted(signal)), { once: true }); return stream; },
    isReadable: (s) => s?.readable ?? null, isErrored: (s) => !!s?.errored, isDisturbed: (s) => !!s?._r?.flowing,
    getDefaultHighWaterMark: (objectMode) => objectMode ? 16 : 65536,
  });
  return internal;
}
