// Node's zlib. The host compresses and decompresses.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { concat } = Buffer; // minizlib replaces it while it calls _processChunk
  const { Transform, finished } = modules.stream;
  const constants = internal.zlibConstants;

  const errors = { Z_NEED_DICT: 2, Z_DATA_ERROR: -3, Z_BUF_ERROR: -5 };
  // set returns a number of options that were checked, and otherwise if there is none.
  const set = (v, otherwise) => v === undefined || v !== v ? otherwise : v;
  const dictionaryOf = (d) => {
    if (d === undefined) return undefined;
    return internal.isBuffer(d) ? d : internal.bufferOf(new Uint8Array(d.buffer, d.byteOffset, d.byteLength));
  };
  // checked returns the settings that options give for a format. Nobody changes them.
  const usual = { __proto__: null };
  const checked = (format, options) => {
    if (options === undefined) return usual[format] ??= checked(format, null);
    internal.checkZlib(format, options);
    const o = options ?? {}, brotli = format.startsWith('brotli');
    const finishFlush = set(o.finishFlush, brotli ? constants.BROTLI_OPERATION_FINISH : constants.Z_FINISH);
    return {
      level: brotli ? Math.min(Math.max(o.params?.[1] ?? 11, 0), 11) | 0 : Math.trunc(set(o.level, -1)),
      strategy: brotli ? 0 : set(o.strategy, 0),
      windowBits: brotli ? 15 : set(o.windowBits, 15) || 15,
      dictionary: brotli || format.startsWith('g') ? undefined : dictionaryOf(o.dictionary),
      chunkSize: set(o.chunkSize, constants.Z_DEFAULT_CHUNK), flush: set(o.flush, 0), finishFlush,
      most: set(o.maxOutputLength, 0x7fffffff), partial: brotli || finishFlush === constants.Z_FINISH ? 0 : 1,
    };
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
    const out = internal.sync('zlib', format, settings.level, most, input, settings.partial + 2 * settings.strategy, settings.dictionary);
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
    const settings = { ...checked(format, options) };
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
    internal.zlibRange(level, 'level', -1, 9);
    internal.zlibRange(strategy, 'strategy', 0, 4);
    if (this._level === level && this._strategy === strategy) {
      process.nextTick(done);
      return;
    }
    this.flush(constants.Z_SYNC_FLUSH, () => {
      if (this.destroyed) return;
      this._level = level;
      this._strategy = strategy;
      if (this[opened] === undefined) Object.assign(this[given], { level, strategy });
      done?.();
    });
  };
  function Brotli() {}
  inherit(Brotli, Zlib);

  // compress gives a stream that was flushed the input since then. After the last input it is closed.
  const compress = (s, format, then) => {
    const part = concat(s[inputs].splice(0)), { level, dictionary, strategy } = s[given];
    s[opened] ??= internal.sync('zip.open', format, level, dictionary, strategy);
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
    // result adds the stream to what is returned if options ask for it.
    const result = (out, options) => options?.info ? { buffer: out, engine: new zlib[C](options) } : out;
    zlib[name + 'Sync'] = function syncBufferWrapper(buffer, options) {
      const input = inputOf(buffer);
      return result(run(format, input, checked(format, options)), options);
    };
    zlib[name] = function asyncBufferWrapper(buffer, options, callback) {
      if (typeof options === 'function') [callback, options] = [options, {}];
      internal.check.func(callback, 'callback');
      const settings = checked(format, options);
      buffer ??= ''; // a stream that is ended with nothing
      if (typeof buffer !== 'string' && !ArrayBuffer.isView(buffer) && !internal.isBuffer(buffer)) {
        throw internal.nodeWrongType('chunk', 'of type string or an instance of Buffer, TypedArray, or DataView', buffer);
      }
      let out, failure = null;
      try { out = result(run(format, inputOf(buffer), settings), options); } catch (e) { failure = e; }
      process.nextTick(() => { if (failure === null) callback(null, out); else callback(failure); });
    };
    zlib[C] = stream(format, C);
    Object.defineProperty(zlib, 'create' + C, { value: function value(options) { return new zlib[C](options); }, enumerable: true, configurable: true });
  }
  const table = new Int32Array(256);
  for (let i = 0; i < 256; i++) {
    let c = i;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >>> 1 : c >>> 1;
    table[i] = c;
  }
  zlib.crc32 = function crc32(data, value = 0) {
    if (typeof data !== 'string' && !ArrayBuffer.isView(data)) throw internal.nodeWrongType('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
    internal.check.uint32(value, 'value');
    const b = typeof data === 'string' ? Buffer.from(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    let c = ~value;
    for (let i = 0; i < b.length; i++) c = table[(c ^ b[i]) & 255] ^ c >>> 8;
    return ~c >>> 0;
  };
  // Libraries read the older names of constants from the module itself.
  for (const name of Object.keys(constants)) Object.defineProperty(zlib, name, { value: constants[name] });
  const names = {};
  for (const name of ['Z_OK', 'Z_STREAM_END', 'Z_NEED_DICT', 'Z_ERRNO', 'Z_STREAM_ERROR', 'Z_DATA_ERROR', 'Z_MEM_ERROR', 'Z_BUF_ERROR', 'Z_VERSION_ERROR']) names[name] = constants[name];
  for (const name of Object.keys(names)) names[names[name]] = name;
  Object.defineProperty(zlib, 'constants', { value: constants, enumerable: true });
  Object.defineProperty(zlib, 'codes', { value: Object.freeze(names), enumerable: true });
  modules.zlib = zlib;
  return internal;
}
