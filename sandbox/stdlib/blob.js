// Blob and File. Blobs are immutable, so slices share the bytes.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const blobs = new p.WeakMap(); // blob → {bytes, type}
  const of = (b) => {
    const s = internal.isObject(b) ? p.weakMapGet(blobs, b) : undefined;
    if (s === undefined) throw internal.nodeError(p.TypeError, 'ERR_INVALID_THIS', 'Value of "this" must be of type Blob');
    return s;
  };
  internal.isBlob = (v) => internal.isObject(v) && p.weakMapHas(blobs, v);

  // join concatenates Uint8Arrays.
  internal.join = (list) => {
    if (list.length === 1) return list[0];
    let n = 0;
    for (let i = 0; i < list.length; i++) n += p.typedBytes(list[i]);
    const all = new p.Uint8Array(n);
    n = 0;
    for (let i = 0; i < list.length; i++) {
      p.typedSet(all, list[i], n);
      n += p.typedBytes(list[i]);
    }
    return all;
  };
  // typeOf returns the lower-case type, or '' if it contains anything but printable ASCII.
  const typeOf = (v) => {
    const type = internal.text(v);
    for (let i = 0; i < type.length; i++) {
      const c = p.charCodeAt(type, i);
      if (c < 0x20 || c > 0x7e) return '';
    }
    return p.toLowerCase(type);
  };
  const nativeLines = (s) => {
    let out = '', from = 0;
    for (let i = 0; i < s.length; i++) {
      const c = p.charCodeAt(s, i);
      if (c !== 13) continue;
      out += p.slice(s, from, i) + '\n';
      if (i + 1 < s.length && p.charCodeAt(s, i + 1) === 10) i++;
      from = i + 1;
    }
    return out + p.slice(s, from);
  };
  const part = (v) => {
    if (internal.isBlob(v)) return of(v).bytes;
    if (internal.isBufferSource(v)) return internal.copy(v);
    return internal.usv(v);
  };

  // clamp is WebIDL's [Clamp] long long: it rounds to the nearest integer, and ties to even.
  const clamp = (x) => {
    if (x !== x) return 0;
    const down = p.floor(p.min(p.max(x, -9007199254740991), 9007199254740991)), rest = x - down;
    return rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down;
  };

  class Blob {
    constructor(blobParts = undefined, options = undefined) {
      const method = internal.isObject(blobParts) ? blobParts[internal.symbols.iterator] : undefined;
      if (blobParts !== undefined && typeof method !== 'function') throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', `The "sources" argument must be a sequence.${internal.nodeKind(blobParts)}`);
      const parts = blobParts === undefined ? [] : internal.sequence(blobParts, part, 'Blob: the parts', method);
      if (options !== undefined && options !== null && !internal.isObject(options)) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', `The "options" argument must be a dictionary.${internal.nodeKind(options)}`);
      const o = internal.dictionary(options, 'Blob: the options');
      let { endings } = o;
      endings = endings === undefined ? 'transparent' : internal.text(endings);
      if (endings !== 'transparent' && endings !== 'native') throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.endings' is invalid. Received '${endings}'`);
      const { type } = o;
      const kind = type === undefined ? '' : typeOf(type);
      for (let i = 0; i < parts.length; i++) {
        if (typeof parts[i] === 'string') parts[i] = internal.encodeText(endings === 'native' ? nativeLines(parts[i]) : parts[i]);
      }
      p.weakMapSet(blobs, this, { __proto__: null, bytes: internal.join(parts), type: kind });
    }
    get size() { return p.typedBytes(of(this).bytes); }
    get type() { return of(this).type; }
    slice(start = undefined, end = undefined, contentType = undefined) {
      const { bytes } = of(this), n = p.typedBytes(bytes);
      const at = (v, otherwise) => {
        if (v === undefined) return otherwise;
        v = clamp(+v);
        return v < 0 ? p.max(n + v, 0) : p.min(v, n);
      };
      const from = at(start, 0), to = at(end, n);
      const type = contentType === undefined ? '' : typeOf(contentType);
      return internal.blob(new p.Uint8Array(p.typedBuffer(bytes), p.typedOffset(bytes) + from, p.max(to - from, 0)), type);
    }
    stream() { return internal.bytesStream(of(this).bytes); }
    async text() { return internal.decodeText(of(this).bytes); }
    async arrayBuffer() { return p.typedBuffer(internal.copy(of(this).bytes)); }
    async bytes() { return internal.copy(of(this).bytes); }
  }
  internal.expose(Blob);

  class File extends Blob {
    #name; #modified;
    constructor(fileBits, fileName, options = undefined) {
      internal.need(arguments.length, 2, 'File', ['fileBits', 'fileName']);
      super(internal.isObject(fileBits) ? fileBits : null, options);
      this.#name = internal.usv(fileName);
      const { lastModified } = internal.dictionary(options, 'File: the options');
      if (lastModified !== undefined) this.#modified = p.trunc(+lastModified) || 0;
    }
    get name() { return this.#name; }
    get lastModified() {
      this.#name;
      return this.#modified ??= p.dateNow(); // read lazily: an unused file must not make a run depend on the clock
    }
    get webkitRelativePath() {
      this.#name;
      return '';
    }
    static {
      internal.isFile = (v) => internal.isObject(v) && #name in v;
    }
  }
  internal.expose(File);
  p.defineProperty(File.prototype, 'name', { __proto__: p.getOwnPropertyDescriptor(File.prototype, 'name'), enumerable: true });
  p.defineProperty(File.prototype, 'webkitRelativePath', { __proto__: p.getOwnPropertyDescriptor(File.prototype, 'webkitRelativePath'), enumerable: false });

  // blob and file wrap bytes that the caller no longer writes to.
  internal.blob = (bytes, type) => {
    const b = new Blob();
    const s = of(b);
    s.bytes = bytes;
    s.type = type;
    return b;
  };
  internal.file = (bytes, name, type, lastModified) => {
    const f = new File([], name, { __proto__: null, lastModified });
    const s = of(f);
    s.bytes = bytes;
    s.type = type;
    return f;
  };
  internal.blobBytes = (b) => of(b).bytes;
  p.arrayPush(internal.serialisable, {
    __proto__: null, is: internal.isBlob,
    clone: (b) => internal.isFile(b) ? internal.file(of(b).bytes, b.name, of(b).type, b.lastModified) : internal.blob(of(b).bytes, of(b).type),
  });

  // bytesStream returns a byte stream that emits the bytes in chunks of 64 KiB. Chunks are copies, since consumers may
  // transfer them.
  const chunk = 65536;
  internal.bytesStream = (bytes) => {
    let at = 0;
    const s = streams.create();
    const n = p.typedBytes(bytes);
    streams.setUpBytes(s, () => { if (n === 0) streams.closeBytes(s.controller); }, () => {
      const size = p.min(chunk, n - at);
      const piece = internal.copy(new p.Uint8Array(p.typedBuffer(bytes), p.typedOffset(bytes) + at, size));
      at += size;
      if (size > 0) streams.enqueueBytes(s.controller, internal.span(piece));
      if (at >= n) {
        streams.closeBytes(s.controller);
        if (s.controller.intos.length > 0) streams.respond(s.controller, 0);
      }
      return p.promiseResolve(undefined);
    }, () => p.promiseResolve(undefined), 0, undefined);
    return s.object;
  };
  return internal;
}
