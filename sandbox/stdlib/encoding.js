// atob, btoa, TextEncoder and TextDecoder. The host has the encoding tables.
(host, internal) => {
  'use strict';
  const { p, define } = internal;

  define(globalThis, 'atob', function atob(data) {
    internal.need(arguments.length, 1, 'atob', ['input']);
    return internal.sync('base64.atob', internal.text(data));
  });
  define(globalThis, 'btoa', function btoa(data) {
    internal.need(arguments.length, 1, 'btoa', ['input']);
    return internal.sync('base64.btoa', internal.text(data));
  });

  const encode = (s) => s === '' ? new p.Uint8Array(0) : new p.Uint8Array(internal.sync('utf8.encode', s));
  internal.encodeText = (s) => encode(internal.text(s));

  // fit returns how many code units of s fit into room bytes of UTF-8, and their size: {read, written}.
  const fit = (s, room) => {
    let read = 0, written = 0;
    while (read < s.length) {
      const c = p.charCodeAt(s, read);
      const pair = c >= 0xd800 && c < 0xdc00 && read + 1 < s.length && (p.charCodeAt(s, read + 1) & 0xfc00) === 0xdc00;
      const n = pair ? 4 : c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      if (written + n > room) break;
      written += n;
      read += pair ? 2 : 1;
    }
    return { __proto__: null, read, written };
  };

  internal.expose(class TextEncoder {
    #brand;
    static #check(o) { if (!internal.isObject(o) || !(#brand in o)) throw internal.wrongThis('TextEncoder'); }
    get encoding() {
      TextEncoder.#check(this);
      return 'utf-8';
    }
    encode(input = '') {
      TextEncoder.#check(this);
      return encode(internal.text(input));
    }
    encodeInto(source, destination) {
      TextEncoder.#check(this);
      if (arguments.length === 0) throw internal.nodeWrongType('src', 'of type string', source);
      source = internal.text(source);
      if (!p.isView(destination) || p.typedTag(destination) !== 'Uint8Array') throw internal.nodeWrongType('dest', 'an instance of Uint8Array', destination);
      const room = p.typedLength(destination);
      const { read, written } = fit(source, room);
      if (written > 0) p.typedSet(destination, encode(p.slice(source, 0, read)));
      return { read, written };
    }
  });

  const FATAL = 1, KEEP_BOM = 2, STREAM = 4;
  const decode = (encoding, flags, state, bytes) => {
    try {
      return internal.sync('text.decode', encoding, flags, state, internal.bufferOf(bytes));
    } catch (e) {
      if ((flags & FATAL) === 0 || p.getPrototypeOf(e) !== p.TypeError.prototype) throw e;
      throw internal.nodeError(p.TypeError, 'ERR_ENCODING_INVALID_ENCODED_DATA', e.message);
    }
  };
  internal.expose(class TextDecoder {
    #encoding; #flags; #state = '';
    constructor(label = 'utf-8', options = undefined) {
      label = internal.text(label);
      try {
        this.#encoding = internal.sync('text.label', label);
      } catch { throw internal.nodeError(p.RangeError, 'ERR_ENCODING_NOT_SUPPORTED', `The "${label}" encoding is not supported`); }
      options = internal.dictionary(options, 'TextDecoder: the second argument', 'options');
      const { fatal, ignoreBOM } = options;
      this.#flags = (fatal ? FATAL : 0) | (ignoreBOM ? KEEP_BOM : 0);
    }
    static #of(o) {
      if (!internal.isObject(o) || !(#flags in o)) throw internal.wrongThis('TextDecoder');
      return o.#flags;
    }
    get encoding() {
      TextDecoder.#of(this);
      return this.#encoding;
    }
    get fatal() { return (TextDecoder.#of(this) & FATAL) !== 0; }
    get ignoreBOM() { return (TextDecoder.#of(this) & KEEP_BOM) !== 0; }
    decode(input = undefined, options = undefined) {
      const flags = TextDecoder.#of(this);
      const stream = !!internal.dictionary(options, 'TextDecoder.decode: the second argument', 'options').stream;
      if (input !== undefined && !internal.isBufferSource(input) && !internal.isShared(input)) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', 'The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.');
      const bytes = input === undefined ? new p.Uint8Array(0) : internal.bytes(input, 'TextDecoder.decode: the input', true);
      const state = this.#state;
      this.#state = '';
      if (!stream) return decode(this.#encoding, flags, state, bytes);
      const answer = decode(this.#encoding, flags | STREAM, state, bytes);
      this.#state = answer[1];
      return answer[0];
    }
  });
  // decodeText is the Encoding standard's "UTF-8 decode" of a Uint8Array: it strips a byte order mark.
  internal.decodeText = (u) => internal.sync('text.decode', 'utf-8', 0, '', internal.bufferOf(u));
  return internal;
}
