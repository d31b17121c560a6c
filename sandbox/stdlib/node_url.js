// Node's url: the legacy functions, and those for the addresses of the standard.
(host, internal) => {
  'use strict';
  const { modules, nodeError, nodeWrongType: wrongType } = internal;
  const { querystring } = modules;
  const { URL, URLSearchParams } = globalThis;

  const invalid = (input) => {
    const e = nodeError(TypeError, 'ERR_INVALID_URL', 'Invalid URL');
    e.input = input;
    return e;
  };
  const without = (s) => s.endsWith(':') ? s.slice(0, -1) : s;
  const slashed = new Set(['http', 'https', 'ftp', 'gopher', 'file', 'ws', 'wss']);
  const isSlashed = (protocol) => typeof protocol === 'string' && slashed.has(without(protocol));
  const isHostless = (protocol) => protocol === 'javascript' || protocol === 'javascript:';
  const bracketed = (host) => host[0] === '[' && host.endsWith(']');

  // Url holds the parts of an address for the legacy url.parse and url.format.
  function Url() {
    for (const name of ['protocol', 'slashes', 'auth', 'host', 'port', 'hostname', 'hash', 'search', 'query', 'pathname', 'path', 'href']) this[name] = null;
  }
  // trimmed removes white space at both ends, and makes slashes of the backslashes before the query and the fragment.
  const trimmed = (s) => {
    const isSpace = (i) => s.charCodeAt(i) < 33 || s[i] === '\u00a0' || s[i] === '\ufeff';
    let from = 0, to = s.length;
    while (from < to && isSpace(from)) from++;
    while (to > from && isSpace(to - 1)) to--;
    s = s.slice(from, to);
    const cut = s.search(/[?#]/);
    return cut < 0 ? s.replaceAll('\\', '/') : s.slice(0, cut).replaceAll('\\', '/') + s.slice(cut);
  };
  const ascii = (hostname) => /^[\0-\x7f]*$/.test(hostname) ? hostname : domainToASCII(hostname);
  let warned = false;

  // takeHost sets the parts of u before its path, and returns what follows them.
  const takeHost = (u, rest, address) => {
    let end = rest.search(/[/?#]/);
    if (end < 0) end = rest.length;
    let host = rest.slice(0, end).replace(/[\t\n\r]/g, '');
    rest = rest.slice(end);
    const at = host.lastIndexOf('@');
    if (at >= 0) {
      u.auth = decodeURIComponent(host.slice(0, at));
      host = host.slice(at + 1);
    }
    const odd = host.search(/[ "%';<>\\^`{|}]/);
    if (odd >= 0) {
      rest = host.slice(odd) + rest;
      host = host.slice(0, odd);
    }
    u.host = host;
    u.parseHost();
    let name = typeof u.hostname === 'string' ? u.hostname : '';
    const isV6 = bracketed(name);
    const stop = isV6 ? -1 : name.search(/[/\\#?:]/);
    if (stop >= 0) {
      if (name[stop] === ':' && !warned) {
        warned = true;
        globalThis.process.emitWarning(`The URL ${address} is invalid. Future versions of Node.js will throw an error.`, 'DeprecationWarning', 'DEP0170');
      }
      rest = `/${name.slice(stop)}${rest}`;
      name = name.slice(0, stop);
    }
    name = name.length > 255 ? '' : name.toLowerCase();
    if (name !== '') {
      if (!isV6) name = ascii(name);
      if (name === '' || (isV6 ? /[\0\t\n\r #%/<>?@\\^|]/ : /[\0\t\n\r #%/:<>?@[\\\]^|]/).test(name)) throw invalid(address);
    }
    u.host = name + (u.port ? ':' + u.port : '');
    u.hostname = isV6 ? name.slice(1, -1) : name;
    return isV6 && rest[0] !== '/' ? '/' + rest : rest;
  };

  Url.prototype.parse = function parse(address, parseQuery, slashesDenoteHost) {
    if (typeof address !== 'string') throw wrongType('url', 'of type string', address);
    let rest = trimmed(address);
    const queryOf = (text) => parseQuery ? querystring.parse(text) : text;
    const before = rest.split(/[?#]/, 1)[0];
    const simple = slashesDenoteHost || rest.includes('#') || before.includes('@') ? null : /^(\/\/?(?!\/)[^?\s]*)(\?\S*)?$/.exec(rest);
    if (simple !== null) {
      this.path = this.href = rest;
      this.pathname = simple[1];
      if (simple[2]) {
        this.search = simple[2];
        this.query = queryOf(simple[2].slice(1));
      } else if (parseQuery) this.query = { __proto__: null };
      return this;
    }
    const scheme = /^[a-z0-9.+-]+:/i.exec(rest)?.[0], protocol = scheme?.toLowerCase();
    if (scheme !== undefined) {
      this.protocol = protocol;
      rest = rest.slice(scheme.length);
    }
    const slashes = (slashesDenoteHost || scheme !== undefined || /^\/\/[^@/]+@[^@/]+/.test(rest)) && rest.startsWith('//');
    if (!isHostless(protocol)) {
      if (slashes) {
        rest = rest.slice(2);
        this.slashes = true;
      }
      if (slashes || scheme !== undefined && !isSlashed(scheme)) rest = takeHost(this, rest, address);
      rest = rest.replace(/[\t\n\r "'<>\\^`{|}]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'));
    }
    const hash = rest.indexOf('#');
    if (hash >= 0) {
      this.hash = rest.slice(hash);
      rest = rest.slice(0, hash);
    }
    const question = rest.indexOf('?');
    if (question >= 0) {
      this.search = rest.slice(question);
      this.query = queryOf(rest.slice(question + 1));
      rest = rest.slice(0, question);
    } else if (parseQuery) this.query = { __proto__: null };
    if (rest !== '') this.pathname = rest;
    if (isSlashed(protocol) && this.hostname && !this.pathname) this.pathname = '/';
    if (this.pathname || this.search) this.path = (this.pathname || '') + (this.search || '');
    this.href = this.format();
    return this;
  };
  Url.prototype.format = function format() {
    const auth = this.auth ? internal.nodeEncodeURI(this.auth).replaceAll('%3A', ':') + '@' : '';
    let protocol = this.protocol || '', pathname = this.pathname || '', hash = this.hash || '', host = '', query = '';
    if (this.host) host = auth + this.host;
    else if (this.hostname) host = auth + (this.hostname.includes(':') && !bracketed(this.hostname) ? `[${this.hostname}]` : this.hostname) + (this.port ? ':' + this.port : '');
    if (this.query !== null && typeof this.query === 'object') query = querystring.stringify(this.query);
    let search = this.search || query && '?' + query || '';
    if (protocol && !protocol.endsWith(':')) protocol += ':';
    if (typeof pathname === 'string') pathname = pathname.replaceAll('#', '%23').replaceAll('?', '%3F');
    if (this.slashes || isSlashed(protocol)) {
      if (this.slashes || host) {
        if (pathname && pathname[0] !== '/') pathname = '/' + pathname;
        host = '//' + host;
      } else if (protocol.startsWith('file')) host = '//';
    }
    search = search.replace(/#/g, '%23');
    if (hash && hash[0] !== '#') hash = '#' + hash;
    if (search && search[0] !== '?') search = '?' + search;
    return protocol + host + pathname + search + hash;
  };
  Url.prototype.resolve = function resolve(relative) { return this.resolveObject(parse(relative, false, true)).format(); };

  const pathOf = (u) => (u.pathname || '') + (u.search || '');
  const finish = (u) => {
    u.href = u.format();
    return u;
  };
  // unauth separates what the path's first part has before an @ from the host.
  const hostFrom = (u, host) => {
    u.hostname = u.host = host;
    if (!(host && host.indexOf('@') > 0)) return;
    const parts = host.split('@');
    u.auth = parts[0];
    u.host = u.hostname = parts[1];
  };
  // otherProtocol resolves an address whose protocol has slashes and differs from that of its base.
  const otherProtocol = (u, rel) => {
    u.protocol = rel.protocol;
    if (!rel.host && !/^file:?$/.test(rel.protocol)) {
      const path = (rel.pathname || '').split('/');
      while (path.length > 0 && !(rel.host = path.shift()));
      rel.host ||= '';
      rel.hostname ||= '';
      if (path[0] !== '') path.unshift('');
      if (path.length < 2) path.unshift('');
      u.pathname = path.join('/');
    } else u.pathname = rel.pathname;
    Object.assign(u, { search: rel.search, query: rel.query, host: rel.host || '', auth: rel.auth, hostname: rel.hostname || rel.host, port: rel.port });
    if (u.pathname || u.search) u.path = pathOf(u);
    u.slashes ||= rel.slashes;
    return finish(u);
  };
  // climb resolves the dots in the parts of a path. Those that lead above it stay if keep is set.
  const climb = (parts, keep) => {
    const out = [];
    let up = 0;
    for (let i = parts.length - 1; i >= 0; i--) {
      if (parts[i] === '.') continue;
      if (parts[i] === '..') up++;
      else if (up > 0) up--;
      else out.push(parts[i]);
    }
    for (; keep && up > 0; up--) out.push('..');
    return out.reverse();
  };

  Url.prototype.resolveObject = function resolveObject(relative) {
    const rel = typeof relative === 'string' ? new Url().parse(relative, false, true) : relative;
    const u = Object.assign(new Url(), this);
    u.hash = rel.hash;
    if (rel.href === '') return finish(u);
    if (rel.slashes && !rel.protocol) {
      const { protocol } = u;
      Object.assign(u, rel);
      u.protocol = protocol;
      if (isSlashed(protocol) && u.hostname && !u.pathname) u.path = u.pathname = '/';
      return finish(u);
    }
    if (rel.protocol && rel.protocol !== u.protocol) return isSlashed(rel.protocol) ? otherProtocol(u, rel) : finish(Object.assign(u, rel));

    const isRooted = (path) => Boolean(path) && path[0] === '/';
    const relRooted = Boolean(rel.host) || isRooted(rel.pathname), rooted = relRooted || isRooted(u.pathname) || Boolean(u.host && rel.pathname);
    let absolute = rooted, path = u.pathname ? u.pathname.split('/') : [];
    const relPath = rel.pathname ? rel.pathname.split('/') : [];
    // The host of an address such as mailto:a@b takes part as the first part of the path.
    const unslashed = Boolean(u.protocol) && !isSlashed(u.protocol);
    if (unslashed) {
      const prepend = (parts, of) => { if (of.host) { if (parts[0] === '') parts[0] = of.host; else parts.unshift(of.host); } };
      u.hostname = '';
      u.port = null;
      prepend(path, u);
      u.host = '';
      if (rel.protocol) {
        rel.hostname = rel.port = u.auth = null;
        prepend(relPath, rel);
        rel.host = null;
      }
      absolute &&= relPath[0] === '' || path[0] === '';
    }
    if (relRooted) {
      if (rel.host || rel.host === '') {
        if (u.host !== rel.host) u.auth = null;
        u.host = rel.host;
        u.port = rel.port;
      }
      if (rel.hostname || rel.hostname === '') {
        if (u.hostname !== rel.hostname) u.auth = null;
        u.hostname = rel.hostname;
      }
      path = relPath;
    } else if (relPath.length > 0) path = [...path.slice(0, -1), ...relPath];
    else if (rel.search !== null && rel.search !== undefined) {
      if (unslashed) hostFrom(u, path.shift());
      u.search = rel.search;
      u.query = rel.query;
      if (u.pathname !== null || u.search !== null) u.path = pathOf(u);
      return finish(u);
    }
    if (relRooted || relPath.length > 0) {
      u.search = rel.search;
      u.query = rel.query;
    }
    if (path.length === 0) {
      u.pathname = null;
      u.path = u.search ? '/' + u.search : null;
      return finish(u);
    }
    const last = path[path.length - 1];
    const trailing = last === '' || (last === '.' || last === '..') && Boolean(u.host || rel.host || path.length > 1);
    path = climb(path, !absolute && !rooted);
    if (absolute && path[0] !== '' && !isRooted(path[0])) path.unshift('');
    if (trailing && !path.join('/').endsWith('/')) path.push('');
    const isAbsolute = path[0] === '' || isRooted(path[0]);
    if (unslashed) hostFrom(u, isAbsolute ? '' : path.length > 0 ? path.shift() : '');
    if ((absolute || u.host && path.length > 0) && !isAbsolute) path.unshift('');
    if (path.length === 0) u.pathname = u.path = null;
    else u.pathname = path.join('/');
    if (u.pathname !== null || u.search !== null) u.path = pathOf(u);
    u.auth = rel.auth || u.auth;
    u.slashes ||= rel.slashes;
    return finish(u);
  };
  Url.prototype.parseHost = function parseHost() {
    let { host } = this;
    const port = /:[0-9]*$/.exec(host)?.[0];
    if (port !== undefined) {
      if (port !== ':') this.port = port.slice(1);
      host = host.slice(0, -port.length);
    }
    if (host) this.hostname = host;
  };

  const parse = function urlParse(address, parseQuery, slashesDenoteHost) {
    return address instanceof Url ? address : new Url().parse(address, parseQuery, slashesDenoteHost);
  };
  const format = function urlFormat(u, options) {
    if (typeof u === 'string') u = parse(u);
    else if (typeof u !== 'object' || u === null) throw wrongType('urlObject', 'one of type object or string', u);
    else if (u instanceof URL) {
      if (options && (typeof options !== 'object' || Array.isArray(options))) throw wrongType('options', 'of type object', options);
      const { fragment, unicode, search, auth } = options || {}, copy = new URL(u.href), off = (v) => v !== undefined && v !== null && !v;
      if (off(fragment)) copy.hash = '';
      if (off(search)) copy.search = '';
      if (off(auth)) copy.username = copy.password = '';
      if (!unicode || copy.hostname === '') return copy.href;
      const start = copy.href.indexOf(copy.hostname, copy.protocol.length + 2 + (copy.username + copy.password).length);
      return copy.href.slice(0, start) + internal.sync('host.unicode', copy.hostname) + copy.href.slice(start + copy.hostname.length);
    }
    return Url.prototype.format.call(u);
  };
  const domain = (args) => {
    if (args.length < 1) throw nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "domain" argument must be specified');
    const name = `${args[0]}`;
    try { return new URL(`ws://${name}`).hostname; } catch { return ''; }
  };
  function domainToASCII() { return domain(arguments); }
  function domainToUnicode() {
    const name = domain(arguments);
    return name === '' ? '' : internal.sync('host.unicode', name);
  }
  for (const f of [domainToASCII, domainToUnicode]) internal.define(f, 'length', 1);

  const windowsPath = (u) => {
    if (/%2f|%5c/i.test(u.pathname)) throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded \\ or / characters');
    const path = decodeURIComponent(u.pathname.replaceAll('/', '\\'));
    if (u.hostname !== '') return `\\\\${domainToUnicode(u.hostname)}${path}`;
    if (!/^.[a-z]:/is.test(path)) throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must be absolute');
    return path.slice(1);
  };
  const fileURLToPath = function fileURLToPath(path, options) {
    const u = typeof path === 'string' ? new URL(path) : path;
    if (!(u?.href && u.protocol && u.auth === undefined && u.path === undefined)) throw wrongType('path', 'of type string or an instance of URL', path);
    if (u.protocol !== 'file:') throw nodeError(TypeError, 'ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file');
    if (options?.windows) return windowsPath(u);
    if (u.hostname !== '') throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux');
    if (/%2f/i.test(u.pathname)) throw nodeError(TypeError, 'ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters');
    return decodeURIComponent(u.pathname);
  };
  const encodePath = (path) => path.replace(/[%\t\n\r "#?[\\\]^|~]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'));
  const pathToFileURL = function pathToFileURL(path, options) {
    if (typeof path !== 'string') throw wrongType('path', 'of type string', path);
    const windows = Boolean(options?.windows);
    if (windows && path.startsWith('\\\\')) {
      const start = path.startsWith('\\\\?\\UNC\\') ? 8 : 2, end = path.indexOf('\\', start);
      const wrong = end < 0 ? 'Missing UNC resource path' : end === 2 ? 'Empty UNC servername' : undefined;
      if (wrong !== undefined) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'path' ${wrong}. Received ${internal.inspect(path)}`);
      return new URL(`file://${domainToASCII(path.slice(start, end))}${encodePath(path.slice(end).replaceAll('\\', '/'))}`);
    }
    let full = modules.path[windows ? 'win32' : 'posix'].resolve(path);
    if ((path.endsWith('/') || windows && path.endsWith('\\')) && !full.endsWith('/')) full += '/';
    return new URL(`file://${encodePath(windows ? full.replaceAll('\\', '/') : full)}`);
  };
  const urlToHttpOptions = function urlToHttpOptions(u) {
    const { hostname, pathname, port, username, password, search } = u;
    const options = {
      __proto__: null, ...u, protocol: u.protocol, hostname: hostname && hostname[0] === '[' ? hostname.slice(1, -1) : hostname, hash: u.hash, search,
      pathname, path: `${pathname || ''}${search || ''}`, href: u.href,
    };
    if (port !== '') options.port = Number(port);
    if (username || password) options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return options;
  };
  modules.url = {
    Url, parse, resolve: function urlResolve(from, to) { return parse(from, false, true).resolve(to); },
    resolveObject: function urlResolveObject(from, to) { return from ? parse(from, false, true).resolveObject(to) : to; },
    format, URL, URLSearchParams, domainToASCII, domainToUnicode, pathToFileURL, fileURLToPath, urlToHttpOptions,
  };
  return internal;
}
