// Node's http and https clients over fetch. A sandbox has no servers.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const EventEmitter = modules.events;
  const { Readable, Writable } = modules.stream;
  const { URL, AbortController } = globalThis;

  const STATUS_CODES = {
    100: 'Continue', 101: 'Switching Protocols', 102: 'Processing', 103: 'Early Hints', 200: 'OK', 201: 'Created', 202: 'Accepted', 203: 'Non-Authoritative Information', 204: 'No Content', 205: 'Reset Content', 206: 'Partial Content', 207: 'Multi-Status', 208: 'Already Reported', 226: 'IM Used',
    300: 'Multiple Choices', 301: 'Moved Permanently', 302: 'Found', 303: 'See Other', 304: 'Not Modified', 305: 'Use Proxy', 307: 'Temporary Redirect', 308: 'Permanent Redirect',
    400: 'Bad Request', 401: 'Unauthorized', 402: 'Payment Required', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable', 407: 'Proxy Authentication Required', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 411: 'Length Required', 412: 'Precondition Failed', 413: 'Payload Too Large', 414: 'URI Too Long', 415: 'Unsupported Media Type', 416: 'Range Not Satisfiable', 417: 'Expectation Failed', 418: "I'm a Teapot", 421: 'Misdirected Request', 422: 'Unprocessable Entity', 423: 'Locked', 424: 'Failed Dependency', 425: 'Too Early', 426: 'Upgrade Required', 428: 'Precondition Required', 429: 'Too Many Requests', 431: 'Request Header Fields Too Large', 451: 'Unavailable For Legal Reasons',
    500: 'Internal Server Error', 501: 'Not Implemented', 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout', 505: 'HTTP Version Not Supported', 506: 'Variant Also Negotiates', 507: 'Insufficient Storage', 508: 'Loop Detected', 509: 'Bandwidth Limit Exceeded', 510: 'Not Extended', 511: 'Network Authentication Required',
  };
  const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

  class IncomingMessage extends Readable {
    constructor(response) {
      super();
      Object.assign(this, { statusCode: response.status, statusMessage: response.statusText || STATUS_CODES[response.status] || '', httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: false, aborted: false, headers: {}, rawHeaders: [], trailers: {}, rawTrailers: [], url: '', socket: { remoteAddress: undefined, encrypted: response.url.startsWith('https:') } });
      for (const [name, value] of response.headers) {
        this.rawHeaders.push(name, value);
        if (name === 'set-cookie') (this.headers[name] ??= []).push(value);
        else this.headers[name] = value;
      }
      this.reader = response.body?.getReader();
    }
    get connection() { return this.socket; }
    _read() {
      if (this.reader === undefined) { this.complete = true; this.push(null); return; }
      this.reader.read().then(({ value, done }) => {
        if (done) this.complete = true;
        this.push(done ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      }, (e) => this.destroy(e));
    }
    _destroy(e, done) {
      if (!this.complete) this.reader?.cancel().catch(() => {});
      done(e);
    }
    setTimeout() { return this; }
  }

  class ClientRequest extends Writable {
    #controller = new AbortController(); #parts = []; #timer; #headers = new Map();
    constructor(protocol, input, options, done) {
      super();
      if (typeof input === 'string') input = new URL(input);
      if (input instanceof URL) options = { ...modules.url.urlToHttpOptions(input), ...typeof options === 'object' ? options : undefined };
      else { if (typeof options === 'function') done = options; options = { ...input }; }
      if (typeof done !== 'function') done = typeof arguments[2] === 'function' ? arguments[2] : undefined;
      this.protocol = options.protocol ?? protocol;
      this.method = (options.method ?? 'GET').toUpperCase();
      this.path = options.path ?? '/';
      if (/[\u0000-\u0020]/.test(this.path)) throw nodeError(TypeError, 'ERR_UNESCAPED_CHARACTERS', 'Request path contains unescaped characters');
      if (this.protocol !== protocol && this.protocol !== undefined) throw nodeError(TypeError, 'ERR_INVALID_PROTOCOL', `Protocol "${this.protocol}" not supported. Expected "${protocol}"`);
      const host = options.hostname ?? options.host ?? 'localhost', port = options.port ?? options.defaultPort;
      this.host = host;
      this.url = `${protocol}//${host.includes(':') && !host.startsWith('[') && options.hostname !== undefined ? `[${host}]` : host}${port ? ':' + port : ''}${this.path}`;
      const { headers } = options;
      if (Array.isArray(headers)) for (let i = 0; i < headers.length; i += 2) this.setHeader(headers[i], headers[i + 1]);
      else for (const name of Object.keys(headers ?? {})) this.setHeader(name, headers[name]);
      if (options.auth && !this.hasHeader('authorization')) this.setHeader('Authorization', 'Basic ' + Buffer.from(options.auth).toString('base64'));
      if (done) this.once('response', done);
      if (options.timeout) this.setTimeout(options.timeout);
      options.signal?.addEventListener('abort', () => this.destroy(internal.nodeAborted(options.signal)), { once: true });
      this.aborted = false;
      this.socket = Object.assign(new modules.events(), { setKeepAlive() {}, setNoDelay() {}, setTimeout() {}, destroy() {}, encrypted: protocol === 'https:' });
    }
    setHeader(name, value) { this.#headers.set(String(name).toLowerCase(), [name, value]); return this; }
    getHeader(name) { return this.#headers.get(name.toLowerCase())?.[1]; }
    getHeaders() { return Object.fromEntries([...this.#headers].map(([k, [, v]]) => [k, v])); }
    getHeaderNames() { return [...this.#headers.keys()]; }
    hasHeader(name) { return this.#headers.has(name.toLowerCase()); }
    removeHeader(name) { this.#headers.delete(name.toLowerCase()); }
    flushHeaders() {}
    setNoDelay() {}
    setSocketKeepAlive() {}
    setTimeout(ms, done) {
      if (done) this.once('timeout', done);
      clearTimeout(this.#timer);
      if (ms > 0) this.#timer = setTimeout(() => this.emit('timeout'), ms);
      return this;
    }
    abort() { this.aborted = true; this.destroy(); }
    _write(chunk, encoding, done) { this.#parts.push(Buffer.from(chunk)); done(); }
    _final(done) {
      const headers = [];
      for (const [name, value] of this.#headers.values()) for (const v of Array.isArray(value) ? value : [value]) headers.push([String(name), String(v)]);
      let pending;
      try {
        const bare = this.method === 'GET' || this.method === 'HEAD';
        pending = internal.fetch(this.url, { method: this.method, headers, body: bare || this.#parts.length === 0 ? undefined : Buffer.concat(this.#parts), redirect: 'manual', signal: this.#controller.signal });
      } catch (e) { done(e); return; }
      pending.then((response) => {
        clearTimeout(this.#timer);
        if (this.destroyed) return;
        this.res = new IncomingMessage(response);
        this.res.req = this;
        if (!this.emit('response', this.res)) this.res.resume();
      }, (e) => {
        clearTimeout(this.#timer);
        if (!this.destroyed) this.destroy(e.code ? e : Object.assign(e, { code: /refuses/.test(e.message) ? 'ECONNREFUSED' : /resolved/.test(e.message) ? 'ENOTFOUND' : /in time/.test(e.message) ? 'ETIMEDOUT' : 'ERR_NETWORK' }));
      });
      done();
    }
    _destroy(e, done) {
      clearTimeout(this.#timer);
      if (this.res === undefined) {
        this.#controller.abort();
        if (!e && !this.res) e = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
      }
      done(e);
    }
  }
  function Agent(options = {}) {
    if (!(this instanceof Agent)) return new Agent(options);
    EventEmitter.call(this);
    Object.assign(this, { options: { path: null, ...options }, requests: {}, sockets: {}, freeSockets: {}, keepAlive: options?.keepAlive ?? false, maxSockets: options?.maxSockets ?? Infinity, maxFreeSockets: options?.maxFreeSockets ?? 256, maxTotalSockets: Infinity, totalSocketCount: 0 });
  }
  Object.setPrototypeOf(Agent, EventEmitter);
  Object.setPrototypeOf(Agent.prototype, EventEmitter.prototype);
  internal.define(Agent.prototype, 'destroy', function destroy() {});
  internal.define(Agent.prototype, 'getName', function getName(options = {}) { return `${options.host || 'localhost'}:${options.port || ''}:${options.localAddress || ''}`; });
  const none = (name) => () => { throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `${name} is not available in the sandbox: nothing can connect to it`); };
  const make = (protocol, name) => {
    const request = (input, options, done) => {
      const r = new ClientRequest(protocol, input, options, done);
      r._autoDestroy = false;
      return r;
    };
    return {
      request, get: (input, options, done) => request(input, options, done).end(),
      Agent, globalAgent: new Agent({ keepAlive: true }), STATUS_CODES, METHODS, IncomingMessage, ClientRequest, createServer: none(`${name}.createServer`), Server: function Server() { none(`${name}.Server`)(); }, maxHeaderSize: 65536,
      OutgoingMessage: ClientRequest, ServerResponse: function ServerResponse() { none(`${name}.ServerResponse`)(); }, setMaxIdleHTTPParsers() {},
      validateHeaderName(n) { if (!/^[\^`\-\w!#$%&'*+.|~]+$/.test(n)) throw nodeError(TypeError, 'ERR_INVALID_HTTP_TOKEN', `Header name must be a valid HTTP token ["${n}"]`); },
      validateHeaderValue(n, v) { if (/[^\t\x20-\x7e\x80-\xff]/.test(v)) throw nodeError(TypeError, 'ERR_INVALID_CHAR', `Invalid character in header content ["${n}"]`); },
    };
  };
  modules.http = make('http:', 'http');
  modules.https = make('https:', 'https');
  return internal;
}
