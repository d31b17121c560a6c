// Node's querystring, string_decoder and url.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;

  const safe = /^[A-Za-z0-9\-_.!~*'()]*$/;
  const escape = (v) => {
    const s = typeof v === 'string' ? v : typeof v === 'object' ? String(v) : v + '';
    try {
      return safe.test(s) ? s : encodeURIComponent(s);
    } catch {
      throw nodeError(URIError, 'ERR_INVALID_URI', 'URI malformed');
    }
  };
  const unescapeBuffer = (s, decodeSpaces) => {
    const out = [];
    for (let i = 0; i < s.length; i++) {
      const hex = s[i] === '%' ? s.slice(i + 1, i + 3) : '';
      if (/^[0-9a-fA-F]{2}$/.test(hex)) { out.push(parseInt(hex, 16)); i += 2; } else if (decodeSpaces && s[i] === '+') out.push(32);
      else out.push(...Buffer.from(s[i]));
    }
    return Buffer.from(out);
  };
  const unescape = (s) => {
    try { return decodeURIComponent(s); } catch { return unescapeBuffer(s).toString(); }
  };
  const primitive = (v) => typeof v === 'string' ? v : typeof v === 'number' && Number.isFinite(v) ? '' + v : typeof v === 'bigint' || typeof v === 'boolean' ? '' + v : '';
  const stringify = (o, sep = '&', eq = '=', options) => {
    if (o === null || typeof o !== 'object') return '';
    const encode = options?.encodeURIComponent ?? querystring.escape;
    const out = [];
    for (const k of Object.keys(o)) {
      const name = encode(primitive(k)) + eq;
      if (Array.isArray(o[k])) for (const v of o[k]) out.push(name + encode(primitive(v)));
      else out.push(name + encode(primitive(o[k])));
    }
    return out.join(sep || '&');
  };
  const parse = (s, sep = '&', eq = '=', options) => {
    const out = Object.create(null);
    if (typeof s !== 'string' || s === '') return out;
    const decode = options?.decodeURIComponent ?? querystring.unescape;
    const most = typeof options?.maxKeys === 'number' ? options.maxKeys : 1000;
    const parts = s.split(sep || '&').filter((part) => part !== '');
    for (const part of most > 0 ? parts.slice(0, most) : parts) {
      const i = part.indexOf(eq || '=');
      const plain = (t) => {
        t = t.replace(/\+/g, ' ');
        try { return decode(t); } catch { return querystring.unescape(t); }
      };
      const k = plain(i < 0 ? part : part.slice(0, i)), v = i < 0 ? '' : plain(part.slice(i + (eq || '=').length));
      if (!(k in out)) out[k] = v;
      else if (Array.isArray(out[k])) out[k].push(v);
      else out[k] = [out[k], v];
    }
    return out;
  };
  const querystring = { escape, unescape, unescapeBuffer, stringify, parse, encode: stringify, decode: parse };
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
  Object.defineProperty(StringDecoder.prototype, 'lastNeed', { configurable: true, get() { return this.rest.length; } });
  modules.string_decoder = { StringDecoder };

  // Url holds the parts of an address for the legacy url.parse and url.format.
  function Url() {
    for (const k of ['protocol', 'slashes', 'auth', 'host', 'port', 'hostname', 'hash', 'search', 'query', 'pathname', 'path', 'href']) this[k] = null;
  }
  const slashed = ['http:', 'https:', 'ftp:', 'gopher:', 'file:', 'ws:', 'wss:'];
  const legacyParse = (s, parseQuery = false, slashesDenoteHost = false) => {
    if (s instanceof Url) return s;
    if (typeof s !== 'string') throw internal.nodeWrongType('url', 'of type string', s);
    const u = new Url();
    let rest = s.trim();
    const cut = rest.search(/[?#]/);
    if (cut < 0) rest = rest.replace(/\\/g, '/');
    else rest = rest.slice(0, cut).replace(/\\/g, '/') + rest.slice(cut);
    const scheme = /^[a-z0-9.+-]+:/i.exec(rest);
    if (scheme !== null) {
      u.protocol = scheme[0].toLowerCase();
      rest = rest.slice(scheme[0].length);
    }
    const slashes = (slashesDenoteHost || scheme !== null || /^\/\/[^@/]+@[^@/]+/.test(rest)) && rest.startsWith('//');
    if ((slashes || scheme !== null && !slashed.includes(u.protocol)) && u.protocol !== 'javascript:') {
      if (slashes) {
        u.slashes = true;
        rest = rest.slice(2);
      }
      let end = rest.search(/[/?#]/);
      if (end < 0) end = rest.length;
      let host = rest.slice(0, end);
      rest = rest.slice(end);
      const at = host.lastIndexOf('@');
      if (at >= 0) {
        u.auth = decodeURIComponent(host.slice(0, at));
        host = host.slice(at + 1);
      }
      const port = /:([0-9]*)$/.exec(host);
      if (port !== null) {
        if (port[1] !== '') u.port = port[1];
        host = host.slice(0, -port[0].length);
      }
      if (/[\s<>^|%"`{}\\]/.test(host)) throw nodeError(TypeError, 'ERR_INVALID_URL', 'Invalid URL');
      u.hostname = host.startsWith('[') ? host.slice(1, -1).toLowerCase() : modules.url.domainToASCII(host) || host.toLowerCase();
      u.host = (host.startsWith('[') ? `[${u.hostname}]` : u.hostname) + (u.port !== null ? ':' + u.port : '');
    }
    rest = rest.replace(/[\s<>"`{}|^']/g, (c) => encodeURIComponent(c).replace("'", '%27'));
    const hash = rest.indexOf('#');
    if (hash >= 0) {
      u.hash = rest.slice(hash);
      rest = rest.slice(0, hash);
    }
    const question = rest.indexOf('?');
    if (question >= 0) {
      u.search = rest.slice(question);
      u.query = u.search.slice(1);
      rest = rest.slice(0, question);
    } else if (parseQuery) {
      u.search = null;
      u.query = '';
    }
    if (parseQuery) u.query = querystring.parse(u.query ?? '');
    if (rest !== '') u.pathname = rest;
    if (slashed.includes(u.protocol) && u.hostname && u.pathname === null) u.pathname = '/';
    if (u.pathname !== null || u.search !== null) u.path = (u.pathname ?? '') + (u.search ?? '');
    u.href = u.format();
    return u;
  };
  Url.prototype.format = function () {
    let auth = this.auth ? encodeURIComponent(this.auth).replace(/%3A/i, ':') + '@' : '';
    let protocol = this.protocol ?? '', host = '';
    if (this.host) host = auth + this.host;
    else if (this.hostname) host = auth + (this.hostname.includes(':') && !this.hostname.startsWith('[') ? `[${this.hostname}]` : this.hostname) + (this.port ? ':' + this.port : '');
    let query = this.query !== null && typeof this.query === 'object' ? querystring.stringify(this.query) : '';
    let search = this.search || query && '?' + query || '', pathname = this.pathname ?? '', hash = this.hash ?? '';
    if (protocol && !protocol.endsWith(':')) protocol += ':';
    pathname = pathname.replace(/[#?]/g, encodeURIComponent);
    search = search.replace(/#/g, '%23');
    if (this.slashes || slashed.includes(protocol)) {
      if (this.slashes || host) {
        if (pathname && pathname[0] !== '/') pathname = '/' + pathname;
        host = '//' + host;
      } else if (protocol === 'file:') host = '//';
    }
    if (hash && hash[0] !== '#') hash = '#' + hash;
    if (search && search[0] !== '?') search = '?' + search;
    return protocol + host + pathname + search + hash;
  };
  const { URL, URLSearchParams } = globalThis;
  const legacyResolve = (from, to) => {
    const base = new URL(from, 'resolve://');
    const out = new URL(to, base);
    return out.protocol === 'resolve:' ? out.pathname + out.search + out.hash : out.href;
  };
  modules.url = {
    URL, URLSearchParams, Url, parse: legacyParse, resolve: legacyResolve,
    resolveObject: (from, to) => legacyParse(legacyResolve(from, to)),
    format(u, options) {
      if (typeof u === 'string') return legacyParse(u).format();
      if (u instanceof URL) {
        const copy = new URL(u.href);
        if (options?.fragment === false) copy.hash = '';
        if (options?.search === false) copy.search = '';
        if (options?.auth === false) copy.username = copy.password = '';
        return copy.href;
      }
      if (u === null || typeof u !== 'object') throw internal.nodeWrongType('urlObject', 'one of type object or string', u);
      return Url.prototype.format.call(u);
    },
    domainToASCII(domain) { try { return new URL(`ws://${domain}`).hostname; } catch { return ''; } },
    domainToUnicode(domain) { try { return internal.sync('host.unicode', new URL(`ws://${domain}`).hostname); } catch { return ''; } },
    fileURLToPath(u) {
      u = typeof u === 'string' ? new URL(u) : u;
      if (u.protocol !== 'file:') throw nodeError(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
      if (/%2f/i.test(u.pathname)) throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
      return decodeURIComponent(u.pathname);
    },
    pathToFileURL(path) {
      const u = new URL('file:///');
      let full = modules.path.resolve(path);
      if (path.endsWith('/') && full !== '/') full += '/';
      u.pathname = full.replace(/%/g, '%25').replace(/\\/g, '%5C').replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/\t/g, '%09').replace(/\?/g, '%3F').replace(/#/g, '%23');
      return u;
    },
    urlToHttpOptions(u) {
      return {
        __proto__: null, protocol: u.protocol, hostname: u.hostname.startsWith('[') ? u.hostname.slice(1, -1) : u.hostname, hash: u.hash, search: u.search,
        pathname: u.pathname, path: `${u.pathname || ''}${u.search || ''}`, href: u.href, ...u.port !== '' && { port: Number(u.port) },
        ...(u.username || u.password) && { auth: `${decodeURIComponent(u.username)}:${decodeURIComponent(u.password)}` },
      };
    },
  };
  return internal;
}
