// ReadableStreamDefaultController, and the setup of a stream from a guest's underlying source.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  let of;

  class ReadableStreamDefaultController {
    #c;
    constructor(key = undefined, c = undefined) {
      internal.illegal(key);
      this.#c = c;
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#c in o)) throw new p.TypeError('not a ReadableStreamDefaultController');
        return o.#c;
      };
    }
    get desiredSize() { return streams.desired(of(this)); }
    close() {
      const c = of(this);
      if (!streams.open(c)) throw streams.invalid('Controller is already closed');
      streams.closeDefault(c);
    }
    enqueue(chunk = undefined) {
      const c = of(this);
      if (!streams.open(c)) throw streams.invalid('Controller is already closed');
      streams.enqueue(c, chunk);
    }
    error(e = undefined) { streams.errorDefault(of(this), e); }
  }
  internal.expose(ReadableStreamDefaultController);

  streams.desired = (c) => {
    if (c.stream.state === 'errored') return null;
    return c.stream.state === 'closed' ? 0 : c.mark - c.size;
  };
  // open reports whether the source may still enqueue.
  streams.open = (c) => !c.closing && c.stream.state === 'readable';

  const shouldPull = (c) => {
    if (!streams.open(c) || !c.started) return false;
    return streams.waiting(c.stream) > 0 || streams.desired(c) > 0;
  };
  const pullIfNeeded = (c) => {
    if (!shouldPull(c)) return;
    if (c.pulling) {
      c.again = true;
      return;
    }
    c.pulling = true;
    streams.after(c.pull(), () => {
      c.pulling = false;
      if (c.again) {
        c.again = false;
        pullIfNeeded(c);
      }
    }, (e) => { streams.errorDefault(c, e); });
  };
  const clear = (c) => {
    c.pull = c.cancel = () => streams.promise(undefined);
    c.measure = undefined;
  };
  streams.closeDefault = (c) => {
    if (!streams.open(c)) return;
    c.closing = true;
    if (c.queue.length === 0) {
      clear(c);
      streams.close(c.stream);
    }
  };
  streams.enqueue = (c, chunk) => {
    if (!streams.open(c)) return;
    if (streams.waiting(c.stream) > 0) streams.fulfil(c.stream, chunk, false);
    else {
      let size;
      try {
        size = streams.checkSize(c.measure(chunk));
      } catch (e) {
        streams.errorDefault(c, e);
        throw e;
      }
      streams.push(c.queue, { __proto__: null, chunk, size });
      c.size += size;
    }
    pullIfNeeded(c);
  };
  streams.errorDefault = (c, e) => {
    if (c.stream.state !== 'readable') return;
    c.queue = streams.queue();
    c.size = 0;
    clear(c);
    streams.error(c.stream, e);
  };
  streams.pullDefault = pullIfNeeded;

  // setUp adds a default controller to stream s. start may throw, and returns a promise or a value. pull and cancel return
  // promises.
  streams.setUp = (s, start, pull, cancel, mark, measure) => {
    const c = { __proto__: null, object: undefined, stream: s, queue: streams.queue(), size: 0, started: false, closing: false, again: false, pulling: false,
      pull, cancel, mark, measure, byte: false };
    c.object = new ReadableStreamDefaultController(internal.key, c);
    c.cancelSteps = (reason) => {
      c.queue = streams.queue();
      c.size = 0;
      const result = c.cancel(reason);
      clear(c);
      return result;
    };
    c.pullSteps = (request) => {
      if (c.queue.length > 0) {
        const { chunk, size } = streams.shift(c.queue);
        c.size = p.max(c.size - size, 0);
        if (c.closing && c.queue.length === 0) {
          clear(c);
          streams.close(s);
        } else pullIfNeeded(c);
        request.chunk(chunk);
        return;
      }
      streams.push(s.reader.requests, request);
      pullIfNeeded(c);
    };
    c.releaseSteps = streams.nothing;
    s.controller = c;
    const started = start(c);
    streams.after(streams.promise(started), () => {
      c.started = true;
      pullIfNeeded(c);
    }, (e) => { streams.errorDefault(c, e); });
    return c;
  };

  // setUpFrom sets up a stream from the constructor's arguments. It reads the members of the source in alphabetical order.
  streams.setUpFrom = (s, source, strategy) => {
    const o = source ?? { __proto__: null };
    let autoAllocate = o.autoAllocateChunkSize;
    if (autoAllocate !== undefined) autoAllocate = internal.enforceRange(autoAllocate, 9007199254740991, 'autoAllocateChunkSize');
    const cancel = streams.method(o, 'cancel'), pull = streams.method(o, 'pull'), start = streams.method(o, 'start');
    const { type } = o;
    const begin = start === undefined ? streams.nothing : (c) => p.apply(start, source, [c.object]);
    const settled = () => streams.promise(undefined);
    const onCancel = cancel === undefined ? settled : (reason) => streams.call(cancel, source, [reason]);
    if (type === undefined) {
      const mark = streams.highWaterMark(strategy, 1), measure = streams.sizeOf(strategy);
      const onPull = pull === undefined ? settled : () => streams.call(pull, source, [s.controller.object]);
      streams.setUp(s, begin, onPull, onCancel, mark, measure);
      return;
    }
    if (internal.text(type) !== 'bytes') throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'source.type' is invalid. Received ${internal.inspect(type)}`);
    if (strategy.size !== undefined) throw new p.RangeError('a byte stream has no size function');
    const mark = streams.highWaterMark(strategy, 0);
    if (autoAllocate === 0) throw new p.TypeError('autoAllocateChunkSize is 0');
    const onPull = pull === undefined ? settled : () => streams.call(pull, source, [s.controller.object]);
    streams.setUpBytes(s, begin, onPull, onCancel, mark, autoAllocate);
  };
  return internal;
}
