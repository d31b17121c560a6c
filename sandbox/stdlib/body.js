// Bodies of requests and responses. A body is null or {bytes, stream, used}. bytes holds content that nothing has read
// yet; stream is created on first access, and bytes is null from then on.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;

  // mime parses a media type into {essence, text, charset, boundary}, or returns null.
  internal.mime = (text) => internal.sync('mime.parse', text);

  const body = (bytes, stream) => ({ __proto__: null, bytes, stream, used: false });
  internal.bodyOf = body;
  // extract converts a guest's value to {body, type}.
  internal.extract = (v) => {
    if (streams.isReadable(v)) {
      const s = streams.readableOf(v);
      if (s.disturbed || s.reader !== undefined) throw new p.TypeError('Response body object should not be disturbed or locked');
      return { __proto__: null, body: body(null, s), type: null };
    }
    if (internal.isBlob(v)) return { __proto__: null, body: body(internal.blobBytes(v), null), type: v.type === '' ? null : v.type };
    if (internal.isBufferSource(v)) return { __proto__: null, body: body(internal.copy(v), null), type: null };
    if (internal.isFormData(v)) {
      const { bytes, type } = internal.multipart(v);
      return { __proto__: null, body: body(bytes, null), type };
    }
    if (internal.isParams(v)) return { __proto__: null, body: body(internal.encodeText(internal.paramsText(v)), null), type: 'application/x-www-form-urlencoded;charset=UTF-8' };
    return { __proto__: null, body: body(internal.encodeText(internal.usv(v)), null), type: 'text/plain;charset=UTF-8' };
  };

  const used = (b) => b !== null && (b.used || (b.stream !== null && b.stream.disturbed));
  const unusable = (b) => used(b) || (b !== null && b.stream !== null && b.stream.reader !== undefined);
  internal.bodyUnusable = unusable;
  const streamOf = (b) => {
    if (b.stream !== null) return b.stream;
    b.stream = streams.readableOf(internal.bytesStream(b.used ? new p.Uint8Array(0) : b.bytes));
    if (b.used) { // the consumer that read the body keeps it locked
      b.stream.disturbed = true;
      streams.acquire(b.stream);
    }
    b.bytes = null;
    return b.stream;
  };
  internal.bodyStream = streamOf;

  // readAll consumes a body and calls done with all of its bytes, or failed with an error. It uses no promise, because a
  // guest's Object.prototype.then would be called.
  const readAll = (b, done, failed) => {
    if (b === null) done(new p.Uint8Array(0));
    else if (b.bytes !== null) {
      b.used = true;
      done(b.bytes);
    } else internal.readStream(b.stream, done, failed);
  };
  internal.readBody = readAll;
  internal.readStream = (s, done, failed) => {
    const reader = streams.acquire(s), chunks = [];
    const next = () => {
      streams.read(reader, {
        __proto__: null,
        chunk: (chunk) => {
          if (!p.isView(chunk) || p.typedTag(chunk) !== 'Uint8Array') {
            const e = new p.TypeError('a chunk of the body is not a Uint8Array');
            streams.handled(streams.cancel(s, e));
            failed(e);
            return;
          }
          p.arrayPush(chunks, internal.copy(chunk));
          streams.after(p.promiseResolve(undefined), next);
        },
        close: () => { done(internal.join(chunks)); },
        error: failed,
      });
    };
    next();
  };

  // cloneBody returns a second body with the same content.
  internal.cloneBody = (b) => {
    if (b === null) return null;
    if (b.stream === null) return body(b.bytes, null);
    const branches = streams.teeForClone(b.stream);
    b.stream = streams.readableOf(branches[0]);
    return body(null, streams.readableOf(branches[1]));
  };

  const formOf = (bytes, type) => {
    const mime = type === null ? null : internal.mime(type);
    if (mime !== null && mime.essence === 'multipart/form-data' && mime.boundary !== '') return internal.parseMultipart(bytes, mime.boundary);
    if (mime !== null && mime.essence === 'application/x-www-form-urlencoded') return internal.formData(internal.sync('form.parse', internal.sync('text.decode', 'utf-8', 2, '', internal.bufferOf(bytes))));
    throw new p.TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
  };

  // mixBody adds the members of WebIDL's Body mixin to C.prototype. stateOf(o) returns {body, headers}, or throws.
  internal.mixBody = (C, stateOf) => {
    const consume = (self, convert) => {
      let state;
      try {
        state = stateOf(self);
        if (unusable(state.body)) throw new p.TypeError('Body is unusable: Body has already been read');
      } catch (e) { return p.promiseReject(e); }
      const d = streams.deferred();
      readAll(state.body, (bytes) => {
        try { d.resolve(convert(bytes, state)); } catch (e) { d.reject(e); }
      }, d.reject);
      return d.promise;
    };
    const members = {
      get body() {
        const { body: b } = stateOf(this);
        return b === null ? null : streamOf(b).object;
      },
      get bodyUsed() { return used(stateOf(this).body); },
      arrayBuffer() { return consume(this, (bytes) => p.typedBuffer(internal.copy(bytes))); },
      blob() {
        return consume(this, (bytes, state) => {
          const type = internal.getHeader(internal.headerList(state.headers), 'content-type');
          return internal.blob(internal.copy(bytes), type === null ? '' : internal.mime(type)?.text ?? '');
        });
      },
      bytes() { return consume(this, (bytes) => internal.copy(bytes)); },
      formData() { return consume(this, (bytes, state) => formOf(internal.copy(bytes), internal.getHeader(internal.headerList(state.headers), 'content-type'))); },
      json() { return consume(this, (bytes) => internal.parseJSON(internal.decodeText(bytes))); },
      text() { return consume(this, internal.decodeText); },
    };
    const names = p.keys(members);
    for (let i = 0; i < names.length; i++) p.defineProperty(C.prototype, names[i], { __proto__: p.getOwnPropertyDescriptor(members, names[i]), enumerable: true });
  };
  return internal;
}
