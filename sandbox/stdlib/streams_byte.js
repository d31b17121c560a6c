// ReadableByteStreamController. A pull-into descriptor is {buffer, offset, length, filled, least, element, View, kind}: a
// buffer to fill, supplied by a reader or by autoAllocateChunkSize.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  let of;
  const views = { __proto__: null };
  const sizes = { __proto__: null, DataView: 1 };
  const names = ['Uint8Array', 'Int8Array', 'Uint8ClampedArray', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'BigUint64Array', 'BigInt64Array', 'Float16Array', 'Float32Array', 'Float64Array', 'DataView'];
  for (const name of names) {
    if (globalThis[name] === undefined) continue; // older engines have no Float16Array
    views[name] = globalThis[name];
    if (name !== 'DataView') sizes[name] = globalThis[name].BYTES_PER_ELEMENT;
  }
  const bytes = (buffer, offset, length) => new p.Uint8Array(buffer, offset, length);
  const copyWithin = (to, toOffset, from, fromOffset, n) => { p.typedSet(bytes(to, toOffset, n), bytes(from, fromOffset, n)); };
  const transfer = (buffer) => p.bufferTransfer(buffer);
  const brandOf = (view) => p.typedTag(view) ?? 'DataView';
  streams.elementSize = (view) => sizes[brandOf(view)];

  class ReadableByteStreamController {
    #c;
    constructor(key = undefined, c = undefined) {
      internal.illegal(key);
      this.#c = c;
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#c in o)) throw new p.TypeError('not a ReadableByteStreamController');
        return o.#c;
      };
    }
    get byobRequest() {
      const c = of(this);
      return byobRequest(c)?.object ?? null;
    }
    get desiredSize() { return streams.desired(of(this)); }
    close() {
      const c = of(this);
      if (!streams.open(c)) throw streams.invalid('Controller is already closed');
      streams.closeBytes(c);
    }
    enqueue(chunk) {
      const c = of(this);
      internal.need(arguments.length, 1, 'ReadableByteStreamController.enqueue');
      if (!p.isView(chunk)) throw new p.TypeError('the chunk is not a view');
      const at = internal.span(chunk);
      if (!internal.isBuffer(at.buffer)) throw new p.TypeError('the chunk is of shared memory');
      if (at.length === 0) throw new p.TypeError('the chunk is empty');
      if (p.bufferLength(at.buffer) === 0) throw new p.TypeError('the chunk\'s buffer is empty');
      if (!streams.open(c)) throw streams.invalid('Controller is already closed');
      streams.enqueueBytes(c, at);
    }
    error(e = undefined) { streams.errorBytes(of(this), e); }
  }
  internal.expose(ReadableByteStreamController);

  const byobRequest = (c) => {
    if (c.request === null && c.intos.length > 0) {
      const into = c.intos.head.value;
      const q = { __proto__: null, controller: c, view: bytes(into.buffer, into.offset + into.filled, into.length - into.filled), object: undefined };
      q.object = streams.byobRequestObject(q);
      c.request = q;
    }
    return c.request;
  };
  streams.byobRequest = byobRequest;
  const invalidate = (c) => {
    if (c.request === null) return;
    c.request.controller = undefined;
    c.request.view = null;
    c.request = null;
  };
  const shouldPull = (c) => {
    if (!streams.open(c) || !c.started) return false;
    if (streams.waiting(c.stream) > 0) return true;
    return (c.stream.reader?.byob && c.stream.reader.intos.length > 0) || streams.desired(c) > 0;
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
    }, (e) => { streams.errorBytes(c, e); });
  };
  const clear = (c) => { c.pull = c.cancel = () => streams.promise(undefined); };
  const clearIntos = (c) => {
    invalidate(c);
    c.intos = streams.queue();
  };
  const queueChunk = (c, buffer, offset, length) => {
    streams.push(c.queue, { __proto__: null, buffer, offset, length });
    c.size += length;
  };
  const clone = (c, buffer, offset, length) => {
    let copy;
    try {
      copy = new p.ArrayBuffer(length);
      copyWithin(copy, 0, buffer, offset, length);
    } catch (e) {
      streams.errorBytes(c, e);
      throw e;
    }
    queueChunk(c, copy, 0, length);
  };
  // enqueueDetached enqueues the bytes of a descriptor whose reader was released.
  const enqueueDetached = (c, into) => {
    if (into.filled > 0) clone(c, into.buffer, into.offset, into.filled);
    streams.shift(c.intos);
  };

  streams.errorBytes = (c, e) => {
    if (c.stream.state !== 'readable') return;
    clearIntos(c);
    c.queue = streams.queue();
    c.size = 0;
    clear(c);
    streams.error(c.stream, e);
  };
  streams.closeBytes = (c) => {
    if (!streams.open(c)) return;
    if (c.size > 0) {
      c.closing = true;
      return;
    }
    if (c.intos.length > 0) {
      const into = c.intos.head.value;
      if (into.filled % into.element !== 0) {
        const e = new p.TypeError('the stream ends within an element of the view');
        streams.errorBytes(c, e);
        throw e;
      }
    }
    clear(c);
    streams.close(c.stream);
  };
  streams.enqueueBytes = (c, at) => {
    if (!streams.open(c)) return;
    const { offset, length } = at;
    if (p.bufferDetached(at.buffer)) throw new p.TypeError('the chunk was transferred');
    const buffer = transfer(at.buffer);
    if (c.intos.length > 0) {
      const first = c.intos.head.value;
      if (p.bufferDetached(first.buffer)) throw new p.TypeError('the buffer of the request was transferred');
      invalidate(c);
      first.buffer = transfer(first.buffer);
      if (first.kind === 'none') enqueueDetached(c, first);
    }
    const { reader } = c.stream;
    if (reader !== undefined && !reader.byob) {
      while (reader.requests.length > 0 && c.size > 0) fillRequest(c, streams.shift(reader.requests));
      if (reader.requests.length === 0) queueChunk(c, buffer, offset, length);
      else {
        if (c.intos.length > 0) streams.shift(c.intos);
        streams.fulfil(c.stream, bytes(buffer, offset, length), false);
      }
    } else if (reader !== undefined) {
      queueChunk(c, buffer, offset, length);
      commitAll(c, process(c));
    } else queueChunk(c, buffer, offset, length);
    pullIfNeeded(c);
  };
  const fillRequest = (c, request) => {
    const entry = streams.shift(c.queue);
    c.size -= entry.length;
    drained(c);
    request.chunk(bytes(entry.buffer, entry.offset, entry.length));
  };
  const drained = (c) => {
    if (c.size === 0 && c.closing) {
      clear(c);
      streams.close(c.stream);
    } else pullIfNeeded(c);
  };
  // fill copies bytes from the queue into a descriptor and reports whether the descriptor can be returned to its reader.
  const fill = (c, into) => {
    const most = p.min(c.size, into.length - into.filled), filled = into.filled + most;
    const aligned = filled - filled % into.element;
    const ready = filled >= into.least && aligned >= into.least;
    let left = ready ? aligned - into.filled : most;
    while (left > 0) {
      const head = c.queue.head.value, n = p.min(left, head.length);
      copyWithin(into.buffer, into.offset + into.filled, head.buffer, head.offset, n);
      if (head.length === n) streams.shift(c.queue);
      else {
        head.offset += n;
        head.length -= n;
      }
      c.size -= n;
      into.filled += n;
      left -= n;
    }
    return ready;
  };
  const process = (c) => {
    const done = [];
    while (c.intos.length > 0 && c.size > 0) {
      const into = c.intos.head.value;
      if (!fill(c, into)) break;
      streams.shift(c.intos);
      p.arrayPush(done, into);
    }
    return done;
  };
  const commitAll = (c, list) => { for (let i = 0; i < list.length; i++) commit(c.stream, list[i]); };
  const filledView = (into) => {
    const buffer = transfer(into.buffer);
    return new into.View(buffer, into.offset, into.filled / into.element);
  };
  const commit = (s, into) => {
    const done = s.state === 'closed', view = filledView(into);
    if (into.kind === 'default') {
      streams.fulfil(s, view, done);
      return;
    }
    const request = streams.shift(s.reader.intos);
    if (done) request.close(view);
    else request.chunk(view);
  };

  const respond = (c, n) => {
    const first = c.intos.head.value;
    if (c.stream.state === 'closed') {
      if (n !== 0) throw new p.TypeError('the stream is closed: nothing can be written');
    } else {
      if (n === 0) throw new p.TypeError('at least 1 byte must be written to an open stream');
      if (first.filled + n > first.length) throw new p.RangeError('more bytes were written than there is room');
    }
    first.buffer = transfer(first.buffer);
    respondInternal(c, n);
  };
  const respondWith = (c, at) => {
    const first = c.intos.head.value;
    if (c.stream.state === 'closed') {
      if (at.length !== 0) throw new p.TypeError('the stream is closed: nothing can be written');
    } else if (at.length === 0) throw new p.TypeError('the view is empty');
    if (first.offset + first.filled !== at.offset) throw new p.RangeError('the view has a different offset');
    if (first.bufferLength !== p.bufferLength(at.buffer)) throw new p.RangeError('the view has a buffer of a different length');
    if (first.filled + at.length > first.length) throw new p.RangeError('the view is larger than the room');
    const { length } = at;
    first.buffer = transfer(at.buffer);
    respondInternal(c, length);
  };
  const respondInternal = (c, n) => {
    const first = c.intos.head.value;
    invalidate(c);
    if (c.stream.state === 'closed') {
      if (first.kind === 'none') streams.shift(c.intos);
      const { reader } = c.stream, done = [];
      if (reader !== undefined && reader.byob) {
        while (done.length < reader.intos.length) p.arrayPush(done, streams.shift(c.intos));
        commitAll(c, done);
      }
    } else {
      first.filled += n;
      if (first.kind === 'none') {
        enqueueDetached(c, first);
        commitAll(c, process(c));
      } else if (first.filled >= first.least) {
        streams.shift(c.intos);
        const rest = first.filled % first.element;
        if (rest > 0) clone(c, first.buffer, first.offset + first.filled - rest, rest);
        first.filled -= rest;
        const done = process(c);
        commit(c.stream, first);
        commitAll(c, done);
      }
    }
    pullIfNeeded(c);
  };
  streams.respond = respond;
  streams.respondWith = respondWith;

  // pullInto performs a BYOB read.
  streams.pullInto = (c, view, min, request) => {
    const s = c.stream, name = brandOf(view), element = sizes[name], View = views[name];
    const at = internal.span(view);
    let buffer;
    try { buffer = transfer(at.buffer); } catch (e) {
      request.error(e);
      return;
    }
    const into = { __proto__: null, buffer, bufferLength: p.bufferLength(buffer), offset: at.offset, length: at.length, filled: 0, least: min * element, element, View, kind: 'byob' };
    if (c.intos.length > 0) {
      streams.push(c.intos, into);
      streams.push(s.reader.intos, request);
      return;
    }
    if (s.state === 'closed') {
      request.close(new View(into.buffer, into.offset, 0));
      return;
    }
    if (c.size > 0) {
      if (fill(c, into)) {
        const filled = filledView(into);
        drained(c);
        request.chunk(filled);
        return;
      }
      if (c.closing) {
        const e = new p.TypeError('the stream ends within an element of the view');
        streams.errorBytes(c, e);
        request.error(e);
        return;
      }
    }
    streams.push(c.intos, into);
    streams.push(s.reader.intos, request);
    pullIfNeeded(c);
  };

  streams.setUpBytes = (s, start, pull, cancel, mark, autoAllocate) => {
    const c = { __proto__: null, object: undefined, stream: s, queue: streams.queue(), size: 0, started: false, closing: false, again: false, pulling: false,
      pull, cancel, mark, byte: true, intos: streams.queue(), request: null };
    c.object = new ReadableByteStreamController(internal.key, c);
    c.cancelSteps = (reason) => {
      clearIntos(c);
      c.queue = streams.queue();
      c.size = 0;
      const result = c.cancel(reason);
      clear(c);
      return result;
    };
    c.pullSteps = (request) => {
      if (c.size > 0) {
        fillRequest(c, request);
        return;
      }
      if (autoAllocate !== undefined) {
        let buffer;
        try { buffer = new p.ArrayBuffer(autoAllocate); } catch (e) {
          request.error(e);
          return;
        }
        streams.push(c.intos, { __proto__: null, buffer, bufferLength: autoAllocate, offset: 0, length: autoAllocate, filled: 0, least: 1, element: 1, View: p.Uint8Array, kind: 'default' });
      }
      streams.push(s.reader.requests, request);
      pullIfNeeded(c);
    };
    c.releaseSteps = () => {
      if (c.intos.length === 0) return;
      const first = c.intos.head.value;
      first.kind = 'none';
      c.intos = streams.queue();
      streams.push(c.intos, first);
    };
    s.controller = c;
    const started = start(c);
    streams.after(streams.promise(started), () => {
      c.started = true;
      pullIfNeeded(c);
    }, (e) => { streams.errorBytes(c, e); });
    return c;
  };
  return internal;
}
