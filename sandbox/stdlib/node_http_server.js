// Servers of node:http within one run. listen enters a server into a table, and a request to this machine that names its
// port is answered by it in memory. Nothing here leads to a network: requests to all other addresses take the host's way.
(host, internal) => {
  'use strict';
  const { modules, nodeError, define } = internal;
  const { Buffer } = modules.buffer;
  const EventEmitter = modules.events;
  const { Duplex } = modules.stream;
  const { addHeaders, IncomingMessage, ServerResponse } = internal.nodeHTTP;
  const { URL, ReadableStream, Request, Headers } = globalThis;

  const listening = new Map(); // the servers of this run by port
  const self = /^(?:127(?:\.[0-9]+){3}|0\.0\.0\.0|localhost|\[::1?\])$/;
  // serverOf returns the server of this run that a URL leads to.
  const serverOf = (url) => {
    if (listening.size === 0) return undefined;
    const u = new URL(url);
    return u.protocol === 'http:' && self.test(u.hostname) ? listening.get(+u.port || 80) : undefined;
  };

  const fault = (message, code) => Object.assign(new Error(message), { code });
  const noBody = (method, status) => method === 'HEAD' || status === 204 || status === 304;

  // A Parser reads the text that a response writes to its socket, and calls head, data and end of its reader.
  class Parser {
    #method; #reader; #rest = Buffer.alloc(0); #read = this.#head; #left = 0;
    constructor(method, reader) {
      this.#method = method;
      this.#reader = reader;
    }
    add(chunk) {
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      while (this.#rest.length > 0 && this.#read()); // each call takes something from the rest, or waits for more
    }
    // close says that the connection ended: the end of a body whose length nobody knew.
    close() {
      const read = this.#read;
      this.#read = this.#nothing;
      if (read === this.#endless) this.#reader.end();
      else if (read !== this.#nothing) this.#reader.fail(fault(read === this.#head ? 'socket hang up' : 'aborted', 'ECONNRESET'));
    }
    #take(n) {
      const taken = this.#rest.subarray(0, n);
      this.#rest = this.#rest.subarray(n);
      return taken;
    }
    // #line returns the text up to a separator, and takes both; undefined if the separator is not there yet.
    #line(separator) {
      const at = this.#rest.indexOf(separator);
      return at < 0 ? undefined : this.#take(at + separator.length).latin1Slice(0, at);
    }
    #head() {
      const text = this.#line('\r\n\r\n');
      if (text === undefined) return false;
      const [first, ...lines] = text.split('\r\n'), match = /^HTTP\/1\.[01] ([0-9]{3}) ?(.*)$/.exec(first);
      if (match === null) {
        this.#read = this.#nothing;
        this.#reader.fail(fault('Parse Error: Expected HTTP/', 'HPE_INVALID_CONSTANT'));
        return false;
      }
      const status = +match[1];
      if (status < 200) return true;
      const headers = lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
      const header = (name) => headers.find(([other]) => other.toLowerCase() === name)?.[1];
      this.#reader.head(status, match[2], headers);
      this.#left = +header('content-length');
      if (noBody(this.#method, status)) this.#end();
      else if (/chunked/i.test(header('transfer-encoding'))) this.#read = this.#size;
      else if (header('content-length') === undefined) this.#read = this.#endless;
      else if (this.#left > 0) this.#read = this.#body;
      else this.#end();
      return true;
    }
    #pass(n) { this.#reader.data(new Uint8Array(this.#take(n))); }
    #endless() {
      this.#pass(this.#rest.length);
      return true;
    }
    #body() {
      const n = Math.min(this.#left, this.#rest.length);
      this.#left -= n;
      this.#pass(n);
      if (this.#left === 0) this.#end();
      return true;
    }
    #size() {
      const text = this.#line('\r\n');
      if (text === undefined) return false;
      this.#left = parseInt(text, 16);
      this.#read = this.#left > 0 ? this.#chunk : this.#trailer;
      return true;
    }
    #chunk() {
      const n = Math.min(this.#left, this.#rest.length);
      this.#left -= n;
      this.#pass(n);
      if (this.#left === 0) this.#read = this.#afterChunk;
      return true;
    }
    #afterChunk() {
      if (this.#line('\r\n') === undefined) return false;
      this.#read = this.#size;
      return true;
    }
    #trailer() {
      const text = this.#line('\r\n');
      if (text === '') this.#end();
      return text !== undefined;
    }
    #nothing() {
      this.#take(this.#rest.length);
      return true;
    }
    #end() {
      this.#read = this.#nothing;
      this.#reader.end();
    }
  }

  // A Connection is the server's end of one exchange.
  class Connection extends Duplex {
    #parser;
    constructor(server, parser) {
      super();
      this.#parser = parser;
      const { address, port } = server.address();
      const local = address === '::' ? '::ffff:127.0.0.1' : address;
      Object.assign(this, { server, encrypted: false, remoteAddress: local, remotePort: nextPort(), remoteFamily: local.includes(':') ? 'IPv6' : 'IPv4', localAddress: local, localPort: port, connecting: false });
    }
    _read() {}
    _write(chunk, encoding, done) {
      this.#parser.add(Buffer.from(chunk, encoding));
      done();
    }
    _final(done) {
      this.#parser.close();
      done();
    }
    _destroy(e, done) {
      this.#parser.close();
      done(e);
    }
    address() { return { address: this.localAddress, family: this.remoteFamily, port: this.localPort }; }
    setTimeout(ms, done) { if (done) this.once('timeout', done); return this; }
    setNoDelay() { return this; }
    setKeepAlive() { return this; }
    ref() { return this; }
    unref() { return this; }
    destroySoon() { this.end(() => this.destroy()); }
  }

  let lastPort = 49151;
  const nextPort = () => {
    do lastPort = lastPort < 65535 ? lastPort + 1 : 49152; while (listening.has(lastPort));
    return lastPort;
  };

  // dispatch hands a request to a server.
  const dispatch = (server, connection, request) => {
    const { [options]: { IncomingMessage: Incoming = IncomingMessage, ServerResponse: Response = ServerResponse } } = server;
    const message = new Incoming(connection), { body } = request;
    Object.assign(message, { method: request.method, url: request.path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 });
    addHeaders(message, request.headers);
    message.complete = true;
    if (body !== null && body.length > 0) message.push(body);
    message.push(null);
    const response = new Response(message);
    connection.on('close', () => {
      if (!message.readableEnded) message.destroy(fault('aborted', 'ECONNRESET'));
      server[open].delete(connection);
      closed(server);
    });
    response.on('finish', () => {
      if (!message._consumed) message._dump();
      response.detachSocket(connection);
      connection.destroySoon();
      process.nextTick(() => {
        response.destroyed = response._closed = true;
        response.emit('close');
      });
    });
    response.assignSocket(connection);
    server.emit('connection', connection);
    server.emit('request', message, response);
  };

  // exchange has a server answer {method, path, headers, body}. answer is a promise of the response, whose body is a stream;
  // stop breaks the connection. over is called when the exchange has ended.
  const exchange = (server, request, over) => {
    let connection, controller, stopped = false;
    const stop = (reason) => {
      if (stopped) return;
      stopped = true;
      over();
      controller.error(reason);
      connection.destroy();
    };
    const answer = new Promise((resolve, reject) => {
      const body = new ReadableStream({ type: 'bytes', start(c) { controller = c; }, cancel: stop });
      const parser = new Parser(request.method, {
        head: (status, statusText, headers) => resolve({ status, statusText, headers, url: request.url, body: noBody(request.method, status) ? null : body }),
        data: (chunk) => { if (!stopped) controller.enqueue(chunk); },
        end: () => {
          if (stopped) return;
          stopped = true;
          over();
          controller.close();
        },
        fail: (e) => {
          reject(e);
          stop(e);
        },
      });
      connection = new Connection(server, parser);
      server[open].add(connection);
    });
    setImmediate(() => { if (!connection.destroyed) dispatch(server, connection, request); });
    return { answer, stop };
  };
  internal.absentServer = (name) => nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `${name} is not available in the sandbox: nothing can connect to it`);
  internal.serverOf = serverOf;
  internal.exchange = exchange;

  // serve has a server answer a request of fetch, and follows redirects.
  internal.serve = (server, s, bytes) => {
    if (internal.abort.aborted(s.signal)) return Promise.reject(internal.abort.reason(s.signal)); // while the body was read
    const u = new URL(s.url), list = internal.headerList(s.headers), headers = [['host', u.host], ['connection', 'keep-alive']];
    for (let i = 0; i < list.length; i += 2) headers.push([list[i], list[i + 1]]);
    for (const [name, value] of [['accept', '*/*'], ['accept-language', '*'], ['sec-fetch-mode', 'cors'], ['user-agent', 'node']]) if (!headers.some(([other]) => other === name)) headers.push([name, value]);
    if (bytes !== null) headers.push(['content-length', `${bytes.length}`]);
    let done;
    const { answer, stop } = exchange(server, { method: s.method, path: u.pathname + u.search, url: s.url, headers, body: bytes }, () => done());
    done = internal.abort.add(s.signal, () => stop(internal.abort.reason(s.signal)));
    return answer.then(({ status, statusText, headers: received, body }) => {
      const flat = received.flatMap(([name, value]) => [name.toLowerCase(), value]), at = flat.indexOf('location');
      if ([301, 302, 303, 307, 308].includes(status) && at >= 0 && s.redirect !== 'manual') return follow(s, bytes, status, flat[at + 1]);
      return internal.response(status, statusText, flat, s.url, s.hops > 0, body === null ? null : internal.bodyOf(null, internal.streams.readableOf(body)));
    }, (e) => { throw internal.abort.aborted(s.signal) ? internal.abort.reason(s.signal) : new TypeError('fetch failed', { cause: e.message === 'socket hang up' ? fault('other side closed', 'UND_ERR_SOCKET') : e }); });
  };
  const follow = (s, bytes, status, location) => {
    const failed = (why) => new TypeError('fetch failed', { cause: new Error(why) });
    if (s.redirect === 'error') throw failed('unexpected redirect');
    if ((s.hops ?? 0) >= 20) throw failed('redirect count exceeded');
    const from = new URL(s.url), to = new URL(location, from), headers = new Headers();
    const bare = status === 303 && s.method !== 'HEAD' || status < 303 && s.method === 'POST', list = internal.headerList(s.headers);
    for (let i = 0; i < list.length; i += 2) {
      const dropped = bare && list[i].startsWith('content-') || to.origin !== from.origin && ['authorization', 'cookie', 'proxy-authorization'].includes(list[i]);
      if (!dropped) headers.append(list[i], list[i + 1]);
    }
    const next = new Request(to, { method: bare ? 'GET' : s.method, headers, body: bare ? undefined : bytes ?? undefined });
    return internal.startFetch(Object.assign(internal.requestOf(next), { signal: s.signal, hops: (s.hops ?? 0) + 1 }));
  };

  const options = Symbol('options'), open = Symbol('connections');
  // closed emits close once a server that no longer listens has no connection.
  const closed = (server) => { if (server.closing && server[open].size === 0) { server.closing = false; process.nextTick(() => server.emit('close')); } };
  const badPort = (port) => nodeError(RangeError, 'ERR_SOCKET_BAD_PORT', `options.port should be >= 0 and < 65536. Received ${typeof port === 'string' ? `type string ('${port}')` : `type number (${port})`}.`);
  const methods = {
    listen(...args) {
      const done = args.findLast((x) => typeof x === 'function');
      const given = args[0] !== null && typeof args[0] === 'object' ? args[0] : { port: typeof args[0] === 'function' ? 0 : args[0], host: typeof args[1] === 'string' ? args[1] : undefined };
      if (given.path !== undefined || typeof given.port === 'string' && !/^\s*[0-9]+\s*$/.test(given.port)) throw internal.absentServer('http.Server.listen on a path');
      if (!(+(given.port ?? 0) >= 0 && given.port < 65536 || given.port == null)) throw badPort(given.port);
      if (this.listening) throw nodeError(Error, 'ERR_SERVER_ALREADY_LISTEN', 'Listen method has been called more than once without closing.');
      if (done) this.once('listening', done);
      const port = +(given.port ?? 0) || nextPort(), host = given.host ?? '::', address = host === 'localhost' ? '127.0.0.1' : host;
      if (listening.has(port)) {
        const e = Object.assign(fault(`listen EADDRINUSE: address already in use ${address}:${port}`, 'EADDRINUSE'), { errno: -98, syscall: 'listen', address, port });
        process.nextTick(() => this.emit('error', e));
        return this;
      }
      listening.set(port, this);
      this.listening = true;
      define(this, 'bound', { address, family: address.includes(':') ? 'IPv6' : 'IPv4', port });
      process.nextTick(() => { if (this.listening) this.emit('listening'); });
      return this;
    },
    address() { return this.bound ? { ...this.bound } : null; },
    close(done) {
      if (!this.listening) {
        if (done) process.nextTick(done, nodeError(Error, 'ERR_SERVER_NOT_RUNNING', 'Server is not running.'));
        return this;
      }
      if (done) this.once('close', done);
      listening.delete(this.bound.port);
      this.listening = false;
      this.bound = null;
      define(this, 'closing', true);
      closed(this);
      return this;
    },
    getConnections(done) { process.nextTick(done, null, this[open].size); return this; },
    closeAllConnections() { for (const connection of this[open]) connection.destroy(); },
    closeIdleConnections() {}, ref() { return this; }, unref() { return this; }, setTimeout() { return this; },
    [Symbol.asyncDispose]() { return new Promise((resolve) => { this.close(resolve); }); },
  };
  // server returns the class Server of http, or of https, whose servers can be made but do not listen.
  internal.server = (listens) => {
    function Server(given, listener) {
      if (!(this instanceof Server)) return new Server(given, listener);
      EventEmitter.call(this);
      if (typeof given === 'function') listener = given;
      if (listener) this.on('request', listener);
      Object.assign(this, { listening: false, maxHeadersCount: null, maxRequestsPerSocket: 0, timeout: 0, requestTimeout: 300000, headersTimeout: 60000, keepAliveTimeout: 5000 });
      define(this, options, given !== null && typeof given === 'object' ? given : {});
      define(this, open, new Set());
    }
    Object.setPrototypeOf(Server, EventEmitter);
    Object.setPrototypeOf(Server.prototype, EventEmitter.prototype);
    for (const name of Reflect.ownKeys(methods)) define(Server.prototype, name, name === 'listen' && !listens ? () => { throw internal.absentServer('https.Server.listen'); } : methods[name]);
    return Server;
  };
  return internal;
}
