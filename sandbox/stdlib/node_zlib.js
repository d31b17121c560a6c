// Node's zlib. The host compresses and decompresses.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { Transform } = modules.stream;
  const constants = {
    Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5,
    Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0,
    Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15, Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384, Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9, Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
    BROTLI_PARAM_MODE: 0, BROTLI_PARAM_QUALITY: 1, BROTLI_PARAM_LGWIN: 2, BROTLI_PARAM_SIZE_HINT: 5, BROTLI_MIN_QUALITY: 0, BROTLI_MAX_QUALITY: 11, BROTLI_DEFAULT_QUALITY: 11,
  };

  const codes = { Z_DATA_ERROR: -3, Z_BUF_ERROR: -5 };
  const run = (format, input, options) => {
    const bytes = typeof input === 'string' ? Buffer.from(input) : ArrayBuffer.isView(input) ? input : internal.isBuffer(input) ? new Uint8Array(input) : undefined;
    if (bytes === undefined) throw internal.nodeWrongType('buffer', 'of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer', input);
    const level = format.startsWith('brotli') ? options?.params?.[1] ?? 11 : options?.level ?? -1;
    if (!Number.isInteger(level) || level < -1 || level > (format.startsWith('brotli') ? 11 : 9)) throw internal.nodeOutOfRange('options.level', '>= -1 and <= 9', level);
    const most = Math.min(options?.maxOutputLength ?? 0x7fffffff, 0x7fffffff) | 0;
    const out = internal.sync('zlib', format, level | 0, most, internal.bufferOf(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
    if (internal.isBuffer(out)) return Buffer.from(out);
    if (out[0] === 'ERR_BUFFER_TOO_LARGE') throw nodeError(RangeError, out[0], `Cannot create a Buffer larger than ${most} bytes`);
    const e = nodeError(Error, out[0], out[1]);
    e.errno = codes[out[0]] ?? -3;
    throw e;
  };

  // Streams buffer their input and emit all output at the end.
  const stream = (format, name) => {
    const C = { [name]: class extends Transform {
      #parts = []; #options;
      constructor(options = {}) { super(options); this.#options = options; this.bytesWritten = 0; }
      _transform(chunk, encoding, done) { this.#parts.push(chunk); this.bytesWritten += chunk.length; done(); }
      _flush(done) {
        try {
          const out = run(format, Buffer.concat(this.#parts), this.#options);
          const size = this.#options.chunkSize ?? 16384;
          for (let i = 0; i < out.length; i += size) this.push(out.subarray(i, i + size));
          done();
        } catch (e) { done(e); }
      }
      close(done) { if (done) this.once('close', done); this.destroy(); }
      flush(kind, done) { (typeof kind === 'function' ? kind : done)?.(); }
      reset() { this.#parts = []; }
    } }[name];
    return C;
  };
  const zlib = { constants, codes };
  const formats = [
    ['gzip', 'Gzip', 'gzip'], ['gunzip', 'Gunzip', 'gunzip'], ['deflate', 'Deflate', 'deflate'], ['inflate', 'Inflate', 'inflate'], ['deflateRaw', 'DeflateRaw', 'deflate-raw'],
    ['inflateRaw', 'InflateRaw', 'inflate-raw'], ['unzip', 'Unzip', 'unzip'], ['brotliCompress', 'BrotliCompress', 'brotli'], ['brotliDecompress', 'BrotliDecompress', 'brotli-decompress'],
  ];
  for (const [name, C, format] of formats) {
    zlib[name + 'Sync'] = (input, options) => run(format, input, options);
    zlib[name] = (input, options, done) => {
      if (typeof options === 'function') { done = options; options = {}; }
      if (typeof done !== 'function') throw internal.nodeWrongType('callback', 'of type function', done);
      let out, failure = null;
      try { out = run(format, input, options); } catch (e) { failure = e; }
      process.nextTick(done, failure, out);
    };
    zlib[C] = stream(format, C);
    zlib['create' + C] = (options) => new zlib[C](options);
  }
  const table = new Int32Array(256);
  for (let i = 0; i < 256; i++) {
    let c = i;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >>> 1 : c >>> 1;
    table[i] = c;
  }
  zlib.crc32 = (data, value = 0) => {
    const b = typeof data === 'string' ? Buffer.from(data) : data;
    let c = ~value;
    for (let i = 0; i < b.length; i++) c = table[(c ^ b[i]) & 255] ^ c >>> 8;
    return ~c >>> 0;
  };
  Object.assign(zlib, constants);
  zlib.codes = {};
  for (const name of ['Z_OK', 'Z_STREAM_END', 'Z_NEED_DICT', 'Z_ERRNO', 'Z_STREAM_ERROR', 'Z_DATA_ERROR', 'Z_MEM_ERROR', 'Z_BUF_ERROR']) {
    zlib.codes[name] = constants[name];
    zlib.codes[constants[name]] = name;
  }
  modules.zlib = zlib;
  return internal;
}
