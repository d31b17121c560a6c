// Node's zlib. The host compresses and decompresses.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { concat } = Buffer; // minizlib replaces it while it calls _processChunk
  const { Transform, finished } = modules.stream;
  const constants = {
    Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6,
    Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0,
    Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15, Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384, Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9, Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
ZLIB_VERNUM: 4880, DEFLATE: 1, INFLATE: 2, GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7, BROTLI_DECODE: 8, BROTLI_ENCODE: 9, BROTLI_OPERATION_PROCESS: 0, BROTLI_OPERATION_FLUSH: 1, BROTLI_OPERATION_FINISH: 2,
    BROTLI_OPERATION_EMIT_METADATA: 3, BROTLI_PARAM_MODE: 0, BROTLI_MODE_GENERIC: 0, BROTLI_MODE_TEXT: 1, BROTLI_MODE_FONT: 2, BROTLI_DEFAULT_MODE: 0, BROTLI_PARAM_QUALITY: 1, BROTLI_MIN_QUALITY: 0, BROTLI_MAX_QUALITY: 11,
    BROTLI_DEFAULT_QUALITY: 11, BROTLI_PARAM_LGWIN: 2, BROTLI_MIN_WINDOW_BITS: 10, BROTLI_MAX_WINDOW_BITS: 24, BROTLI_LARGE_MAX_WINDOW_BITS: 30, BROTLI_DEFAULT_WINDOW: 22, BROTLI_PARAM_LGBLOCK: 3, BROTLI_MIN_INPUT_BLOCK_BITS: 16,
    BROTLI_MAX_INPUT_BLOCK_BITS: 24, BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING: 4, BROTLI_PARAM_SIZE_HINT: 5, BROTLI_PARAM_LARGE_WINDOW: 6, BROTLI_PARAM_NPOSTFIX: 7, BROTLI_PARAM_NDIRECT: 8, BROTLI_DECODER_RESULT_ERROR: 0,
    BROTLI_DECODER_RESULT_SUCCESS: 1, BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: 2, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: 3, BROTLI_DECODER_PARAM_DISABLE_RING_BUFFER_REALLOCATION: 0, BROTLI_DECODER_PARAM_LARGE_WINDOW: 1,
    BROTLI_DECODER_NO_ERROR: 0, BROTLI_DECODER_SUCCESS: 1, BROTLI_DECODER_NEEDS_MORE_INPUT: 2, BROTLI_DECODER_NEEDS_MORE_OUTPUT: 3, BROTLI_DECODER_ERROR_FORMAT_EXUBERANT_NIBBLE: -1, BROTLI_DECODER_ERROR_FORMAT_RESERVED: -2,
    BROTLI_DECODER_ERROR_FORMAT_EXUBERANT_META_NIBBLE: -3, BROTLI_DECODER_ERROR_FORMAT_SIMPLE_HUFFMAN_ALPHABET: -4, BROTLI_DECODER_ERROR_FORMAT_SIMPLE_HUFFMAN_SAME: -5, BROTLI_DECODER_ERROR_FORMAT_CL_SPACE: -6,
    BROTLI_DECODER_ERROR_FORMAT_HUFFMAN_SPACE: -7, BROTLI_DECODER_ERROR_FORMAT_CONTEXT_MAP_REPEAT: -8, BROTLI_DECODER_ERROR_FORMAT_BLOCK_LENGTH_1: -9, BROTLI_DECODER_ERROR_FORMAT_BLOCK_LENGTH_2: -10,
    BROTLI_DECODER_ERROR_FORMAT_TRANSFORM: -11, BROTLI_DECODER_ERROR_FORMAT_DICTIONARY: -12, BROTLI_DECODER_ERROR_FORMAT_WINDOW_BITS: -13, BROTLI_DECODER_ERROR_FORMAT_PADDING_1: -14, BROTLI_DECODER_ERROR_FORMAT_PADDING_2: -15,
    BROTLI_DECODER_ERROR_FORMAT_DISTANCE: -16, BROTLI_DECODER_ERROR_DICTIONARY_NOT_SET: -19, BROTLI_DECODER_ERROR_INVALID_ARGUMENTS: -20, BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES: -21, BROTLI_DECODER_ERROR_ALLOC_TREE_GROUPS: -22,
    BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MAP: -25, BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_1: -26, BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_2: -27, BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES: -30,
    BROTLI_DECODER_ERROR_UNREACHABLE: -31,
  };

  const errors = { Z_NEED_DICT: 2, Z_DATA_ERROR: -3, Z_BUF_ERROR: -5 };
  // inRange returns a number of options that is between two bounds, and otherwise if there is none.
  const inRange = (v, name, least, most, otherwise) => {
    if (v === undefined || v !== v) return otherwise;
    if (typeof v !== 'number') throw internal.nodeWrongType(name, 'of type number', v);
    if (v === Infinity || v === -Infinity) throw internal.nodeOutOfRange(name, 'a finite number', v);
    if (v < least || v > most) throw internal.nodeOutOfRange(name, most === Infinity ? `>= ${least}` : `>= ${least} and <= ${most}`, v);
    return v;
  };
  const dictionaryOf = (d) => {
    if (d === undefined) return undefined;
    if (!ArrayBuffer.isView(d) && !internal.isBuffer(d)) throw internal.nodeWrongType('options.dictionary', 'an instance of Buffer, TypedArray, DataView, or ArrayBuffer', d);
    return internal.isBuffer(d) ? d : internal.bufferOf(new Uint8Array(d.buffer, d.byteOffset, d.byteLength));
  };
  // checked returns the settings that options give for a format.
  const checked = (format, options) => {
    const o = options ?? {}, out = { level: -1, strategy: 0, windowBits: 15, dictionary: undefined };
    if (format.startsWith('brotli')) {
      const seen = new Set();
      for (const key of Object.keys(o.params ?? {})) {
        const k = +key, v = o.params[key];
        if (!(k >= 0 && k <= 9) || seen.has(k)) throw nodeError(RangeError, 'ERR_BROTLI_INVALID_PARAM', `${key} is not a valid Brotli parameter`);
        if (typeof v !== 'number' && typeof v !== 'boolean') throw internal.nodeWrongType('options.params[key]', 'of type number', v);
        seen.add(k);
        if (k === 4 && v > 1) throw Object.assign(new Error('Initialization failed'), { code: 'ERR_ZLIB_INITIALIZATION_FAILED' });
      }
      out.level = Math.min(Math.max(o.params?.[1] ?? 11, 0), 11) | 0;
    } else {
      const free = ['gunzip', 'inflate', 'unzip'].includes(format) && (o.windowBits === undefined || o.windowBits === null || o.windowBits === 0);
      if (!free) out.windowBits = inRange(o.windowBits ?? undefined, 'options.windowBits', format === 'gzip' ? 9 : 8, 15, 15);
      out.level = inRange(o.level, 'options.level', -1, 9, -1);
      inRange(o.memLevel, 'options.memLevel', 1, 9, 8);
      out.strategy = inRange(o.strategy, 'options.strategy', 0, 4, 0);
      out.dictionary = dictionaryOf(o.dictionary);
      if (format.startsWith('g')) out.dictionary = undefined;
    }
    const kinds = format.startsWith('brotli') ? 3 : 5;
    out.chunkSize = inRange(o.chunkSize, 'options.chunkSize', 64, Infinity, 16384);
    out.flush = inRange(o.flush, 'options.flush', 0, kinds, 0);
    out.finishFlush = inRange(o.finishFlush, 'options.finishFlush', 0, kinds, format.startsWith('brotli') ? 2 : 4);
    out.most = inRange(o.maxOutputLength, 'options.maxOutputLength', 1, modules.buffer.kMaxLength, 0x7fffffff);
    out.partial = format.startsWith('brotli') || out.finishFlush === 4 ? 0 : 1;
    return out;
  };
  const inputOf = (input) => {
    const bytes = typeof input === 'string' ? Buffer.from(input) : ArrayBuffer.isView(input) ? input : internal.isBuffer(input) ? new Uint8Array(input) : undefined;
    if (bytes === undefined) throw internal.nodeWrongType('buffer', 'of type string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer', input);
    return internal.bufferOf(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  };
  const pieceOf = (b) => internal.bufferOf(new Uint8Array(b.buffer, b.byteOffset, b.byteLength));
  // narrowed writes the size of a smaller window into the header of zlib, if the data is no longer than the window.
  const narrowed = (out, settings, length) => {
    const bits = Math.max(settings.windowBits, 9);
    if (bits === 15 || length > 2 ** bits - 262) return out;
    out[0] = bits - 8 << 4 | 8;
    out[1] &= 0xe0;
    out[1] += 31 - (out[0] * 256 + out[1]) % 31;
    return out;
  };
  const run = (format, input, settings) => {
    const most = Math.min(settings.most, 0x7fffffff) | 0;
    const out = internal.sync('zlib', format, settings.level, most, input, settings.partial, settings.dictionary);
    if (internal.isBuffer(out)) return format === 'deflate' ? narrowed(Buffer.from(out), settings, input.byteLength) : Buffer.from(out);
    if (out[0] === 'ERR_BUFFER_TOO_LARGE') throw nodeError(RangeError, out[0], `Cannot create a Buffer larger than ${most} bytes`);
    const e = nodeError(Error, out[0], out[1]);
    e.errno = errors[out[0]] ?? -3;
    throw e;
  };

  // A stream that compresses buffers its input and emits its output at the end, or what there is by a flush. One that
  // decompresses emits what it can, and keeps its input for Node's words about what is wrong with it. They are functions,
  // which older code calls with its own objects.
  const inputs = Symbol('parts'), given = Symbol('settings'), opened = Symbol('stream'), pushed = Symbol('pushed'), kindOf = Symbol('flush');
  // handleOf returns what libraries use of the binding below a stream. It gives no output before the last input.
  const handleOf = (s, format) => {
    let output, at = 0;
    return {
      writeSync(kind, input, from, size, out, to, room) {
        if (size > 0) s[inputs].push(Buffer.from(input.subarray(from, from + size)));
        if (output === undefined && kind === s._finishFlushFlag) output = run(format, pieceOf(concat(s[inputs])), s[given]);
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
  const inherit = (C, Base) => {
    Object.setPrototypeOf(C.prototype, Base.prototype);
    Object.setPrototypeOf(C, Base);
  };
  const give = (s, out) => {
    const size = s._chunkSize;
    for (let i = 0; i < out.length; i += size) s.push(out.subarray(i, i + size));
    s[pushed] += out.length;
  };
  const drop = (s, packs) => {
    if (typeof s[opened] === 'number') internal.sync('zip.drop', packs ? 1 : 0, s[opened]);
    s[opened] = undefined;
  };

  function ZlibBase(options, format, finish) {
    const settings = checked(format, options);
    if (options && (options.encoding || options.objectMode || options.writableObjectMode)) options = { ...options, encoding: null, objectMode: false, writableObjectMode: false };
    Transform.call(this, { autoDestroy: true, ...options });
    for (const [name, value] of [[inputs, []], [given, settings], [opened, undefined], [pushed, 0]]) internal.define(this, name, value);
    this.bytesWritten = 0;
    this._chunkSize = settings.chunkSize;
    this._defaultFlushFlag = settings.flush;
    this._finishFlushFlag = settings.finishFlush;
    this._defaultFullFlushFlag = finish === 4 ? constants.Z_FULL_FLUSH : constants.BROTLI_OPERATION_FLUSH;
    this._info = options?.info;
    this._maxOutputLength = settings.most;
    if (finish === 4) {
      this._level = settings.level;
      this._strategy = settings.strategy;
    }
  }
  inherit(ZlibBase, Transform);
  // The chunks that ask for a flush.
  const flushes = [0, 1, 2, 3, 4, 5].map((kind) => Object.assign(Buffer.alloc(0), { [kindOf]: kind }));
  const shared = {
    close(done) {
      if (done) finished(this, done);
      this.destroy();
    },
    flush(kind, done) {
      if (typeof kind === 'function' || kind === undefined && !done) {
        done = kind;
        kind = this._defaultFullFlushFlag;
      }
      if (this.writableFinished) {
        if (done) process.nextTick(done);
      } else if (this.writableEnded) {
        if (done) this.once('end', done);
      } else this.write(flushes[kind], '', done);
    },
    reset() {
      drop(this, this._packs);
      this[inputs] = [];
      this[pushed] = 0;
    },
    _destroy(e, done) {
      drop(this, this._packs);
      internal.define(this, '_handle', null);
      done(e);
    },
  };
  for (const name of Object.keys(shared)) ZlibBase.prototype[name] = shared[name];
  for (const [name, get, set] of [['_closed', (s) => s.destroyed], ['bytesRead', (s) => s.bytesWritten, (s, v) => { s.bytesWritten = v; }]]) {
    Object.defineProperty(ZlibBase.prototype, name, { __proto__: null, configurable: true, enumerable: true, get() { return get(this); }, ...set && { set(v) { set(this, v); } } });
  }
  function Zlib() {}
  inherit(Zlib, ZlibBase);
  Zlib.prototype.params = function params(level, strategy, done) {
    inRange(level, 'level', -1, 9);
    inRange(strategy, 'strategy', 0, 4);
    if (this._level === level && this._strategy === strategy) {
      process.nextTick(done);
      return;
    }
    this.flush(constants.Z_SYNC_FLUSH, () => {
      if (this.destroyed) return;
      this._level = level;
      this._strategy = strategy;
      if (this[opened] === undefined) this[given].level = level;
      done?.();
    });
  };
  function Brotli() {}
  inherit(Brotli, Zlib);

  // compress gives a stream that was flushed the input since then. After the last input it is closed.
  const compress = (s, format, then) => {
    const part = concat(s[inputs].splice(0)), { level, dictionary } = s[given];
    s[opened] ??= internal.sync('zip.open', format, level, dictionary);
    const out = Buffer.from(internal.sync('zip.write', s[opened], pieceOf(part), then));
    if (then === 1) s[opened] = undefined;
    return out;
  };
  const whole = (s, format) => run(format, pieceOf(concat(s[inputs])), s[given]);
  const buffered = 'buffered'; // the decompressor of a stream that decompresses at its end
  const webFormats = { gunzip: 'gzip', inflate: 'deflate', 'inflate-raw': 'deflate-raw', 'brotli-decompress': 'brotli' };
  // decompress emits what a chunk gives. What the host's decompressor refuses is looked at as a whole.
  const decompress = (s, format, chunk) => {
    let pieces = [];
    try {
      if (s[given].dictionary !== undefined) throw new TypeError('a dictionary');
      if (format === 'unzip') {
        const start = concat(s[inputs]);
        if (start.length < 2) return;
        format = start[0] === 0x1f && start[1] === 0x8b ? 'gunzip' : 'inflate';
        if (s[opened] === undefined) chunk = start;
      }
      s[opened] ??= internal.sync('unzip.open', webFormats[format]);
      for (let out = internal.sync('unzip.step', s[opened], pieceOf(chunk), 0); out !== null; out = internal.sync('unzip.step', s[opened], null, 0)) pieces.push(Buffer.from(out));
    } catch {
      s[opened] = buffered;
      let out;
      try { out = whole(s, format); } catch (e) {
        if (e.code !== 'Z_BUF_ERROR') throw e;
      }
      if (out !== undefined && s[given].dictionary === undefined) {
        const rest = out.subarray(s[pushed]);
        pieces = [];
        give(s, rest);
        if (format !== 'gunzip') s.push(null);
      }
    }
    for (const piece of pieces) give(s, piece);
  };

  const stream = (format, name) => {
    const brotli = format.startsWith('brotli'), packs = ['gzip', 'deflate', 'deflate-raw', 'brotli'].includes(format);
    // C makes a stream. On JavaScriptCore, the host gives declarations of functions a prototype, and expressions none.
    function C(options) {
      if (!(this instanceof C)) return new C(options);
      ZlibBase.call(this, options, format, brotli ? 2 : 4);
    }
    Object.defineProperty(C, 'name', { value: name, configurable: true });
    inherit(C, brotli ? Brotli : Zlib);
    const methods = {
      _packs: packs,
      _transform(chunk, encoding, done) {
        const kind = chunk[kindOf] ?? this._defaultFlushFlag;
        try {
          if (chunk[kindOf] === undefined) {
            this[inputs].push(chunk);
            this.bytesWritten += chunk.length;
          }
          const last = this.writableEnded && this.writableLength === chunk.byteLength;
          if (packs) {
            if (kind !== 0 && !last) give(this, compress(this, format, 2));
          } else if (chunk.length > 0 && this[opened] !== buffered && (this[opened] !== undefined || !last)) decompress(this, format, chunk);
        } catch (e) {
          done(e);
          return;
        }
        done();
      },
      _flush(done) {
        try {
          if (packs && this[opened] !== undefined) give(this, compress(this, format, 1));
          else if (!this.readableEnded && !this._readableState.ended) give(this, whole(this, format).subarray(this[pushed]));
          drop(this, packs);
        } catch (e) {
          done(e);
          return;
        }
        done();
      },
      _processChunk(chunk, kind, done) {
        const process = () => {
          if (chunk?.length > 0) this[inputs].push(Buffer.from(chunk));
          return kind === this._finishFlushFlag ? run(format, pieceOf(concat(this[inputs].splice(0))), this[given]) : Buffer.alloc(0);
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
  const zlib = {};
  const formats = [
    ['gzip', 'Gzip', 'gzip'], ['gunzip', 'Gunzip', 'gunzip'], ['deflate', 'Deflate', 'deflate'], ['inflate', 'Inflate', 'inflate'], ['deflateRaw', 'DeflateRaw', 'deflate-raw'],
    ['inflateRaw', 'InflateRaw', 'inflate-raw'], ['unzip', 'Unzip', 'unzip'], ['brotliCompress', 'BrotliCompress', 'brotli'], ['brotliDecompress', 'BrotliDecompress', 'brotli-decompress'],
  ];
  for (const [name, C, format] of formats) {
    const answer = (out, options) => options?.info ? { buffer: out, engine: new zlib[C](options) } : out;
    zlib[name + 'Sync'] = (input, options) => answer(run(format, inputOf(input), checked(format, options)), options);
    zlib[name] = (input, options, done) => {
      if (typeof options === 'function') { done = options; options = {}; }
      const settings = checked(format, options);
      if (typeof done !== 'function') throw internal.nodeWrongType('callback', 'of type function', done);
      if (typeof input !== 'string' && !ArrayBuffer.isView(input) && !internal.isBuffer(input)) throw internal.nodeWrongType('chunk', 'of type string or an instance of Buffer, TypedArray, or DataView', input);
      let out, failure = null;
      try { out = answer(run(format, inputOf(input), settings), options); } catch (e) { failure = e; }
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
  const codes = {};
  for (const [name, code] of Object.entries({ Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6 })) {
    codes[name] = code;
    codes[code] = name;
  }
  for (const name of Object.keys(constants)) Object.defineProperty(constants, name, { __proto__: null, writable: false, configurable: false });
  for (const [name, value] of [['constants', constants], ['codes', Object.freeze(codes)]]) Object.defineProperty(zlib, name, { __proto__: null, value, enumerable: true, configurable: false, writable: false });
  modules.zlib = zlib;
  return internal;
}
