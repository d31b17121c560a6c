// Headers, as specified by the Fetch standard. A header list alternates names and values; names keep their given case.
(host, internal) => {
  'use strict';
  const { p } = internal;
  let of;

  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, bad = /[\0\r\n]/;
  const matches = (re, s) => p.regexpExec(re, s) !== null;
  const nameOf = (v, method) => {
    const name = internal.byteString(v);
    if (!matches(token, name)) throw new p.TypeError(`Headers.${method}: "${name}" is an invalid header name.`);
    return name;
  };
  const normal = (s) => {
    let from = 0, to = s.length;
    const space = (i) => {
      const c = p.charCodeAt(s, i);
      return c === 9 || c === 10 || c === 13 || c === 32;
    };
    while (from < to && space(from)) from++;
    while (to > from && space(to - 1)) to--;
    return p.slice(s, from, to);
  };
  const valueOf = (v, method) => {
    const value = normal(internal.byteString(v));
    if (matches(bad, value)) throw new p.TypeError(`Headers.${method}: "${value}" is an invalid header value.`);
    return value;
  };

  // simple reports whether a header is CORS-safelisted: a no-cors request may have only such headers.
  const unsafe = /[\0-\x08\x0a-\x1f"():<>?@[\\\]{}\x7f]/, language = /^[0-9A-Za-z *,\-.;=]*$/;
  const simple = (name, value) => {
    if (value.length > 128) return false;
    if (name === 'accept') return !matches(unsafe, value);
    if (name === 'accept-language' || name === 'content-language') return matches(language, value);
    if (name !== 'content-type' || matches(unsafe, value)) return false;
    const type = internal.mime(value)?.essence;
    return type === 'application/x-www-form-urlencoded' || type === 'multipart/form-data' || type === 'text/plain';
  };
  const allowed = (h, name, value) => {
    if (h.guard === 'immutable') throw new p.TypeError('Headers: the headers are immutable');
    if (h.guard !== 'request-no-cors') return true;
    return value === undefined ? name === 'content-type' || simple(name, '') : simple(name, value);
  };
  const fits = (name, lower) => name === lower || name.length === lower.length && p.toLowerCase(name) === lower;
  const equal = (list, i, name) => fits(list[i], name);

  class Headers {
    #h = { __proto__: null, list: [], guard: 'none', sorted: null };
    constructor(init = undefined) {
      if (init !== undefined) internal.fillHeaders(this, init);
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#h in o)) throw new p.TypeError('not a Headers');
        return o.#h;
      };
    }
    append(name, value) {
      const h = of(this);
      internal.need(arguments.length, 2, 'Headers.append');
      append(h, nameOf(name, 'append'), valueOf(value, 'append'));
    }
    delete(name) {
      const h = of(this);
      internal.need(arguments.length, 1, 'Headers.delete');
      name = p.toLowerCase(nameOf(name, 'delete'));
      if (!allowed(h, name) && name !== 'range') return;
      if (has(h, name)) change(h, without(h.list, name));
    }
    get(name) {
      const h = of(this);
      internal.need(arguments.length, 1, 'Headers.get');
      return internal.getHeader(h.list, p.toLowerCase(nameOf(name, 'get')));
    }
    getSetCookie() {
      const { list } = of(this), all = [];
      for (let i = 0; i < list.length; i += 2) if (equal(list, i, 'set-cookie')) p.arrayPush(all, list[i + 1]);
      return all;
    }
    has(name) {
      const h = of(this);
      internal.need(arguments.length, 1, 'Headers.has');
      return has(h, p.toLowerCase(nameOf(name, 'has')));
    }
    set(name, value) {
      const h = of(this);
      internal.need(arguments.length, 2, 'Headers.set');
      name = nameOf(name, 'set');
      value = valueOf(value, 'set');
      const lower = p.toLowerCase(name);
      if (!allowed(h, lower, value)) return;
      change(h, internal.setPair(h.list, name, value, (x) => fits(x, lower)));
    }
  }
  const has = (h, lower) => {
    for (let i = 0; i < h.list.length; i += 2) if (equal(h.list, i, lower)) return true;
    return false;
  };
  const without = (list, lower) => {
    const kept = [];
    for (let i = 0; i < list.length; i += 2) {
      if (equal(list, i, lower)) continue;
      p.arrayPush(kept, list[i]);
      p.arrayPush(kept, list[i + 1]);
    }
    return kept;
  };
  const change = (h, list) => {
    h.list = list;
    h.sorted = null;
  };
  const append = (h, name, value) => {
    const lower = p.toLowerCase(name);
    if (h.guard === 'request-no-cors') {
      const before = internal.getHeader(h.list, lower);
      if (!allowed(h, lower, before === null ? value : `${before}, ${value}`)) return;
    } else allowed(h, lower, value);
    p.arrayPush(h.list, name);
    p.arrayPush(h.list, value);
    h.sorted = null;
  };

  // sorted is the standard's "sort and combine": lower-case names in order, one entry each, except for set-cookie.
  const sorted = (h) => {
    if (h.sorted !== null) return h.sorted;
    const places = new p.Map(), entries = [];
    for (let i = 0; i < h.list.length; i += 2) {
      const name = p.toLowerCase(h.list[i]), value = h.list[i + 1];
      const entry = name === 'set-cookie' ? undefined : p.mapGet(places, name);
      if (entry !== undefined) {
        entry.value += `, ${value}`;
        continue;
      }
      const e = { __proto__: null, name, value, at: i };
      p.mapSet(places, name, e);
      p.arrayPush(entries, e);
    }
    p.arraySort(entries, (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : a.at - b.at);
    h.sorted = [];
    for (let i = 0; i < entries.length; i++) {
      p.arrayPush(h.sorted, entries[i].name);
      p.arrayPush(h.sorted, entries[i].value);
    }
    return h.sorted;
  };
  internal.iterable(Headers, (o) => sorted(of(o)));
  internal.expose(Headers);

  // getHeader returns the combined value of a lower-case name, or null.
  internal.getHeader = (list, lower) => {
    let value = null;
    for (let i = 0; i < list.length; i += 2) if (equal(list, i, lower)) value = value === null ? list[i + 1] : `${value}, ${list[i + 1]}`;
    return value;
  };
  internal.isHeaders = (v) => {
    try { return of(v) !== undefined; } catch { return false; }
  };
  internal.fillHeaders = (headers, init) => {
    if (!internal.isObject(init)) throw new p.TypeError('Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.');
    const pairs = internal.pairs(init, internal.byteString, internal.byteString, 'Headers');
    for (let i = 0; i < pairs.length; i += 2) append(of(headers), nameOf(pairs[i], 'append'), valueOf(pairs[i + 1], 'append'));
  };
  // headers wraps a list that the library made in a Headers object. headerList returns the list of a Headers object.
  internal.headers = (list, guard) => {
    const headers = new Headers(), h = of(headers);
    h.list = list;
    h.guard = guard;
    return headers;
  };
  internal.headerList = (headers) => of(headers).list;
  internal.headerGuardOf = (headers) => of(headers).guard;
  return internal;
}
