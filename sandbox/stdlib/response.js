// Response, as specified by the Fetch standard.
(host, internal) => {
  'use strict';
  const { p } = internal;
  let of;
  const nullBody = (status) => status === 101 || status === 103 || status === 204 || status === 205 || status === 304;
  const reason = /^[\t\x20-\x7e\x80-\xff]*$/;

  const initialize = (s, init, extracted) => {
    const o = internal.dictionary(init, 'Response: the options');
    const { headers, status, statusText } = o;
    const code = status === undefined ? 200 : p.trunc(+status) & 0xffff;
    const words = statusText === undefined ? '' : internal.byteString(statusText);
    if (code < 200 || code > 599) throw new p.RangeError(`init["status"] must be in the range of 200 to 599, inclusive.`);
    if (p.regexpExec(reason, words) === null) throw new p.TypeError('Invalid statusText');
    s.status = code;
    s.statusText = words;
    if (headers !== undefined) internal.fillHeaders(s.headers, headers);
    if (extracted === null) return;
    if (nullBody(code)) throw new p.TypeError(`Response constructor: Invalid response status code ${code}`);
    s.body = extracted.body;
    if (extracted.type !== null && internal.getHeader(internal.headerList(s.headers), 'content-type') === null) {
      const list = internal.headerList(s.headers);
      p.arrayPush(list, 'content-type');
      p.arrayPush(list, extracted.type);
    }
  };
  const fresh = (guard) => ({ __proto__: null, type: 'default', url: '', redirected: false, status: 200, statusText: '', headers: internal.headers([], guard), body: null });

  class Response {
    #r;
    constructor(body = null, init = undefined) {
      if (body === internal.key) {
        this.#r = init;
        return;
      }
      this.#r = fresh('response');
      initialize(this.#r, init, body === null || body === undefined ? null : internal.extract(body));
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#r in o)) throw new p.TypeError('not a Response');
        return o.#r;
      };
    }
    static error() {
      const s = fresh('immutable');
      s.type = 'error';
      s.status = 0;
      return new Response(internal.key, s);
    }
    static redirect(url, status = 302) {
      internal.need(arguments.length, 1, 'Response.redirect');
      const parts = internal.parseURL(url, internal.baseURL());
      status = p.trunc(+status) & 0xffff;
      if (parts === null) throw new p.TypeError(`Failed to parse URL from ${internal.text(url)}`, { cause: internal.invalidURL(url) });
      if (status !== 301 && status !== 302 && status !== 303 && status !== 307 && status !== 308) throw new p.RangeError(`Invalid status code ${status}`);
      const s = fresh('immutable');
      s.status = status;
      s.headers = internal.headers(['Location', parts[0]], 'immutable');
      return new Response(internal.key, s);
    }
    static json(data, init = undefined) {
      internal.need(arguments.length, 1, 'Response.json');
      const text = p.stringify(data);
      if (text === undefined) throw new p.TypeError('Value is not JSON serializable');
      const s = fresh('response');
      initialize(s, init, { __proto__: null, body: internal.bodyOf(internal.encodeText(text), null), type: 'application/json' });
      return new Response(internal.key, s);
    }
    get type() { return of(this).type; }
    get url() { return of(this).url; }
    get redirected() { return of(this).redirected; }
    get status() { return of(this).status; }
    get ok() {
      const { status } = of(this);
      return status >= 200 && status <= 299;
    }
    get statusText() { return of(this).statusText; }
    get headers() { return of(this).headers; }
    clone() {
      const s = of(this);
      if (internal.bodyUnusable(s.body)) throw new p.TypeError('Response.clone: Body has already been consumed.');
      const guard = internal.headerGuardOf(s.headers);
      return new Response(internal.key, { __proto__: null, type: s.type, url: s.url, redirected: s.redirected, status: s.status, statusText: s.statusText,
        headers: internal.headers(p.arraySlice(internal.headerList(s.headers)), guard), body: internal.cloneBody(s.body) });
    }
  }
  internal.mixBody(Response, (o) => of(o));
  internal.expose(Response);
  // response returns the Response of a fetch. body is a body (see body.js) or null, list a header list, url has no fragment.
  internal.response = (status, statusText, list, url, redirected, body) => new Response(internal.key, {
    __proto__: null, type: 'basic', url, redirected, status, statusText, headers: internal.headers(list, 'immutable'), body,
  });
  internal.isNullBodyStatus = nullBody;
  return internal;
}
