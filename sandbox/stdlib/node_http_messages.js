// Node's http messages: IncomingMessage, OutgoingMessage and ServerResponse. Frameworks make them without a server, and
// give a response a socket of their own, to which it writes text of HTTP/1.1.
(host, internal) => {
  'use strict';
  const { modules, nodeError, define } = internal;
  const { Buffer } = modules.buffer;
  const { Stream, Readable } = modules.stream;

  const STATUS_CODES = {
    100: 'Continue', 101: 'Switching Protocols', 102: 'Processing', 103: 'Early Hints', 200: 'OK', 201: 'Created', 202: 'Accepted', 203: 'Non-Authoritative Information', 204: 'No Content', 205: 'Reset Content', 206: 'Partial Content', 207: 'Multi-Status', 208: 'Already Reported', 226: 'IM Used',
    300: 'Multiple Choices', 301: 'Moved Permanently', 302: 'Found', 303: 'See Other', 304: 'Not Modified', 305: 'Use Proxy', 307: 'Temporary Redirect', 308: 'Permanent Redirect',
    400: 'Bad Request', 401: 'Unauthorized', 402: 'Payment Required', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable', 407: 'Proxy Authentication Required', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 411: 'Length Required', 412: 'Precondition Failed', 413: 'Payload Too Large', 414: 'URI Too Long', 415: 'Unsupported Media Type', 416: 'Range Not Satisfiable', 417: 'Expectation Failed', 418: "I'm a Teapot", 421: 'Misdirected Request', 422: 'Unprocessable Entity', 423: 'Locked', 424: 'Failed Dependency', 425: 'Too Early', 426: 'Upgrade Required', 428: 'Precondition Required', 429: 'Too Many Requests', 431: 'Request Header Fields Too Large', 451: 'Unavailable For Legal Reasons',
    500: 'Internal Server Error', 501: 'Not Implemented', 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout', 505: 'HTTP Version Not Supported', 506: 'Variant Also Negotiates', 507: 'Insufficient Storage', 508: 'Loop Detected', 509: 'Bandwidth Limit Exceeded', 510: 'Not Extended', 511: 'Network Authentication Required',
  };
  const validateHeaderName = (name, label) => {
    if (typeof name !== 'string' || !/^[\^`\-\w!#$%&'*+.|~]+$/.test(name)) throw nodeError(TypeError, 'ERR_INVALID_HTTP_TOKEN', `${label ?? 'Header name'} must be a valid HTTP token ["${name}"]`);
  };
  const validateHeaderValue = (name, value) => {
    if (value === undefined) throw nodeError(TypeError, 'ERR_HTTP_INVALID_HEADER_VALUE', `Invalid value "${value}" for header "${name}"`);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw nodeError(TypeError, 'ERR_INVALID_CHAR', `Invalid character in header content ["${name}"]`);
  };
  const inherit = (C, Base, methods, getters) => {
    Object.setPrototypeOf(C, Base);
    Object.setPrototypeOf(C.prototype, Base.prototype);
    for (const name of Object.keys(methods)) define(C.prototype, name, methods[name]);
    for (const name of Object.keys(getters)) Object.defineProperty(C.prototype, name, { __proto__: null, configurable: true, get() { return getters[name](this); }, ...name === 'connection' && { set(v) { this.socket = v; } } });
  };

  function IncomingMessage(socket) {
    Readable.call(this, {});
    Object.assign(this, {
      httpVersionMajor: null, httpVersionMinor: null, httpVersion: null, complete: false, headers: {}, rawHeaders: [], trailers: {}, rawTrailers: [], joinDuplicateHeaders: false,
      aborted: false, upgrade: null, url: '', method: null, statusCode: null, statusMessage: null, client: socket, _consumed: false, _dumped: false,
    });
    this.socket = socket;
  }
  // once are the headers of which a message keeps the first alone.
  const once = new Set(['age', 'authorization', 'content-length', 'content-type', 'etag', 'expires', 'from', 'host', 'if-modified-since', 'if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'referer', 'retry-after', 'server', 'user-agent']);
  // addHeaders adds pairs of name and value to a message.
  const addHeaders = (message, pairs) => {
    const { headers, rawHeaders } = message;
    for (const [name, value] of pairs) {
      const lower = name.toLowerCase();
      rawHeaders.push(name, value);
      if (lower === 'set-cookie') (headers[lower] ??= []).push(value);
      else if (!Object.hasOwn(headers, lower)) headers[lower] = value;
      else if (!once.has(lower)) headers[lower] += (lower === 'cookie' ? '; ' : ', ') + value;
    }
  };
  const distinct = (raw) => {
    const out = { __proto__: null };
    for (let i = 0; i < raw.length; i += 2) (out[raw[i].toLowerCase()] ??= []).push(raw[i + 1]);
    return out;
  };
  inherit(IncomingMessage, Readable, {
    _read() {},
    _destroy(e, done) {
      if (!this.readableEnded || !this.complete) {
        this.aborted = true;
        this.emit('aborted');
      }
      done(this.listenerCount('error') === 0 ? null : e);
    },
    _dump() {
      if (this._dumped) return;
      this._dumped = true;
      this.resume();
    },
    setTimeout(ms, done) {
      if (done) this.on('timeout', done);
      this.socket?.setTimeout?.(ms);
      return this;
    },
  }, { connection: (m) => m.socket, headersDistinct: (m) => distinct(m.rawHeaders), trailersDistinct: (m) => distinct(m.rawTrailers) });

  // held has the headers by their names in lower case, as [name, value].
  const held = Symbol('kOutHeaders');
  const sent = (what) => nodeError(Error, 'ERR_HTTP_HEADERS_SENT', `Cannot ${what} headers after they are sent to the client`);
  function OutgoingMessage(options) {
    Stream.call(this);
    Object.assign(this, {
      outputData: [], outputSize: 0, writable: true, destroyed: false, chunkedEncoding: false, shouldKeepAlive: true, maxRequestsOnConnectionReached: false, _defaultKeepAlive: true,
      useChunkedEncodingByDefault: true, sendDate: false, _removedConnection: false, _removedContLen: false, _removedTE: false, strictContentLength: false, _contentLength: null, _hasBody: true,
      _trailer: '', finished: false, _headerSent: false, _closed: false, _header: null, _keepAliveTimeout: 0, _last: false,
    });
    this.socket = null;
    define(this, held, null);
    define(this, 'errored', null);
    define(this, '_mark', options?.highWaterMark ?? 65536);
    define(this, '_waits', false);
  }
  // pass hands data to the socket, or keeps it until there is one.
  const pass = (m, data, encoding, done) => {
    const { socket } = m;
    if (socket?.destroyed) return false;
    if (socket && socket._httpMessage === m && socket.writable) {
      if (m.outputData.length > 0) m._flushOutput(socket);
      return socket.write(data, encoding, done);
    }
    m.outputData.push({ data, encoding, callback: done });
    m.outputSize += data.length;
    return m.outputSize < m._mark;
  };
  const write = (m, chunk, encoding, done, last) => {
    if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
    if (chunk === null) throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) throw internal.nodeWrongType('chunk', 'of type string or an instance of Buffer or Uint8Array', chunk);
    const refused = m.finished ? nodeError(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end') : m.destroyed ? nodeError(Error, 'ERR_STREAM_DESTROYED', 'Cannot call write after a stream was destroyed') : undefined;
    if (refused) {
      process.nextTick(() => {
        if (m.finished) m.emit('error', refused);
        done?.(refused);
      });
      return false;
    }
    const size = typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.length;
    if (!m._header) {
      if (last) m._contentLength ??= size;
      m._implicitHeader();
    }
    if (!m._hasBody) {
      if (done) process.nextTick(done);
      return true;
    }
    if (!last && m.socket && !m.socket.writableCorked) {
      const { socket } = m;
      socket.cork?.();
      process.nextTick(() => socket.uncork?.());
    }
    let room;
    if (m.chunkedEncoding && size > 0) {
      m._send(size.toString(16), 'latin1', null);
      m._send('\r\n', 'latin1', null);
      m._send(chunk, encoding, null);
      room = m._send('\r\n', 'latin1', done);
    } else room = m._send(chunk, encoding, done);
    if (!room) m._waits = true;
    return room;
  };
  const line = (name, value) => `${name}: ${value}\r\n`;
  inherit(OutgoingMessage, Stream, {
    _send(data, encoding, done) {
      if (!this._headerSent) {
        const header = this._header;
        this._headerSent = true;
        if (typeof data === 'string' && (encoding === 'utf8' || encoding === 'latin1' || !encoding)) data = header + data;
        else {
          this.outputData.unshift({ data: header, encoding: 'latin1', callback: null });
          this.outputSize += header.length;
        }
      }
      return this._writeRaw(data, encoding, done);
    },
    _writeRaw(data, encoding, done) {
      if (typeof encoding === 'function') { done = encoding; encoding = null; }
      return pass(this, data, encoding, done);
    },
    _flush() {
      if (!this.socket?.writable) return;
      const room = this._flushOutput(this.socket);
      if (this.finished) this._finish();
      else if (room && this._waits) {
        this._waits = false;
        this.emit('drain');
      }
    },
    _flushOutput(socket) {
      const entries = this.outputData;
      let room = true;
      this.outputData = [];
      this.outputSize = 0;
      for (const { data, encoding, callback } of entries) room = socket.write(data, encoding, callback);
      return room;
    },
    _finish() { this.emit('prefinish'); },
    _implicitHeader() { throw nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The _implicitHeader() method is not implemented'); },
    _storeHeader(first, headers) {
      const seen = { __proto__: null };
      let text = first;
      const add = (name, value) => {
        validateHeaderName(name);
        const lower = name.toLowerCase(), values = Array.isArray(value) ? lower === 'cookie' ? [value.join('; ')] : value : [value];
        for (const v of values) {
          validateHeaderValue(name, v);
          text += line(name, v);
        }
        seen[lower] = `${value}`;
      };
      if (headers === this[held] && headers) for (const key of Object.keys(headers)) add(headers[key][0], headers[key][1]);
      else if (Array.isArray(headers)) {
        if (Array.isArray(headers[0])) for (const [name, value] of headers) add(name, value);
        else for (let i = 0; i < headers.length; i += 2) add(headers[i], headers[i + 1]);
      } else if (headers) for (const name of Object.keys(headers)) add(name, headers[name]);
      if (seen.connection !== undefined) {
        if (/(?:^|\W)close(?:$|\W)/i.test(seen.connection)) this._last = true;
        else this.shouldKeepAlive = true;
      }
      if (seen['transfer-encoding'] !== undefined && /(?:^|\W)chunked(?:$|\W)/i.test(seen['transfer-encoding'])) this.chunkedEncoding = true;
      if (seen['content-length'] !== undefined) this._contentLength = +seen['content-length'];
      if (this.sendDate && seen.date === undefined) text += line('Date', new Date().toUTCString());
      if ((this.statusCode === 204 || this.statusCode === 304) && this.chunkedEncoding) {
        this.chunkedEncoding = false;
        this.shouldKeepAlive = false;
      }
      if (this._removedConnection) this.shouldKeepAlive = false;
      else if (seen.connection === undefined) {
        if (this.shouldKeepAlive && (seen['content-length'] !== undefined || this.useChunkedEncodingByDefault)) {
          text += line('Connection', 'keep-alive');
          if (this._keepAliveTimeout && this._defaultKeepAlive) text += line('Keep-Alive', `timeout=${Math.floor(this._keepAliveTimeout / 1000)}`);
        } else {
          this._last = true;
          text += line('Connection', 'close');
        }
      }
      if (seen['content-length'] === undefined && seen['transfer-encoding'] === undefined) {
        if (!this._hasBody) this.chunkedEncoding = false;
        else if (!this.useChunkedEncodingByDefault) this._last = true;
        else if (seen.trailer === undefined && !this._removedContLen && typeof this._contentLength === 'number') text += line('Content-Length', this._contentLength);
        else if (!this._removedTE) {
          text += line('Transfer-Encoding', 'chunked');
          this.chunkedEncoding = true;
        } else this._last = true;
      }
      this._header = `${text}\r\n`;
    },
    setHeader(name, value) {
      if (this._header) throw sent('set');
      validateHeaderName(name);
      validateHeaderValue(name, value);
      const headers = this[held] ??= { __proto__: null };
      headers[name.toLowerCase()] = [name, value];
      return this;
    },
    setHeaders(headers) {
      if (this._header) throw sent('set');
      if (typeof headers?.[Symbol.iterator] !== 'function' || Array.isArray(headers)) throw internal.nodeWrongType('headers', 'an instance of Headers or Map', headers);
      for (const [name, value] of headers) {
        if (name === 'set-cookie' && this.hasHeader(name)) this.appendHeader(name, value);
        else this.setHeader(name, value);
      }
      return this;
    },
    appendHeader(name, value) {
      if (this._header) throw sent('append');
      const before = this.getHeader(name);
      return this.setHeader(name, before === undefined ? value : [before, value].flat());
    },
    getHeader(name) {
      if (typeof name !== 'string') throw internal.nodeWrongType('name', 'of type string', name);
      return this[held]?.[name.toLowerCase()]?.[1];
    },
    getHeaders() {
      const out = { __proto__: null };
      for (const key of this.getHeaderNames()) out[key] = this[held][key][1];
      return out;
    },
    getHeaderNames() { return Object.keys(this[held] ?? {}); },
    getRawHeaderNames() { return this.getHeaderNames().map((key) => this[held][key][0]); },
    hasHeader(name) {
      if (typeof name !== 'string') throw internal.nodeWrongType('name', 'of type string', name);
      return this[held]?.[name.toLowerCase()] !== undefined;
    },
    removeHeader(name) {
      if (typeof name !== 'string') throw internal.nodeWrongType('name', 'of type string', name);
      if (this._header) throw sent('remove');
      const key = name.toLowerCase();
      if (key === 'connection') this._removedConnection = true;
      else if (key === 'content-length') this._removedContLen = true;
      else if (key === 'transfer-encoding') this._removedTE = true;
      else if (key === 'date') this.sendDate = false;
      if (this[held]) delete this[held][key];
    },
    flushHeaders() {
      if (!this._header) this._implicitHeader();
      this._send('');
    },
    write(chunk, encoding, done) { return write(this, chunk, encoding, done, false); },
    end(chunk, encoding, done) {
      if (typeof chunk === 'function') { done = chunk; chunk = encoding = null; } else if (typeof encoding === 'function') { done = encoding; encoding = null; }
      if (this.finished) {
        const e = chunk ? nodeError(Error, 'ERR_STREAM_WRITE_AFTER_END', 'write after end') : nodeError(Error, 'ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished');
        if (typeof done === 'function') process.nextTick(done, e);
        else if (chunk) process.nextTick(() => this.emit('error', e));
        return this;
      }
      if (typeof done === 'function') this.once('finish', done);
      if (chunk) {
        this.socket?.cork?.();
        write(this, chunk, encoding, null, true);
      } else if (!this._header) {
        this.socket?.cork?.();
        this._contentLength = 0;
        this._implicitHeader();
      }
      const over = (e) => { if (e?.code !== 'ERR_STREAM_DESTROYED') this.emit('finish'); };
      if (this._hasBody && this.chunkedEncoding) this._send(`0\r\n${this._trailer}\r\n`, 'latin1', over);
      else if (!this._headerSent || this.writableLength > 0 || chunk) this._send('', 'latin1', over);
      else process.nextTick(over);
      this.socket?.uncork?.();
      this.socket?.uncork?.(); // write corks the socket, too
      this.finished = true;
      if (this.outputData.length === 0 && this.socket?._httpMessage === this) this._finish();
      return this;
    },
    addTrailers(headers) {
      this._trailer = '';
      for (const [name, value] of Array.isArray(headers) ? headers : Object.entries(headers)) {
        validateHeaderName(name, 'Trailer name');
        validateHeaderValue(name, value);
        this._trailer += line(name, value);
      }
    },
    destroy(e) {
      if (this.destroyed) return this;
      this.destroyed = true;
      this.errored = e ?? null;
      if (this.socket) this.socket.destroy(e);
      else this.once('socket', (socket) => socket.destroy(e));
      return this;
    },
    setTimeout(ms, done) {
      if (done) this.on('timeout', done);
      if (this.socket) this.socket.setTimeout?.(ms);
      else this.once('socket', (socket) => socket.setTimeout?.(ms));
      return this;
    },
    cork() { this.socket?.cork?.(); },
    uncork() { this.socket?.uncork?.(); },
    pipe() { this.emit('error', nodeError(Error, 'ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable')); },
  }, {
    headersSent: (m) => !!m._header, writableEnded: (m) => m.finished, writableFinished: (m) => m.finished && m.outputSize === 0 && !m.socket?.writableLength, writableObjectMode: () => false,
    writableLength: (m) => m.outputSize + (m.socket?.writableLength ?? 0), writableHighWaterMark: (m) => m.socket?.writableHighWaterMark ?? m._mark, writableCorked: (m) => m.socket?.writableCorked ?? 0,
    writableNeedDrain: (m) => !m.destroyed && !m.finished && m._waits, connection: (m) => m.socket, closed: (m) => m._closed,
  });

  function ServerResponse(req, options) {
    OutgoingMessage.call(this, options);
    if (req.method === 'HEAD') this._hasBody = false;
    this.req = req;
    this.sendDate = true;
    this._sent100 = this._expect_continue = false;
    if (req.httpVersionMajor < 1 || req.httpVersionMinor < 1) {
      this.useChunkedEncodingByDefault = /(?:^|\W)chunked(?:$|\W)/i.test(req.headers.te);
      this.shouldKeepAlive = false;
    }
  }
  const closing = Symbol('closing');
  inherit(ServerResponse, OutgoingMessage, {
    assignSocket(socket) {
      if (socket._httpMessage) throw nodeError(Error, 'ERR_HTTP_SOCKET_ASSIGNED', 'Socket already assigned');
      socket._httpMessage = this;
      const closed = () => {
        this.destroyed = this._closed = true;
        this.emit('close');
      };
      const drained = () => {
        if (!this._waits || this.outputSize > 0) return;
        this._waits = false;
        this.emit('drain');
      };
      define(this, closing, [['close', closed], ['drain', drained]]);
      for (const [type, f] of this[closing]) socket.on?.(type, f);
      this.socket = socket;
      this.emit('socket', socket);
      this._flush();
    },
    detachSocket(socket) {
      for (const [type, f] of this[closing] ?? []) socket.removeListener?.(type, f);
      socket._httpMessage = null;
      this.socket = null;
    },
    writeContinue(done) { this._writeRaw('HTTP/1.1 100 Continue\r\n\r\n', 'latin1', done); this._sent100 = true; },
    writeProcessing(done) { this._writeRaw('HTTP/1.1 102 Processing\r\n\r\n', 'latin1', done); },
    writeEarlyHints(hints, done) {
      let text = 'HTTP/1.1 103 Early Hints\r\n';
      for (const name of Object.keys(hints)) text += line(name === 'link' ? 'Link' : name, [hints[name]].flat().join(', '));
      this._writeRaw(`${text}\r\n`, 'latin1', done);
    },
    _implicitHeader() { this.writeHead(this.statusCode); },
    writeHead(status, reason, headers) {
      if (this._header) throw sent('write');
      const given = status;
      status |= 0;
      if (status < 100 || status > 999) throw nodeError(RangeError, 'ERR_HTTP_INVALID_STATUS_CODE', `Invalid status code: ${given}`);
      if (typeof reason === 'string') this.statusMessage = reason;
      else {
        this.statusMessage ||= STATUS_CODES[status] ?? 'unknown';
        headers ??= reason;
      }
      this.statusCode = status;
      if (this[held] && headers) {
        const entries = !Array.isArray(headers) ? Object.entries(headers) : Array.isArray(headers[0]) ? headers : headers.flatMap((name, i) => i % 2 === 0 ? [[name, headers[i + 1]]] : []);
        for (const [name, value] of entries) if (name) this.setHeader(name, value);
      }
      if (/[^\t\x20-\x7e\x80-\xff]/.test(this.statusMessage)) throw nodeError(TypeError, 'ERR_INVALID_CHAR', 'Invalid character in statusMessage');
      if (status === 204 || status === 304 || status < 200) this._hasBody = false;
      this._storeHeader(`HTTP/1.1 ${status} ${this.statusMessage}\r\n`, this[held] ?? headers);
      return this;
    },
  }, {});
  define(ServerResponse.prototype, 'writeHeader', ServerResponse.prototype.writeHead);
  ServerResponse.prototype.statusCode = 200;
  ServerResponse.prototype.statusMessage = undefined;

  internal.nodeHTTP = { addHeaders, STATUS_CODES, validateHeaderName, validateHeaderValue, IncomingMessage, OutgoingMessage, ServerResponse };
  return internal;
}
