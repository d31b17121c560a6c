// CompressionStream and DecompressionStream. The host keeps the codec's state. Output arrives in pieces, so the guest's
// memory limit bounds the size of decompressed data.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const formats = ['brotli', 'deflate', 'deflate-raw', 'gzip'];

  const formatOf = (v) => {
    const format = internal.text(v);
    if (p.arrayIndexOf(formats, format) < 0) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'format' is invalid. Received ${internal.inspect(v)}`);
    return format;
  };
  const bufferOf = (chunk) => internal.bufferOf(internal.copy(chunk, 'the chunk'));
  const nothing = () => new p.ArrayBuffer(0);

  internal.expose(class CompressionStream {
    #t;
    constructor(format) {
      const kind = formatOf(format);
      let id = 0; // opened with the first chunk
      const write = (buffer, last, put) => {
        if (id === 0) id = internal.sync('zip.open', kind);
        const out = new p.Uint8Array(internal.sync('zip.write', id, buffer, last));
        if (p.typedLength(out) > 0) put(out);
      };
      this.#t = streams.transformer((chunk, put) => { write(bufferOf(chunk), 0, put); }, (put) => { write(nothing(), 1, put); }, () => { internal.sync('zip.drop', 1, id); });
    }
    static #of(o) {
      if (!internal.isObject(o) || !(#t in o)) throw internal.wrongThis('CompressionStream');
      return o.#t;
    }
    get readable() { return CompressionStream.#of(this).readable; }
    get writable() { return CompressionStream.#of(this).writable; }
  });

  internal.expose(class DecompressionStream {
    #t;
    constructor(format) {
      const kind = formatOf(format);
      let id = 0;
      const step = (buffer, last, put) => {
        if (id === 0) id = internal.sync('unzip.open', kind);
        for (let out = internal.sync('unzip.step', id, buffer, last); out !== null; out = internal.sync('unzip.step', id, null, last)) put(new p.Uint8Array(out));
      };
      this.#t = streams.transformer((chunk, put) => {
        const buffer = bufferOf(chunk);
        if (p.bufferLength(buffer) > 0) step(buffer, 0, put);
      }, (put) => { step(nothing(), 1, put); }, () => { internal.sync('zip.drop', 0, id); });
    }
    static #of(o) {
      if (!internal.isObject(o) || !(#t in o)) throw internal.wrongThis('DecompressionStream');
      return o.#t;
    }
    get readable() { return DecompressionStream.#of(this).readable; }
    get writable() { return DecompressionStream.#of(this).writable; }
  });
  return internal;
}
