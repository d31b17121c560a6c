// Node's http and https clients over fetch, and what both modules export.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const EventEmitter = modules.events;
  const { Writable } = modules.stream;
  const { addHeaders, STATUS_CODES, validateHeaderName, validateHeaderValue, IncomingMessage, OutgoingMessage, ServerResponse } = internal.nodeHTTP;
  const { URL, AbortController } = globalThis;

  const METHODS = 'ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE'.split(' ');

  // answered returns the message of a response that fetch received.
  const answered = (response) => {
    const message = new IncomingMessage({ remoteAddress: undefined, encrypted: response.url.startsWith('https:'), setTimeout() {} });
    Object.assign(message, { statusCode: response.status, statusMessage: response.statusText || STATUS_CODES[response.status] || '', httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
    addHeaders(message, response.headers);
    const reader = response.body?.getReader();
    internal.define(message, '_read', () => {
      if (reader === undefined) { message.complete = true; message.push(null); return; }
      reader.read().then(({ value, done }) => {
        if (done) message.complete = true;
        message.push(done ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength));
      }, (e) => message.destroy(e));
    });
    internal.define(message, '_destroy', (e, done) => {
      if (!message.complete) reader?.cancel().catch(() => {});
      done(e);
    });
    return message;
  };

  class ClientRequest extends Writable {
    #controller = new AbortController(); #parts = []; #timer; #headers = new Map();
    constructor(protocol, input, options, done) {
      super({ autoDestroy: false });
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
        const body = bare || this.#parts.length === 0 ? undefined : Buffer.concat(this.#parts), server = internal.serverOf(this.url);
        if (server === undefined) pending = internal.fetch(this.url, { method: this.method, headers, body, redirect: 'manual', signal: this.#controller.signal });
        else pending = this.#ask(server, headers, body);
      } catch (e) { done(e); return; }
      pending.then((response) => {
        clearTimeout(this.#timer);
        if (this.destroyed) return;
        this.res = answered(response);
        this.res.req = this;
        if (!this.emit('response', this.res)) this.res.resume();
      }, (e) => {
        clearTimeout(this.#timer);
        if (!this.destroyed) this.destroy(e.code ? e : Object.assign(e, { code: /refuses/.test(e.message) ? 'ECONNREFUSED' : /resolved/.test(e.message) ? 'ENOTFOUND' : /in time/.test(e.message) ? 'ETIMEDOUT' : 'ERR_NETWORK' }));
      });
      done();
    }
    // #ask sends the request to a server of this run.
    #ask(server, headers, body) {
      if (!this.hasHeader('host')) headers.push(['Host', new URL(this.url).host]);
      if (!this.hasHeader('connection')) headers.push(['Connection', 'keep-alive']);
      if (body !== undefined && !this.hasHeader('content-length') && !this.hasHeader('transfer-encoding')) headers.push(this.#parts.length > 1 ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', `${body.length}`]);
      const { answer, stop } = internal.exchange(server, { method: this.method, path: this.path, url: this.url, headers, body: body ?? null }, () => {});
      this.#controller.signal.addEventListener('abort', stop, { once: true });
      return answer;
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
  const make = (protocol, name) => {
    const Server = internal.server(name === 'http');
    const request = (input, options, done) => new ClientRequest(protocol, input, options, done);
    return {
      request, get: (input, options, done) => request(input, options, done).end(),
      Agent, globalAgent: new Agent({ keepAlive: true }), STATUS_CODES, METHODS, IncomingMessage, ClientRequest, createServer: (options, listener) => new Server(options, listener), Server, maxHeaderSize: 65536,
      OutgoingMessage, ServerResponse, setMaxIdleHTTPParsers() {}, validateHeaderName, validateHeaderValue,
    };
  };
  modules.http = make('http:', 'http');
  modules.https = make('https:', 'https');
  return internal;
}
