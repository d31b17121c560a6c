// Node's querystring and string_decoder.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;

  const safe = /^[A-Za-z0-9\-_.!~*'()]*$/;
  // pairs joins each surrogate with the unit that follows it, as Node does, whatever that is.
  const pairs = (s) => {
    let out = '';
    for (let i = 0; i < s.length; i++) {
      const c = s.charCodeAt(i);
      if (c < 0xd800 || c > 0xdfff) { out += s[i]; continue; }
      if (++i >= s.length) throw nodeError(URIError, 'ERR_INVALID_URI', 'URI malformed');
      out += String.fromCodePoint(0x10000 + ((c & 0x3ff) << 10 | s.charCodeAt(i) & 0x3ff));
    }
    return out;
  };
  const encode = internal.nodeEncodeURI = (s) => safe.test(s) ? s : encodeURIComponent(s.isWellFormed() ? s : pairs(s));
  const escape = function qsEscape(v) { return encode(typeof v === 'string' ? v : typeof v === 'object' ? String(v) : v + ''); };
  const unescapeBuffer = function unescapeBuffer(s, decodeSpaces) {
    const out = Buffer.allocUnsafe(s.length);
    let n = 0;
    for (let i = 0; i < s.length; i++) {
      const c = s.charCodeAt(i), hex = c === 37 ? s.slice(i + 1, i + 3) : '';
      if (/^[0-9a-f]{2}$/i.test(hex)) { out[n++] = parseInt(hex, 16); i += 2; } else out[n++] = c === 43 && decodeSpaces ? 32 : c;
    }
    return out.subarray(0, n);
  };
  const unescape = function qsUnescape(s, decodeSpaces) {
    try { return decodeURIComponent(s); } catch { return querystring.unescapeBuffer(s, decodeSpaces).toString(); }
  };
  const primitive = (v) => typeof v === 'string' ? v : typeof v === 'number' && Number.isFinite(v) || typeof v === 'bigint' || typeof v === 'boolean' ? '' + v : '';
  const stringify = function stringify(o, sep, eq, options) {
    if (o === null || typeof o !== 'object') return '';
    sep ||= '&';
    eq ||= '=';
    const own = typeof options?.encodeURIComponent === 'function' ? options.encodeURIComponent : querystring.escape;
    const part = own !== escape ? (v) => own(primitive(v)) : (v) => typeof v === 'string' || typeof v === 'number' ? encode(primitive(v)) : primitive(v);
    const out = [];
    for (const k of Object.keys(o)) {
      const v = o[k], name = part(k) + eq;
      if (Array.isArray(v)) for (let i = 0; i < v.length; i++) out.push(name + part(v[i]));
      else out.push(name + part(v));
    }
    return out.join(sep);
  };
  const parse = function parse(s, sep, eq, options) {
    const out = { __proto__: null };
    if (typeof s !== 'string' || s === '') return out;
    sep = sep ? String(sep) : '&';
    eq = eq ? String(eq) : '=';
    const decode = typeof options?.decodeURIComponent === 'function' ? options.decodeURIComponent : querystring.unescape;
    const custom = decode !== unescape;
    const plain = (t) => {
      t = t.replaceAll('+', custom ? '%20' : ' ');
      if (t === '' || !custom && !/%[0-9a-f]{2}/i.test(t)) return t;
      try { return decode(t); } catch { return querystring.unescape(t, true); }
    };
    const most = typeof options?.maxKeys === 'number' ? options.maxKeys : 1000;
    const parts = s.split(sep);
    if (most > 0 && parts.length > most) parts.length = Math.ceil(most);
    for (const part of parts) {
      if (part === '') continue;
      const i = part.indexOf(eq);
      const k = plain(i < 0 ? part : part.slice(0, i)), v = i < 0 ? '' : plain(part.slice(i + eq.length));
      if (out[k] === undefined) out[k] = v;
      else if (out[k].pop) out[k].push(v);
      else out[k] = [out[k], v];
    }
    return out;
  };
  const querystring = { unescapeBuffer, unescape, escape, stringify, encode: stringify, parse, decode: parse };
  modules.querystring = querystring;

  function StringDecoder(encoding) {
    this.encoding = internal.nodeEncoding(encoding);
    this.rest = Buffer.alloc(0);
  }
  // whole returns the length of the longest prefix of b that ends on a character boundary.
  const whole = (b, encoding) => {
    if (encoding === 'utf16le') {
      let n = b.length - b.length % 2;
      if (n >= 2 && (b[n - 1] & 0xfc) === 0xd8) n -= 2;
      return n;
    }
    if (encoding === 'base64' || encoding === 'base64url') return b.length - b.length % 3;
    if (encoding !== 'utf8') return b.length;
    for (let back = 1; back <= Math.min(3, b.length); back++) {
      const c = b[b.length - back];
      if ((c & 0xc0) === 0x80) continue;
      const need = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 1;
      return c < 0xf5 && need > back ? b.length - back : b.length;
    }
    return b.length;
  };
  Object.assign(StringDecoder.prototype, {
    write(b) {
      if (typeof b === 'string') return b;
      if (!ArrayBuffer.isView(b)) throw internal.nodeWrongType('buf', 'an instance of Buffer, TypedArray, or DataView', b);
      const all = Buffer.concat([this.rest, Buffer.from(b.buffer, b.byteOffset, b.byteLength)]);
      const n = whole(all, this.encoding);
      this.rest = all.subarray(n);
      return all.toString(this.encoding, 0, n);
    },
    end(b) {
      const out = (b === undefined ? '' : this.write(b)) + this.rest.toString(this.encoding);
      this.rest = Buffer.alloc(0);
      return out;
    },
    text(b, offset) {
      this.rest = Buffer.alloc(0);
      return this.write(b.slice(offset));
    },
  });
  // missing returns how many bytes the character needs that has begun.
  const missing = ({ rest, encoding }) => {
    if (rest.length === 0) return 0;
    if (encoding === 'utf16le') return rest.length % 2 === 0 ? 2 : 1;
    return (encoding !== 'utf8' ? 3 : rest[0] >= 0xf0 ? 4 : rest[0] >= 0xe0 ? 3 : 2) - rest.length;
  };
  const lasts = {
    lastChar: (o) => Buffer.concat([o.rest], 4), lastNeed: missing, lastTotal: (o) => o.rest.length + missing(o),
  };
  for (const name of Object.keys(lasts)) Object.defineProperty(StringDecoder.prototype, name, { configurable: true, enumerable: true, get() { return lasts[name](this); } });
  modules.string_decoder = { StringDecoder };

  return internal;
}
