// TransformStream: a transformer turns chunks written to the writable side into chunks of the readable side.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const { deferred } = streams;
  let stateOf, of;

  class TransformStream {
    #t;
    constructor(transformer = undefined, writableStrategy = undefined, readableStrategy = undefined) {
      const given = streams.optional(transformer, 'TransformStream: the transformer');
      const writable = streams.strategy(writableStrategy, 'TransformStream: the writable strategy');
      const readable = streams.strategy(readableStrategy, 'TransformStream: the readable strategy');
      const o = given ?? { __proto__: null };
      const cancel = streams.method(o, 'cancel'), flush = streams.method(o, 'flush');
      if (o.readableType !== undefined) throw new p.RangeError('readableType is not supported');
      const start = streams.method(o, 'start'), transform = streams.method(o, 'transform');
      if (o.writableType !== undefined) throw new p.RangeError('writableType is not supported');
      const readableMark = streams.highWaterMark(readable, 0), readableSize = streams.sizeOf(readable);
      const writableMark = streams.highWaterMark(writable, 1), writableSize = streams.sizeOf(writable);
      const settled = () => streams.promise(undefined);
      const t = this.#t = create(
        transform === undefined ? (chunk) => {
          try {
            enqueue(t.controller, chunk);
            return streams.promise(undefined);
          } catch (e) { return p.promiseReject(e); }
        } : (chunk) => streams.call(transform, given, [chunk, t.controller.object]),
        flush === undefined ? settled : () => streams.call(flush, given, [t.controller.object]),
        cancel === undefined ? settled : (reason) => streams.call(cancel, given, [reason]),
        writableMark, writableSize, readableMark, readableSize);
      t.started.resolve(start === undefined ? undefined : p.apply(start, given, [t.controller.object]));
    }
    static {
      stateOf = (o) => {
        if (!internal.isObject(o) || !(#t in o)) throw new p.TypeError('not a TransformStream');
        return o.#t;
      };
    }
    get readable() { return stateOf(this).readable.object; }
    get writable() { return stateOf(this).writable.object; }
  }
  internal.expose(TransformStream);

  class TransformStreamDefaultController {
    #c;
    constructor(key = undefined, c = undefined) {
      internal.illegal(key);
      this.#c = c;
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#c in o)) throw new p.TypeError('not a TransformStreamDefaultController');
        return o.#c;
      };
    }
    get desiredSize() { return streams.desired(of(this).t.readable.controller); }
    enqueue(chunk = undefined) { enqueue(of(this), chunk); }
    error(reason = undefined) { error(of(this).t, reason); }
    terminate() {
      const { t } = of(this);
      streams.closeDefault(t.readable.controller);
      errorWritableAndUnblock(t, new p.TypeError('the transformation was terminated'));
    }
  }
  internal.expose(TransformStreamDefaultController);

  // create returns a stream with both sides. transform, flush and cancel return promises. started is a deferred that the
  // caller settles.
  const create = (transform, flush, cancel, writableMark, writableSize, readableMark, readableSize) => {
    const t = { __proto__: null, readable: undefined, writable: undefined, backpressure: undefined, change: undefined, controller: undefined, started: deferred() };
    const c = { __proto__: null, object: undefined, t, transform, flush, cancel, finish: null };
    c.object = new TransformStreamDefaultController(internal.key, c);
    t.controller = c;
    const { promise } = t.started;
    t.writable = streams.createWritable();
    t.readable = streams.create();
    streams.setUpWritable(t.writable, () => promise, (chunk) => sinkWrite(t, chunk), () => sinkClose(t), (reason) => sinkAbort(t, reason), writableMark, writableSize);
    streams.setUp(t.readable, () => promise, () => {
      setBackpressure(t, false);
      return t.change.promise;
    }, (reason) => sourceCancel(t, reason), readableMark, readableSize);
    setBackpressure(t, true);
    return t;
  };
  // transformer returns a started transform stream for internal use. transform(chunk, enqueue) and flush(enqueue) may throw.
  streams.transformer = (transform, flush, cancel = streams.nothing) => {
    const attempt = (f, ...args) => {
      try { return streams.promise(p.apply(f, undefined, args)); } catch (e) { return p.promiseReject(e); }
    };
    const put = (chunk) => { enqueue(t.controller, chunk); };
    const t = create((chunk) => attempt(transform, chunk, put), () => attempt(flush, put), () => attempt(cancel), 1, () => 1, 0, () => 1);
    t.started.resolve(undefined);
    return { __proto__: null, readable: t.readable.object, writable: t.writable.object };
  };

  const clear = (c) => { c.transform = c.flush = c.cancel = () => streams.promise(undefined); };
  const setBackpressure = (t, on) => {
    t.change?.resolve(undefined);
    t.change = deferred();
    t.backpressure = on;
  };
  const error = (t, e) => {
    streams.errorDefault(t.readable.controller, e);
    errorWritableAndUnblock(t, e);
  };
  const errorWritableAndUnblock = (t, e) => {
    clear(t.controller);
    streams.errorIfWritable(t.writable.controller, e);
    unblock(t);
  };
  const unblock = (t) => { if (t.backpressure) setBackpressure(t, false); };
  const enqueue = (c, chunk) => {
    const { t } = c, r = t.readable.controller;
    if (!streams.open(r)) throw new p.TypeError('the readable side is not in a state that permits enqueue');
    try { streams.enqueue(r, chunk); } catch (e) {
      errorWritableAndUnblock(t, e);
      throw t.readable.error;
    }
    const on = !(streams.waiting(t.readable) > 0 || streams.desired(r) > 0);
    if (on !== t.backpressure) setBackpressure(t, true);
  };
  const perform = (c, chunk) => p.promiseThen(c.transform(chunk), undefined, (e) => {
    error(c.t, e);
    throw e;
  });
  const sinkWrite = (t, chunk) => {
    if (!t.backpressure) return perform(t.controller, chunk);
    return p.promiseThen(t.change.promise, () => {
      if (t.writable.state === 'erroring') throw t.writable.error;
      return perform(t.controller, chunk);
    });
  };
  const sinkAbort = (t, reason) => {
    const c = t.controller;
    if (c.finish !== null) return c.finish.promise;
    const finish = c.finish = deferred();
    const result = c.cancel(reason);
    clear(c);
    streams.after(result, () => {
      if (t.readable.state === 'errored') finish.reject(t.readable.error);
      else {
        streams.errorDefault(t.readable.controller, reason);
        finish.resolve(undefined);
      }
    }, (e) => {
      streams.errorDefault(t.readable.controller, e);
      finish.reject(e);
    });
    return finish.promise;
  };
  const sinkClose = (t) => {
    const c = t.controller;
    if (c.finish !== null) return c.finish.promise;
    const finish = c.finish = deferred();
    const result = c.flush();
    clear(c);
    streams.after(result, () => {
      if (t.readable.state === 'errored') finish.reject(t.readable.error);
      else {
        streams.closeDefault(t.readable.controller);
        finish.resolve(undefined);
      }
    }, (e) => {
      streams.errorDefault(t.readable.controller, e);
      finish.reject(e);
    });
    return finish.promise;
  };
  const sourceCancel = (t, reason) => {
    const c = t.controller;
    if (c.finish !== null) return c.finish.promise;
    const finish = c.finish = deferred();
    const result = c.cancel(reason);
    clear(c);
    streams.after(result, () => {
      if (t.writable.state === 'errored') finish.reject(t.writable.error);
      else {
        streams.errorIfWritable(t.writable.controller, reason);
        unblock(t);
        finish.resolve(undefined);
      }
    }, (e) => {
      streams.errorIfWritable(t.writable.controller, e);
      unblock(t);
      finish.reject(e);
    });
    return finish.promise;
  };
  return internal;
}
