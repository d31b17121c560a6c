// Node's streams. streams_bundle.js implements them: it is Node's own code. This file gives it what it needs of Node's other
// modules, and makes the modules that it does not have.
(host, internal) => {
  'use strict';
  const { modules, nodeError, define } = internal;
  const { Buffer } = modules.buffer;

  // oneOf returns what a value must be: one of a list of types, classes and other things.
  const oneOf = (expected) => {
    const kinds = ['string', 'function', 'number', 'object', 'Function', 'Object', 'boolean', 'bigint', 'symbol'];
    const types = [], classes = [], others = [];
    for (const name of Array.isArray(expected) ? expected : [expected]) {
      if (kinds.includes(name)) types.push(name.toLowerCase());
      else (/^([A-Z][a-z0-9]*)+$/.test(name) ? classes : others).push(name);
    }
    if (classes.length > 0 && types.includes('object')) {
      types.splice(types.indexOf('object'), 1);
      classes.push('Object');
    }
    const list = (names) => names.length < 3 ? names.join(' or ') : `${names.slice(0, -1).join(', ')}, or ${names[names.length - 1]}`;
    const out = [];
    if (types.length > 0) out.push(`${types.length > 1 ? 'one of type' : 'of type'} ${list(types)}`);
    if (classes.length > 0) out.push(`an instance of ${list(classes)}`);
    if (others.length > 1) out.push(`one of ${list(others)}`);
    else if (others.length > 0) out.push(`${others[0].toLowerCase() === others[0] ? '' : 'an '}${others[0]}`);
    return out.join(' or ');
  };

  const codes = { __proto__: null };
  const simple = (Base, code, message) => { codes[code] = function (what) { return nodeError(Base, code, message.replace('%s', typeof what === 'string' ? what : internal.inspect(what))); }; };
  codes.ERR_INVALID_ARG_TYPE = function (name, expected, v) {
    return internal.nodeWrongType(name.endsWith(' argument') ? name : `"${name}" ${name.includes('.') ? 'property' : 'argument'}`, oneOf(expected), v);
  };
  codes.ERR_INVALID_ARG_VALUE = function (name, v, reason) { return internal.nodeInvalidValue(name, v, reason); };
  codes.ERR_INVALID_RETURN_VALUE = function (wanted, name, v) {
    return nodeError(TypeError, 'ERR_INVALID_RETURN_VALUE', `Expected ${wanted} to be returned from the "${name}" function but got${internal.nodeKind(v).slice(9)}.`);
  };
  codes.ERR_MISSING_ARGS = function (name) { return nodeError(TypeError, 'ERR_MISSING_ARGS', `The "${name}" argument must be specified`); };
  codes.ERR_MISSING_ARGS.prototype ??= {}; // a class extends it; function expressions have none on JavaScriptCore
  codes.ERR_OUT_OF_RANGE = function (name, range, v) { return internal.nodeOutOfRange(name, range, v); };
  simple(Error, 'ERR_MULTIPLE_CALLBACK', 'Callback called multiple times');
  simple(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The %s method is not implemented');
  simple(TypeError, 'ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor');
  simple(Error, 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call %s after a stream was finished');
  simple(Error, 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable');
  simple(Error, 'ERR_STREAM_DESTROYED', 'Cannot call %s after a stream was destroyed');
  simple(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
  simple(Error, 'ERR_STREAM_PREMATURE_CLOSE', 'Premature close');
  simple(Error, 'ERR_STREAM_PUSH_AFTER_EOF', 'stream.push() after EOF');
  simple(Error, 'ERR_STREAM_UNSHIFT_AFTER_END_EVENT', 'stream.unshift() after end event');
  simple(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end');
  simple(TypeError, 'ERR_UNKNOWN_ENCODING', 'Unknown encoding: %s');
  class AbortError extends Error {
    constructor(message = 'The operation was aborted', options = undefined) {
      super(message, options);
      this.code = 'ABORT_ERR';
      this.name = 'AbortError';
    }
  }
  const aggregateTwoErrors = (inner, outer) => {
    if (!inner || !outer || inner === outer) return inner || outer;
    if (Array.isArray(outer.errors)) {
      outer.errors.push(inner);
      return outer;
    }
    return Object.assign(new AggregateError([outer, inner], outer.message), { code: outer.code });
  };

  const nextTick = (f, ...args) => internal.addTick(f, args);
  const AsyncFunction = (async () => {}).constructor;
  const own = {
    __proto__: null, buffer: modules.buffer, events: modules.events, string_decoder: modules.string_decoder,
    'abort-controller': { AbortController, AbortSignal },
    process: { nextTick, get stdout() { return globalThis.process.stdout; }, get stderr() { return globalThis.process.stderr; } },
    errors: { AbortError, aggregateTwoErrors, codes, hideStackFrames: (f) => f },
    util: {
      kEmptyObject: Object.freeze({ __proto__: null }), inspect: internal.inspect, debuglog: () => () => {}, deprecate: (f) => f,
      once(f) {
        let called = false;
        return function (...args) {
          if (called) return;
          called = true;
          f.apply(this, args);
        };
      },
      createDeferredPromise: () => Promise.withResolvers(),
      promisify: { custom: Symbol.for('nodejs.util.promisify.custom') },
      types: { isAsyncFunction: (f) => f instanceof AsyncFunction, isArrayBufferView: (v) => ArrayBuffer.isView(v) },
      isBlob: (v) => v instanceof Blob, normalizeEncoding: (e) => internal.nodeEncoding(e), getDefaultEncoding: () => 'buffer',
      addAbortListener: modules.events.addAbortListener, AbortSignalAny: (signals) => AbortSignal.any(signals),
    },
  };
  const { stream: Stream, utils, validators, lazy: LazyTransform } = internal.makeStreams(own);
  internal.makeStreams = undefined; // its text is not needed any more
  const { Readable, Writable, Duplex, Transform, PassThrough, finished } = Stream;
  internal.nodeStream = { codes, AbortError, utils, validators, LazyTransform };
  modules.stream = Stream;
  modules['stream/promises'] = Stream.promises;

  // Duplex pairs: what is written to one side is read from the other.
  const pending = Symbol('Callback'), other = Symbol('Other');
  class DuplexSide extends Duplex {
    constructor(options) {
      super(options);
      this[pending] = null;
      this[other] = null;
    }
    _read() {
      const done = this[pending];
      this[pending] = null;
      done?.();
    }
    _write(chunk, encoding, done) {
      const to = this[other];
      if (chunk.length === 0) nextTick(done);
      else {
        to.push(chunk);
        to[pending] = done;
      }
    }
    _final(done) {
      this[other].on('end', done);
      this[other].push(null);
    }
  }
  Stream.duplexPair = function duplexPair(options) {
    const a = new DuplexSide(options), b = new DuplexSide(options);
    a[other] = b;
    b[other] = a;
    return [a, b];
  };

  const collect = async (source) => {
    const parts = [];
    for await (const c of source) parts.push(typeof c === 'string' ? Buffer.from(c) : c);
    return parts;
  };
  const bufferOf = async (source) => Buffer.concat((await collect(source)).map((c) => c instanceof ArrayBuffer ? new Uint8Array(c) : c));
  const textOf = async (source) => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const c of source) text += typeof c === 'string' ? c : decoder.decode(c, { stream: true });
    return text + decoder.decode();
  };
  modules['stream/consumers'] = {
    async arrayBuffer(source) {
      const b = await bufferOf(source);
      return b.buffer.slice(b.byteOffset, b.byteOffset + b.length);
    },
    async blob(source) {
      const parts = [];
      for await (const c of source) parts.push(c);
      return new Blob(parts);
    },
    async buffer(source) { return bufferOf(source); },
    async text(source) { return textOf(source); },
    async json(source) { return JSON.parse(await textOf(source)); },
  };

  // The process's output streams write at once, and stay open. For the rest they are streams.
  for (const output of [globalThis.process.stdout, globalThis.process.stderr]) {
    const { write } = output;
    delete output.writable;
    Object.setPrototypeOf(output, Writable.prototype);
    Writable.call(output, { decodeStrings: false, write(chunk, encoding, done) { done(); } });
    output._type = 'pipe';
    output._isStdio = true;
    const methods = {
      write, cork() {}, uncork() {},
      end(chunk, encoding, done) {
        const ended = [chunk, encoding, done].find((v) => typeof v === 'function');
        if (chunk !== undefined && chunk !== null && chunk !== ended) write.call(this, chunk, typeof encoding === 'string' ? encoding : undefined);
        return Writable.prototype.end.call(this, ended);
      },
      _destroy(e, done) {
        done(e);
        this._undestroy();
      },
      destroySoon: output.destroy,
    };
    for (const name of Object.keys(methods)) define(output, name, methods[name]);
  }
  // This stdin is empty; node_readline.js replaces it.
  const stdin = new Readable({ read() { this.push(null); } });
  Object.assign(stdin, { fd: 0 });
  define(stdin, 'toJSON', () => null);
  globalThis.process.stdin = stdin;
  return internal;
}
