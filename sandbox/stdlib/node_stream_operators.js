// What makes new streams from streams: map and the other operators, Duplex.from and compose.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Readable, Writable, Duplex, pipeline, finished } = modules.stream;
  const { nextTick, iterated, destroyOnAbort } = internal.nodeStream;

  const empty = Symbol('empty'), eof = Symbol('end');
  const checkFunction = (fn) => {
    if (typeof fn !== 'function') throw internal.nodeWrongType('fn', 'of type function or an instance of AsyncFunction', fn);
  };
  const checkOptions = (options) => {
    if (options !== undefined && options !== null && typeof options !== 'object') throw internal.nodeWrongType('options', 'of type object', options);
    const { signal } = options ?? {};
    if (signal !== undefined && (signal === null || typeof signal !== 'object' || !('aborted' in signal))) throw internal.nodeWrongType('options.signal', 'an instance of AbortSignal', signal);
  };
  const checkAborted = (signal) => { if (signal?.aborted) throw internal.nodeAborted(signal); };

  // mapped yields what fn returns, in the order of the chunks, and calls it for several chunks at a time.
  const mapped = (stream, fn, options) => {
    checkFunction(fn);
    checkOptions(options);
    const concurrency = options?.concurrency === undefined ? 1 : Math.floor(options.concurrency);
    if (!(concurrency >= 1)) throw internal.nodeOutOfRange('concurrency', '>= 1', concurrency);
    const mark = (options?.highWaterMark ?? concurrency - 1) + concurrency;
    return (async function* () {
      const own = new AbortController(), signal = options?.signal ? AbortSignal.any([options.signal, own.signal]) : own.signal;
      const queue = [], given = { signal };
      let next, resume, done = false, running = 0;
      const resumeMaybe = () => {
        if (resume && !done && running < concurrency && queue.length < mark) {
          resume();
          resume = undefined;
        }
      };
      const processed = () => {
        running--;
        resumeMaybe();
      };
      const failed = () => {
        done = true;
        processed();
      };
      const read = async () => {
        try {
          for await (const chunk of stream) {
            if (done) return;
            checkAborted(signal);
            let value;
            try { value = Promise.resolve(fn(chunk, given)); } catch (e) { value = Promise.reject(e); }
            running++;
            value.then(processed, failed);
            queue.push(value);
            next?.();
            next = undefined;
            if (!done && (queue.length >= mark || running >= concurrency)) await new Promise((resolve) => { resume = resolve; });
          }
          queue.push(eof);
        } catch (e) {
          const value = Promise.reject(e);
          value.then(processed, failed);
          queue.push(value);
        } finally {
          done = true;
          next?.();
          next = undefined;
        }
      };
      read();
      try {
        for (;;) {
          while (queue.length > 0) {
            const value = await queue[0];
            if (value === eof) return;
            checkAborted(signal);
            if (value !== empty) yield value;
            queue.shift();
            resumeMaybe();
          }
          await new Promise((resolve) => { next = resolve; });
        }
      } finally {
        own.abort();
        done = true;
        resume?.();
      }
    })();
  };
  const filtered = (stream, fn, options) => {
    checkFunction(fn);
    return mapped(stream, async (chunk, given) => (await fn(chunk, given) ? chunk : empty), options);
  };
  const count = (n) => {
    const whole = Math.trunc(Number(n)) || 0;
    if (whole < 0) throw internal.nodeOutOfRange('number', '>= 0', whole);
    return whole;
  };
  const returning = {
    map(fn, options) { return mapped(this, fn, options); },
    filter(fn, options) { return filtered(this, fn, options); },
    flatMap(fn, options) {
      const values = mapped(this, fn, options);
      return (async function* () { for await (const value of values) yield* value; })();
    },
    take(n, options) {
      checkOptions(options);
      const stream = this;
      let left = count(n);
      return (async function* () {
        checkAborted(options?.signal);
        for await (const chunk of stream) {
          checkAborted(options?.signal);
          if (left-- > 0) yield chunk;
          if (left <= 0) return;
        }
      })();
    },
    drop(n, options) {
      checkOptions(options);
      const stream = this;
      let left = count(n);
      return (async function* () {
        checkAborted(options?.signal);
        for await (const chunk of stream) {
          checkAborted(options?.signal);
          if (left-- <= 0) yield chunk;
        }
      })();
    },
    asIndexedPairs(options) {
      checkOptions(options);
      const stream = this;
      return (async function* () {
        let i = 0;
        for await (const chunk of stream) {
          checkAborted(options?.signal);
          yield [i++, chunk];
        }
      })();
    },
    compose(stream, options) {
      checkOptions(options);
      if (typeof stream?.pipe === 'function' && stream.writable === false) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'stream' must be writable. Received ${internal.inspect(stream)}`);
      const made = compose(this, stream);
      if (options?.signal) destroyOnAbort(options.signal, made);
      return made;
    },
  };
  const promising = {
    async forEach(fn, options) {
      checkFunction(fn);
      for await (const _ of mapped(this, async (chunk, given) => { await fn(chunk, given); return empty; }, options));
    },
    async toArray(options) {
      checkOptions(options);
      const out = [];
      for await (const chunk of this) {
        checkAborted(options?.signal);
        out.push(chunk);
      }
      return out;
    },
    async some(fn, options) {
      for await (const _ of filtered(this, fn, options)) return true;
      return false;
    },
    async every(fn, options) {
      checkFunction(fn);
      return !await promising.some.call(this, async (...args) => !await fn(...args), options);
    },
    async find(fn, options) {
      for await (const chunk of filtered(this, fn, options)) return chunk;
      return undefined;
    },
    async reduce(reducer, initial, options) {
      if (typeof reducer !== 'function') throw internal.nodeWrongType('reducer', 'of type function or an instance of AsyncFunction', reducer);
      checkOptions(options);
      let has = arguments.length > 1, value = initial;
      if (options?.signal?.aborted) {
        const e = internal.nodeAborted(options.signal);
        this.once('error', () => {});
        this.destroy(e);
        throw e;
      }
      const own = new AbortController(), given = { signal: own.signal };
      options?.signal?.addEventListener('abort', () => own.abort(), { once: true });
      try {
        for await (const chunk of this) {
          checkAborted(options?.signal);
          value = has ? await reducer(value, chunk, given) : chunk;
          has = true;
        }
      } finally { own.abort(); }
      if (!has) throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'Reduce of an empty stream requires an initial value');
      return value;
    },
  };
  const method = (name, value) => Object.defineProperty(Readable.prototype, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  for (const name of Object.keys(returning)) method(name, { [name](...args) { return Readable.from(returning[name].apply(this, args)); } }[name]);
  for (const name of Object.keys(promising)) method(name, promising[name]);

  const isStream = (v) => v !== null && typeof v === 'object' && typeof v.on === 'function' && (typeof v.pipe === 'function' || typeof v.write === 'function');
  const reads = (v) => isStream(v) && typeof v.pipe === 'function' && (v._r !== undefined || v._w === undefined && v.readable !== false);
  const writes = (v) => isStream(v) && typeof v.write === 'function' && (v._w !== undefined || v._r === undefined);
  const end = (stream, e) => { if (stream && !stream.destroyed) stream.destroy(e ?? undefined); };
  const aborted = () => internal.nodeAborted(AbortSignal.abort());

  // joined returns a stream that writes to one stream and reads from another. watch tells it when both have ended.
  const joined = (writable, readable, watch) => {
    let onDrain, onFinish, onReadable, onClose;
    const ended = (e) => {
      const done = onClose;
      onClose = null;
      if (done) done(e);
      else if (e) out.destroy(e);
    };
    const take = (f) => f?.();
    const out = new Duplex({
      readableObjectMode: !!readable?.readableObjectMode, writableObjectMode: !!writable?.writableObjectMode, readable: !!readable, writable: !!writable,
      write(chunk, encoding, done) {
        if (writable.write(chunk, encoding)) done();
        else onDrain = done;
      },
      final(done) {
        onFinish = done;
        writable.end();
      },
      read() {
        for (;;) {
          const chunk = readable.read();
          if (chunk === null) {
            onReadable = () => this._read();
            return;
          }
          if (!this.push(chunk)) return;
        }
      },
      destroy(e, done) {
        const failure = e ?? (onClose === null ? null : aborted());
        onReadable = onDrain = onFinish = undefined;
        if (onClose === null) { done(failure); return; }
        onClose = done;
        end(writable, failure);
        end(readable, failure);
      },
    });
    writable?.on('drain', () => {
      const done = onDrain;
      onDrain = undefined;
      take(done);
    });
    readable?.on('readable', () => {
      const again = onReadable;
      onReadable = undefined;
      take(again);
    });
    readable?.on('end', () => { out.push(null); });
    watch(ended, () => {
      const done = onFinish;
      onFinish = undefined;
      take(done);
    });
    return out;
  };
  const paired = (readable, writable) => joined(writable, readable, (ended, written) => {
    let left = (readable ? 1 : 0) + (writable ? 1 : 0);
    const over = (e) => {
      if (e) {
        end(readable, e);
        end(writable, e);
      }
      if (e || --left === 0) ended(e);
    };
    if (writable) {
      writable.on('finish', written);
      finished(writable, { readable: false }, over);
    }
    if (readable) finished(readable, { writable: false }, over);
  });

  // called runs a function over what is written.
  const called = (fn) => {
    const abort = new AbortController(), { signal } = abort;
    let { promise, resolve } = Promise.withResolvers();
    const source = (async function* () {
      for (;;) {
        const { chunk, last, done } = await promise;
        ({ promise, resolve } = Promise.withResolvers());
        nextTick(done);
        if (last) return;
        if (signal.aborted) throw internal.nodeAborted(signal);
        yield chunk;
      }
    })();
    const value = fn(source, { signal });
    const write = (chunk, encoding, done) => resolve({ chunk, last: false, done });
    const final = (done) => resolve({ last: true, done });
    const destroy = (e, done) => {
      abort.abort();
      done(e);
    };
    if (isIterable(value)) {
      const { read, destroy: close } = iterated(value);
      return new Duplex({ objectMode: true, highWaterMark: 1, read, write, final, destroy: (e, done) => { abort.abort(); close(e, done); } });
    }
    if (typeof value?.then !== 'function') throw nodeError(TypeError, 'ERR_INVALID_RETURN_VALUE', `Expected Iterable, AsyncIterable or AsyncFunction to be returned from the "body" function but got${internal.nodeKind(value).slice(9)}.`);
    const returned = Promise.resolve(value).then((v) => {
      if (v !== undefined && v !== null) throw nodeError(TypeError, 'ERR_INVALID_RETURN_VALUE', `Expected nully to be returned from the "body" function but got${internal.nodeKind(v).slice(9)}.`);
    });
    const out = new Duplex({
      objectMode: true, readable: false, write, destroy,
      final(done) { final(() => returned.then(() => nextTick(done, null), (e) => nextTick(done, e))); },
    });
    returned.catch((e) => end(out, e));
    return out;
  };

  const isIterable = (v) => v !== null && typeof v === 'object' && (typeof v[Symbol.asyncIterator] === 'function' || typeof v[Symbol.iterator] === 'function');
  const from = (body) => {
    if (reads(body) && writes(body)) return body;
    if (reads(body)) return paired(body);
    if (writes(body)) return paired(undefined, body);
    if (body instanceof ReadableStream) return paired(Readable.fromWeb(body));
    if (body instanceof WritableStream) return paired(undefined, Writable.fromWeb(body));
    if (typeof body === 'function') return called(body);
    if (body instanceof Blob) return from(body.arrayBuffer());
    if (isIterable(body) || typeof body === 'string') {
      const { read, destroy } = iterated(typeof body === 'string' || body instanceof Uint8Array ? [body] : body);
      return new Duplex({ objectMode: true, highWaterMark: 1, writable: false, read, destroy });
    }
    if (typeof body === 'object' && body !== null && (body.readable || body.writable)) {
      const { readable, writable } = body;
      return paired(readable && (reads(readable) ? readable : from(readable)), writable && (writes(writable) ? writable : from(writable)));
    }
    if (typeof body?.then === 'function') {
      const out = new Duplex({ objectMode: true, writable: false, read() {} });
      Promise.resolve(body).then((v) => {
        if (v !== undefined && v !== null) out.push(v);
        out.push(null);
      }, (e) => end(out, e));
      return out;
    }
    throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'The "body" argument must be of type function or an instance of Blob, ReadableStream, WritableStream, Stream, Iterable, AsyncIterable, or Promise or { readable, writable } pair.' + internal.nodeKind(body));
  };
  Duplex.from = from;

  Writable.fromWeb = (web, options) => {
    const writer = web.getWriter();
    return new Writable({
      ...options,
      write(chunk, encoding, done) { writer.write(chunk).then(() => done(), done); },
      final(done) { writer.close().then(() => done(), done); },
      destroy(e, done) {
        if (e) writer.abort(e).then(() => done(e), done);
        else done(e);
      },
    });
  };
  Writable.toWeb = (stream) => new WritableStream({
    start(controller) { stream.on('error', (e) => controller.error(e)); },
    write(chunk) { return new Promise((resolve, reject) => { stream.write(chunk, (e) => (e ? reject(e) : resolve())); }); },
    close() { return new Promise((resolve, reject) => { stream.end((e) => (e ? reject(e) : resolve())); }); },
    abort(reason) { stream.destroy(reason); },
  });
  Duplex.fromWeb = ({ readable, writable }, options) => {
    const out = paired(Readable.fromWeb(readable), Writable.fromWeb(writable));
    if (options?.encoding) out.setEncoding(options.encoding);
    return out;
  };
  Duplex.toWeb = (stream) => ({ readable: Readable.toWeb(stream), writable: Writable.toWeb(stream) });

  const compose = (...streams) => {
    if (streams.length === 0) throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "streams" argument must be specified');
    if (streams.length === 1) return from(streams[0]);
    const last = streams.length - 1;
    for (const i of [0, last]) if (!isStream(streams[i])) streams[i] = from(streams[i]);
    const head = streams[0], tail = streams[last];
    const writable = writes(head) && head.writable !== false ? head : undefined, readable = reads(tail) ? tail : undefined;
    return joined(writable, readable, (ended, written) => {
      pipeline(streams, (e) => {
        if (!e) written();
        ended(e);
      });
    });
  };
  modules.stream.compose = compose;
  return internal;
}
