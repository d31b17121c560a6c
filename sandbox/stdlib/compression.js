// CompressionStream and DecompressionStream. The host keeps the codec's state. Output arrives in pieces, so the guest's
// memory limit bounds the size of decompressed data.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  const formats = ['brotli', 'deflate', 'deflate-raw', 'gzip'];

  const formatOf = (v, what) => {
    const format = internal.text(v);
    if (p.arrayIndexOf(formats, format) < 0) throw new p.TypeError(`${what}: ${format} is not a supported compression format`);
    return format;
  };
  const bufferOf = (chunk) => internal.bufferOf(internal.copy(chunk, 'the chunk'));
  const nothing = () => new p.ArrayBuffer(0);

  internal.expose(class CompressionStream {
    #t;
    constructor(format) {
      internal.need(arguments.length, 1, 'CompressionStream');
      const kind = formatOf(format, 'CompressionStream');
      let id = 0; // opened with the first chunk
      const write = (buffer, last, put) => {
        if (id === 0) id = internal.sync('zip.open', kind);
        const out = new p.Uint8Array(internal.sync('zip.write', id, buffer, last));
        if (p.typedLength(out) > 0) put(out);
      };
      this.#t = streams.transformer((chunk, put) => { write(bufferOf(chunk), 0, put); }, (put) => { write(nothing(), 1, put); }, () => { internal.sync('zip.drop', 1, id); });
    }
    get readable() { return this.#t.readable; }
    get writable() { return this.#t.writable; }
  });

  internal.expose(class DecompressionStream {
    #t;
    constructor(format) {
      internal.need(arguments.length, 1, 'DecompressionStream');
      const kind = formatOf(format, 'DecompressionStream');
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
    get readable() { return this.#t.readable; }
    get writable() { return this.#t.writable; }
  });
  return internal;
}
