// fetch. The host sends the request, follows redirects and enforces the grants. Bodies are streamed.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const { Request, ReadableStream } = globalThis;
  const { streams } = internal;
  let next = 1;

  // The payload is concatenated by hand: JSON.stringify of an object would call a guest's toJSON.
  const quoted = p.stringify;
  const payload = (id, s, hasBody) => {
    const list = internal.headerList(s.headers);
    let headers = '';
    for (let i = 0; i < list.length; i += 2) headers += `${i > 0 ? ',' : ''}[${quoted(list[i])},${quoted(list[i + 1])}]`;
    return `{"id":${id},"method":${quoted(s.method)},"url":${quoted(s.url)},"redirect":${quoted(s.redirect)},"hasBody":${hasBody},"headers":[${headers}]}`;
  };

  // x is the state of an exchange in progress: {id, over, controller, stop}. stop removes the listener from its signal.
  const answerBody = (x) => {
    const source = {
      __proto__: null,
      type: 'bytes',
      pull: (controller) => p.promiseThen(internal.request('fetch.read', `${x.id}`), (piece) => {
        if (x.over) return;
        if (piece === null) {
          over(x);
          controller.close();
          controller.byobRequest?.respond(0);
        } else controller.enqueue(new p.Uint8Array(piece));
      }, (e) => {
        over(x);
        throw e;
      }),
      cancel: () => {
        over(x);
        internal.sync('fetch.abort', x.id);
      },
      start: (controller) => { x.controller = controller; },
    };
    return internal.bodyOf(null, streams.readableOf(new ReadableStream(source, { __proto__: null, highWaterMark: 0 })));
  };
  const over = (x) => {
    x.over = true;
    x.stop();
  };

  const begin = (s, x, bytes, resolve, reject) => {
    if (bytes !== null && bytes.length > 0) {
      try { internal.sync('fetch.send', x.id, internal.bufferOf(bytes)); } catch (e) {
        over(x);
        reject(e);
        return;
      }
    }
    p.promiseThen(internal.request('fetch', payload(x.id, s, bytes !== null)), (answer) => {
      if (x.over) return;
      const list = [];
      for (let i = 0; i < answer.headers.length; i++) {
        p.arrayPush(list, answer.headers[i][0]);
        p.arrayPush(list, answer.headers[i][1]);
      }
      let body = null;
      if (answer.hasBody) body = answerBody(x);
      else over(x);
      resolve(internal.response(answer.status, answer.statusText, list, answer.url, answer.redirected, body));
    }, (e) => {
      if (x.over) return;
      over(x);
      reject(e);
    });
  };

  // dataResponse returns the Response of a data URL. It needs no host.
  const dataResponse = (url) => {
    const end = p.indexOf(url, '#'), text = end < 0 ? url : p.slice(url, 0, end), comma = p.indexOf(text, ',');
    if (comma < 0) throw new p.TypeError('fetch failed: the data URL has no comma');
    let type = p.slice(text, 5, comma), bytes = percentDecoded(internal.encodeText(p.slice(text, comma + 1)));
    const base64 = p.regexpExec(/; *base64 *$/i, type);
    if (base64 !== null) {
      type = p.slice(type, 0, base64.index);
      try { bytes = unarmored(bytes); } catch { throw new p.TypeError('fetch failed: the data URL is not valid base64'); }
    }
    const given = internal.mime(p.startsWith(type, ';') ? `text/plain${type}` : type);
    const list = ['content-type', given === null ? 'text/plain;charset=US-ASCII' : given.text];
    return internal.response(200, 'OK', list, url, false, internal.bodyOf(bytes, null));
  };
  const hexDigit = (c) => c >= 48 && c <= 57 ? c - 48 : c >= 65 && c <= 70 ? c - 55 : c >= 97 && c <= 102 ? c - 87 : -1;
  const percentDecoded = (bytes) => {
    let n = 0;
    for (let i = 0; i < bytes.length; i++) {
      const high = bytes[i] === 37 && i + 2 < bytes.length ? hexDigit(bytes[i + 1]) : -1;
      const low = high < 0 ? -1 : hexDigit(bytes[i + 2]);
      bytes[n++] = low < 0 ? bytes[i] : 16 * high + low;
      if (low >= 0) i += 2;
    }
    return new p.Uint8Array(p.typedBuffer(bytes), 0, n);
  };
  const unarmored = (bytes) => {
    let text = '';
    for (let i = 0; i < bytes.length; i++) text += p.fromCharCode(bytes[i]);
    text = internal.sync('base64.atob', text);
    const out = new p.Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) out[i] = p.charCodeAt(text, i);
    return out;
  };

  const start = (s) => new p.Promise((resolve, reject) => {
    if (internal.abort.aborted(s.signal)) {
      reject(internal.abort.reason(s.signal));
      return;
    }
    if (p.startsWith(s.url, 'data:')) {
      resolve(dataResponse(s.url));
      return;
    }
    const server = internal.serverOf(s.url);
    if (server !== undefined) {
      if (s.body === null) resolve(internal.serve(server, s, null));
      else internal.readBody(s.body, (bytes) => resolve(internal.serve(server, s, bytes)), reject);
      return;
    }
    const x = { __proto__: null, id: next++, over: false, controller: null, stop: null };
    x.stop = internal.abort.add(s.signal, () => {
      if (x.over) return;
      x.over = true;
      const reason = internal.abort.reason(s.signal);
      reject(reason);
      if (x.controller !== null) x.controller.error(reason);
      internal.sync('fetch.abort', x.id);
    });
    if (s.body === null) begin(s, x, null, resolve, reject);
    else {
      internal.readBody(s.body, (bytes) => {
        if (!x.over) begin(s, x, bytes, resolve, reject);
      }, (e) => {
        over(x);
        reject(e);
      });
    }
  });

  const fetch = function fetch(input, init = undefined) {
    try {
      internal.need(arguments.length, 1, 'fetch');
      return start(internal.requestOf(new Request(input, init)));
    } catch (e) { return p.promiseReject(e); }
  };
  define(globalThis, 'fetch', fetch);
  internal.fetch = fetch;
  internal.startFetch = start;

  // api.request is a convenience over fetch for calling an API: it resolves a relative path against the run's only allowed
  // host and returns the parsed response.
  const request = async function request(options) {
    if (typeof options === 'string') options = { url: options };
    if (!internal.isObject(options)) throw new p.TypeError('api.request: the argument must be an object with method and path or url');
    const { method = 'GET', path, url, query, headers, body, signal } = options;
    let target = url ?? path;
    if (typeof target !== 'string') throw new p.TypeError('api.request: path or url is required');
    const base = internal.apiBase;
    if (internal.parseURL(target) === null) {
      if (base === undefined) throw new p.TypeError(`api.request: ${target} is not a URL; paths are relative to the one host that an execution may reach, and this one has none or several`);
      target = base + (p.startsWith(target, '/') ? '' : '/') + target;
    }
    const u = new URL(target);
    if (internal.isObject(query)) {
      const names = p.keys(query);
      for (let i = 0; i < names.length; i++) if (query[names[i]] !== undefined && query[names[i]] !== null) u.searchParams.append(names[i], `${query[names[i]]}`);
    }
    const sent = new Headers(headers);
    let content = body;
    if (body !== undefined && body !== null && typeof body === 'object' && (p.isArray(body) || p.getPrototypeOf(body) === p.ObjectPrototype || p.getPrototypeOf(body) === null)) {
      content = p.stringify(body);
      if (!sent.has('content-type')) sent.set('content-type', 'application/json');
    }
    const response = await fetch(u.href, { method, headers: sent, body: content, signal });
    const text = await response.text();
    let data = text;
    if (p.indexOf(response.headers.get('content-type') ?? '', 'json') >= 0) {
      try { data = p.parse(text); } catch { /* not JSON despite its content type: return the text */ }
    }
    const received = {};
    response.headers.forEach((value, name) => { p.defineProperty(received, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true }); });
    return { status: response.status, statusText: response.statusText, ok: response.ok, url: response.url, headers: received, body: data, data };
  };
  const { URL, Headers } = globalThis;
  internal.defineAPI = () => { if (!p.hasOwn(globalThis, 'api')) define(globalThis, 'api', { request }); };
  return internal;
}
