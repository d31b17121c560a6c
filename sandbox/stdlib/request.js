// Request, as specified by the Fetch standard.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const { streams } = internal;
  let of;
  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  const known = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
  const values = {
    __proto__: null,
    referrerPolicy: ['', 'no-referrer', 'no-referrer-when-downgrade', 'same-origin', 'origin', 'strict-origin', 'origin-when-cross-origin', 'strict-origin-when-cross-origin', 'unsafe-url'],
    mode: ['cors', 'no-cors', 'same-origin', 'navigate'],
    credentials: ['omit', 'same-origin', 'include'],
    cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
    redirect: ['follow', 'error', 'manual'],
    duplex: ['half'],
    priority: ['high', 'low', 'auto'],
  };

  const plain = { __proto__: null, referrerPolicy: 0, mode: 0, credentials: 0, cache: 0, redirect: 0 };

  const methodOf = (v) => {
    const method = internal.byteString(v);
    if (p.regexpExec(token, method) === null) throw new p.TypeError(`'${method}' is not a valid HTTP method.`);
    const upper = p.toUpperCase(method);
    if (upper === 'CONNECT' || upper === 'TRACE' || upper === 'TRACK') throw new p.TypeError(`'${method}' HTTP method is unsupported.`);
    return p.arrayIndexOf(known, upper) >= 0 ? upper : method;
  };
  // members reads the options in alphabetical order, as WebIDL requires.
  const members = (init) => {
    const o = internal.dictionary(init, 'Request: the options'), m = { __proto__: null };
    const names = ['body', 'cache', 'credentials', 'duplex', 'headers', 'integrity', 'keepalive', 'method', 'mode', 'priority', 'redirect', 'referrer', 'referrerPolicy', 'signal', 'window'];
    for (let i = 0; i < names.length; i++) {
      const name = names[i], v = o[name];
      if (v !== undefined) m[name] = values[name] !== undefined ? internal.oneOf(v, values[name], `Request: ${name}`) : v;
    }
    return m;
  };
  const referrerOf = (v) => {
    const text = internal.usv(v);
    if (text === '') return 'no-referrer';
    const parts = internal.parseURL(text, internal.baseURL());
    if (parts === null) throw new p.TypeError(`Request: the referrer ${text} is not a URL`);
    return 'about:client'; // there is no page, so no referrer is same-origin
  };

  class Request {
    #r;
    constructor(input, init = undefined) {
      internal.need(arguments.length, 1, 'Request constructor');
      if (input === internal.key) {
        this.#r = init;
        return;
      }
      const from = internal.isObject(input) && #r in input ? input.#r : null;
      const url = from === null ? internal.usv(input) : from.url;
      const m = members(init);
      const parts = from === null ? internal.parseURL(url, internal.baseURL()) : null;
      if (from === null && parts === null) throw new p.TypeError(`Failed to parse URL from ${url}`, { cause: internal.invalidURL(url) });
      if (from === null && (parts[3] !== '' || parts[4] !== '')) throw new p.TypeError(`Request cannot be constructed from a URL that includes credentials: ${url}`);
      const s = { __proto__: null, method: 'GET', url: parts === null ? url : parts[0], referrer: 'about:client', referrerPolicy: '', mode: 'cors', credentials: 'same-origin', cache: 'default',
        redirect: 'follow', integrity: '', keepalive: false, signal: undefined, headers: undefined, body: null };
      if (from !== null) for (const name in from) s[name] = from[name];
      this.#r = s;
      if (m.window !== undefined && m.window !== null) throw new p.TypeError('Request: window can only be null');
      if (m.referrer !== undefined) s.referrer = referrerOf(m.referrer);
      if (m.mode === 'navigate') throw new p.TypeError('Request constructor: invalid request mode navigate.');
      for (const name in plain) if (m[name] !== undefined) s[name] = m[name];
      if (s.cache === 'only-if-cached' && s.mode !== 'same-origin') throw new p.TypeError('Request: the cache mode only-if-cached needs the mode same-origin');
      if (m.integrity !== undefined) s.integrity = internal.text(m.integrity);
      if (m.keepalive !== undefined) s.keepalive = !!m.keepalive;
      if (m.method !== undefined) s.method = methodOf(m.method);
      let signal = from === null ? null : from.signal;
      if (m.signal !== undefined) {
        signal = m.signal;
        if (signal !== null && !internal.abort.is(signal)) throw new p.TypeError("Failed to construct 'Request': member signal is not of type AbortSignal.");
      }
      s.signal = internal.abort.any(signal === null ? [] : [signal]);
      this.#fill(s, m, from);
      this.#body(s, m, from);
    }
    #fill(s, m, from) {
      const guard = s.mode === 'no-cors' ? 'request-no-cors' : 'request';
      if (s.mode === 'no-cors' && s.method !== 'GET' && s.method !== 'HEAD' && s.method !== 'POST') throw new p.TypeError(`Request: the method ${s.method} is not allowed without CORS`);
      const inherited = from === null ? [] : p.arraySlice(internal.headerList(from.headers));
      s.headers = internal.headers([], guard);
      if (m.headers !== undefined) internal.fillHeaders(s.headers, m.headers);
      else {
        for (let i = 0; i < inherited.length; i += 2) s.headers.append(inherited[i], inherited[i + 1]);
      }
    }
    #body(s, m, from) {
      s.body = null;
      const given = m.body !== undefined && m.body !== null;
      if ((given || (from !== null && from.body !== null)) && (s.method === 'GET' || s.method === 'HEAD')) throw new p.TypeError('Request with GET/HEAD method cannot have body.');
      if (given) {
        const extracted = internal.extract(m.body);
        if (streams.isReadable(m.body) && m.duplex === undefined) throw new p.TypeError('RequestInit: duplex option is required when sending a body.');
        s.body = extracted.body;
        if (extracted.type !== null && internal.getHeader(internal.headerList(s.headers), 'content-type') === null) s.headers.append('content-type', extracted.type);
        return;
      }
      if (from === null || from.body === null) return;
      if (internal.bodyUnusable(from.body)) throw new p.TypeError('Request: the body of the given request was already read or is locked');
      // The body moves to the new request; the given request's body is marked as used.
      s.body = internal.bodyOf(from.body.bytes, from.body.stream);
      if (from.body.bytes !== null) from.body.used = true;
      else {
        const branch = streams.transformer((chunk, put) => { put(chunk); }, streams.nothing);
        streams.handled(streams.pipe(from.body.stream, streams.writableOf(branch.writable), streams.pipeOptions(undefined)));
        s.body.stream = streams.readableOf(branch.readable);
      }
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#r in o)) throw new p.TypeError('not a Request');
        return o.#r;
      };
    }
    get method() { return of(this).method; }
    get url() { return of(this).url; }
    get headers() { return of(this).headers; }
    get destination() {
      of(this);
      return '';
    }
    get referrer() {
      const { referrer } = of(this);
      return referrer === 'no-referrer' ? '' : referrer;
    }
    get referrerPolicy() { return of(this).referrerPolicy; }
    get mode() { return of(this).mode; }
    get credentials() { return of(this).credentials; }
    get cache() { return of(this).cache; }
    get redirect() { return of(this).redirect; }
    get integrity() { return of(this).integrity; }
    get keepalive() { return of(this).keepalive; }
    get isReloadNavigation() {
      of(this);
      return false;
    }
    get isHistoryNavigation() {
      of(this);
      return false;
    }
    get signal() { return of(this).signal; }
    get duplex() {
      of(this);
      return 'half';
    }
    clone() {
      const s = of(this);
      if (internal.bodyUnusable(s.body)) throw new p.TypeError('Request.clone: the body was already read or is locked');
      const copy = { __proto__: null };
      for (const name in s) copy[name] = s[name];
      copy.headers = internal.headers(p.arraySlice(internal.headerList(s.headers)), internal.headerGuardOf(s.headers));
      copy.signal = internal.abort.any([s.signal]);
      copy.body = internal.cloneBody(s.body);
      return new Request(internal.key, copy);
    }
  }
  internal.mixBody(Request, (o) => of(o));
  internal.expose(Request);
  // requestOf returns the state of a request for fetch: {method, url, headers, redirect, signal, body, …}.
  internal.requestOf = (o) => of(o);
  return internal;
}
