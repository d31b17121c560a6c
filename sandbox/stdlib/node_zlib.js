// Node's zlib. The host compresses and decompresses.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { concat } = Buffer; // minizlib replaces it while it calls _processChunk
  const { Transform } = modules.stream;
  const constants = {
    Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5,
    Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0,
    Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15, Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384, Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9, Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
    BROTLI_OPERATION_PROCESS: 0, BROTLI_OPERATION_FLUSH: 1, BROTLI_OPERATION_FINISH: 2, BROTLI_OPERATION_EMIT_METADATA: 3, BROTLI_PARAM_MODE: 0, BROTLI_PARAM_QUALITY: 1, BROTLI_PARAM_LGWIN: 2, BROTLI_PARAM_SIZE_HINT: 5, BROTLI_MIN_QUALITY: 0, BROTLI_MAX_QUALITY: 11, BROTLI_DEFAULT_QUALITY: 11,
  };

  const codes = { Z_NEED_DICT: 2, Z_DATA_ERROR: -3, Z_BUF_ERROR: -5 };
  // levelOf returns the level of zlib, or the quality of brotli, that options ask for.
  const levelOf = (format, options) => {
    const brotli = format.startsWith('brotli'), level = brotli ? options?.params?.[1] ?? 11 : options?.level ?? -1;
    if (!Number.isInteger(level) || level < -1 || level > (brotli ? 11 : 9)) throw internal.nodeOutOfRange('options.level', '>= -1 and <= 9', level);
    return level;
  };
  // dictionaryOf returns the bytes of the dictionary of options, for the formats that have one.
  const dictionaryOf = (format, options) => {
    const d = options?.dictionary;
    if (d === undefined || format.startsWith('brotli')) return undefined;
    if (!ArrayBuffer.isView(d) && !internal.isBuffer(d)) throw internal.nodeWrongType('options.dictionary', 'an instance of Buffer, TypedArray, DataView, or ArrayBuffer', d);
    return format.startsWith('g') ? undefined : internal.isBuffer(d) ? d : internal.bufferOf(new Uint8Array(d.buffer, d.byteOffset, d.byteLength));
  };
  const run = (format, input, options) => {
    const bytes = typeof input === 'string' ? Buffer.from(input) : ArrayBuffer.isView(input) ? input : internal.isBuffer(input) ? new Uint8Array(input) : undefined;
    if (bytes === undefined) throw internal.nodeWrongType('buffer', 'of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer', input);
    const most = Math.min(options?.maxOutputLength ?? 0x7fffffff, 0x7fffffff) | 0;
    const partial = options?.finishFlush === undefined || options.finishFlush === constants.Z_FINISH || format.startsWith('brotli') ? 0 : 1;
    const out = internal.sync('zlib', format, levelOf(format, options), most, internal.bufferOf(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)), partial, dictionaryOf(format, options));
    if (internal.isBuffer(out)) return Buffer.from(out);
    if (out[0] === 'ERR_BUFFER_TOO_LARGE') throw nodeError(RangeError, out[0], `Cannot create a Buffer larger than ${most} bytes`);
    const e = nodeError(Error, out[0], out[1]);
    e.errno = codes[out[0]] ?? -3;
    throw e;
  };

  // Streams buffer their input and emit all output at the end, or what there is by a flush. They are functions, which
  // older code calls with its own objects.
  const inputs = Symbol('parts'), settings = Symbol('options'), opened = Symbol('stream');
  const flushing = Buffer.alloc(0); // the chunk that asks for a flush
  // handleOf returns what libraries use of the binding below a stream. It gives no output before the last input.
  const handleOf = (s, format) => {
    let output, at = 0;
    return {
      writeSync(kind, input, from, size, out, to, room) {
        if (size > 0) s[inputs].push(Buffer.from(input.subarray(from, from + size)));
        if (output === undefined && kind === s._finishFlushFlag) output = run(format, concat(s[inputs]), s[settings]);
        const n = output === undefined ? 0 : Math.min(room, output.length - at);
        if (n > 0) out.set(output.subarray(at, at + n), to);
        at += n;
        s._writeState[0] = room - n;
        s._writeState[1] = 0;
      },
      close() {}, params() {},
      reset() {
        s[inputs] = [];
        output = undefined;
        at = 0;
      },
    };
  };
  const stream = (format, name) => {
    const finish = format.startsWith('brotli') ? constants.BROTLI_OPERATION_FINISH : constants.Z_FINISH;
    // C makes a stream. On JavaScriptCore, the host gives declarations of functions a prototype, and expressions none.
    function C(options = {}) {
      if (!(this instanceof C)) return new C(options);
      Transform.call(this, options);
      internal.define(this, inputs, []);
      dictionaryOf(format, options);
      internal.define(this, settings, options);
      this.bytesWritten = 0;
      this._chunkSize = options?.chunkSize ?? constants.Z_DEFAULT_CHUNK;
      this._finishFlushFlag = options?.finishFlush ?? finish;
    }
    Object.defineProperty(C, 'name', { value: name, configurable: true });
    Object.setPrototypeOf(C.prototype, Transform.prototype);
    Object.setPrototypeOf(C, Transform);
    const packs = ['gzip', 'deflate', 'deflate-raw', 'brotli'].includes(format);
    // compress gives a stream that was flushed the input since then. After the last input it is closed.
    const compress = (s, then) => {
      const part = concat(s[inputs].splice(0));
      if (s[opened] === undefined) internal.define(s, opened, internal.sync('zip.open', format, levelOf(format, s[settings]), dictionaryOf(format, s[settings])));
      const out = Buffer.from(internal.sync('zip.write', s[opened], internal.bufferOf(new Uint8Array(part.buffer, part.byteOffset, part.byteLength)), then));
      if (then === 1) internal.define(s, opened, undefined);
      return out;
    };
    const methods = {
      _transform(chunk, encoding, done) {
        if (chunk === flushing) {
          try { this.push(compress(this, 2)); } catch (e) { done(e); return; }
          done();
          return;
        }
        this[inputs].push(chunk);
        this.bytesWritten += chunk.length;
        done();
      },
      _flush(done) {
        try {
          const out = this[opened] === undefined ? run(format, concat(this[inputs]), this[settings]) : compress(this, 1);
          const size = this._chunkSize;
          for (let i = 0; i < out.length; i += size) this.push(out.subarray(i, i + size));
          done();
        } catch (e) { done(e); }
      },
      close(done) { if (done) this.once('close', done); this.destroy(); },
      flush(kind, done) {
        if (typeof kind === 'function') { done = kind; kind = undefined; }
        if (this.writableEnded || this.destroyed) {
          if (done) process.nextTick(done);
          return;
        }
        if (packs) this.write(flushing, '', done);
        else if (done) process.nextTick(done);
      },
      _destroy(e, done) {
        if (this[opened] !== undefined) internal.sync('zip.drop', 1, this[opened]);
        done(e);
      },
      reset() { this[inputs] = []; },
      _processChunk(chunk, kind, done) {
        const process = () => {
          if (chunk?.length > 0) this[inputs].push(Buffer.from(chunk));
          return kind === this._finishFlushFlag ? run(format, concat(this[inputs].splice(0)), this[settings]) : Buffer.alloc(0);
        };
        if (typeof done !== 'function') return process();
        try { this.push(process()); } catch (e) { this.destroy(e); return; }
        globalThis.process.nextTick(done);
      },
    };
    // The parts of the binding are made when a library asks for one.
    const parts = { _handle: (s) => handleOf(s, format), _outBuffer: (s) => Buffer.alloc(s._chunkSize), _outOffset: () => 0, _writeState: () => new Uint32Array(2) };
    for (const name of Object.keys(parts)) {
      Object.defineProperty(C.prototype, name, {
        __proto__: null, configurable: true, set(v) { internal.define(this, name, v); },
        get() {
          const part = this[inputs] === undefined ? undefined : parts[name](this);
          if (part !== undefined) internal.define(this, name, part);
          return part;
        },
      });
    }
    for (const method of Object.keys(methods)) internal.define(C.prototype, method, methods[method]);
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
