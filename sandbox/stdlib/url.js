// URL and URLSearchParams. The host parses URLs; the state of a URL is the list of its parts.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const HREF = 0, ORIGIN = 1, PROTOCOL = 2, USERNAME = 3, PASSWORD = 4, HOST = 5, HOSTNAME = 6, PORT = 7, PATHNAME = 8, SEARCH = 9, HASH = 10;
  let paramsOf, attach, refresh, queryOf;

  const parse = (url, base) => internal.sync('url.parse', internal.usv(url), base === undefined ? null : internal.usv(base));
  const invalid = (url, base) => {
    const e = new p.TypeError('Invalid URL');
    const shown = (name, value) => p.defineProperty(e, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    shown('code', 'ERR_INVALID_URL');
    shown('input', internal.usv(url));
    if (base !== undefined) shown('base', internal.usv(base));
    return e;
  };

  class URL {
    #kept;
    #params = null;
    #stale = false; // the parameters have changed since
    get #parts() {
      if (this.#stale) {
        this.#stale = false;
        this.#set('search', queryOf(this.#params));
      }
      return this.#kept;
    }
    set #parts(parts) { this.#kept = parts; }
    constructor(url, base = undefined) {
      internal.need(arguments.length, 1, 'URL', ['url']);
      this.#parts = url === internal.key ? base : parse(url, base);
      if (this.#parts === null) throw invalid(url, base);
    }
    static parse(url, base = undefined) {
      internal.need(arguments.length, 1, 'URL.parse');
      const parts = parse(url, base);
      return parts === null ? null : new URL(internal.key, parts);
    }
    static canParse(url, base = undefined) {
      internal.need(arguments.length, 1, 'URL.canParse', ['url']);
      return parse(url, base) !== null;
    }
    #set(part, value) {
      const parts = internal.sync('url.set', this.#parts[HREF], part, internal.usv(value));
      if (parts !== null) this.#parts = parts;
    }
    #reread() {
      this.#stale = false;
      if (this.#params !== null) refresh(this.#params, p.slice(this.#parts[SEARCH], 1));
    }
    get href() { return this.#parts[HREF]; }
    set href(v) {
      this.#parts;
      const parts = parse(v, undefined);
      if (parts === null) throw invalid(v);
      this.#parts = parts;
      this.#reread();
    }
    get origin() { return this.#parts[ORIGIN]; }
    get protocol() { return this.#parts[PROTOCOL]; }
    set protocol(v) { this.#set('protocol', v); }
    get username() { return this.#parts[USERNAME]; }
    set username(v) { this.#set('username', v); }
    get password() { return this.#parts[PASSWORD]; }
    set password(v) { this.#set('password', v); }
    get host() { return this.#parts[HOST]; }
    set host(v) { this.#set('host', v); }
    get hostname() { return this.#parts[HOSTNAME]; }
    set hostname(v) { this.#set('hostname', v); }
    get port() { return this.#parts[PORT]; }
    set port(v) { this.#set('port', v); }
    get pathname() { return this.#parts[PATHNAME]; }
    set pathname(v) { this.#set('pathname', v); }
    get search() { return this.#parts[SEARCH]; }
    set search(v) {
      this.#set('search', v);
      this.#reread();
    }
    get searchParams() {
      if (this.#params === null) this.#params = attach(() => { this.#stale = true; }, p.slice(this.#parts[SEARCH], 1));
      return this.#params;
    }
    get hash() { return this.#parts[HASH]; }
    set hash(v) { this.#set('hash', v); }
    toString() { return this.#parts[HREF]; }
    toJSON() { return this.#parts[HREF]; }
  }
  internal.expose(URL);
  // baseURL is the base of relative request URLs: there is no page, but a script may define a global location.
  internal.baseURL = () => {
    const { location } = globalThis;
    return internal.isObject(location) && typeof location.href === 'string' ? location.href : undefined;
  };
  internal.parseURL = parse;
  internal.invalidURL = invalid;

  class URLSearchParams {
    #list = []; // alternating names and values
    #update = null;
    constructor(init = '') {
      if (init === internal.key) return;
      if (internal.isObject(init)) this.#list = internal.pairs(init, internal.usv, internal.usv, 'URLSearchParams');
      else this.#parse(internal.usv(init));
    }
    static {
      paramsOf = (o) => {
        if (!internal.isObject(o) || !(#list in o)) throw internal.nodeError(p.TypeError, 'ERR_INVALID_THIS', 'Value of "this" must be of type URLSearchParams');
        return o.#list;
      };
      refresh = (o, query) => { o.#list = internal.sync('form.parse', query); };
      queryOf = (params) => text(params.#list);
      attach = (update, query) => {
        const params = new URLSearchParams(internal.key);
        refresh(params, query);
        params.#update = update;
        return params;
      };
    }
    #parse(text) { this.#list = internal.sync('form.parse', p.startsWith(text, '?') ? p.slice(text, 1) : text); }
    #changed() { if (this.#update !== null) this.#update(); }
    get size() { return paramsOf(this).length / 2; }
    append(name, value) {
      paramsOf(this);
      internal.need(arguments.length, 2, 'URLSearchParams.append', ['name', 'value']);
      name = internal.usv(name);
      value = internal.usv(value);
      p.arrayPush(this.#list, name);
      p.arrayPush(this.#list, value);
      this.#changed();
    }
    delete(name, value = undefined) {
      paramsOf(this);
      internal.need(arguments.length, 1, 'URLSearchParams.delete', ['name']);
      name = internal.usv(name);
      if (value !== undefined) value = internal.usv(value);
      const list = this.#list, kept = [];
      for (let i = 0; i < list.length; i += 2) {
        if (list[i] === name && (value === undefined || list[i + 1] === value)) continue;
        p.arrayPush(kept, list[i]);
        p.arrayPush(kept, list[i + 1]);
      }
      this.#list = kept;
      this.#changed();
    }
    get(name) {
      paramsOf(this);
      internal.need(arguments.length, 1, 'URLSearchParams.get', ['name']);
      const i = find(this.#list, internal.usv(name), 0);
      return i < 0 ? null : this.#list[i + 1];
    }
    getAll(name) {
      paramsOf(this);
      internal.need(arguments.length, 1, 'URLSearchParams.getAll', ['name']);
      name = internal.usv(name);
      const all = [];
      for (let i = find(this.#list, name, 0); i >= 0; i = find(this.#list, name, i + 2)) p.arrayPush(all, this.#list[i + 1]);
      return all;
    }
    has(name, value = undefined) {
      paramsOf(this);
      internal.need(arguments.length, 1, 'URLSearchParams.has', ['name']);
      name = internal.usv(name);
      if (value !== undefined) value = internal.usv(value);
      for (let i = find(this.#list, name, 0); i >= 0; i = find(this.#list, name, i + 2)) {
        if (value === undefined || this.#list[i + 1] === value) return true;
      }
      return false;
    }
    set(name, value) {
      paramsOf(this);
      internal.need(arguments.length, 2, 'URLSearchParams.set', ['name', 'value']);
      name = internal.usv(name);
      value = internal.usv(value);
      this.#list = internal.setPair(this.#list, name, value, (x) => x === name);
      this.#changed();
    }
    sort() {
      const list = paramsOf(this), order = [];
      for (let i = 0; i < list.length; i += 2) p.arrayPush(order, { __proto__: null, at: i, name: list[i] });
      p.arraySort(order, (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : a.at - b.at);
      const sorted = [];
      for (let i = 0; i < order.length; i++) {
        p.arrayPush(sorted, list[order[i].at]);
        p.arrayPush(sorted, list[order[i].at + 1]);
      }
      this.#list = sorted;
      this.#changed();
    }
    toString() { return text(paramsOf(this)); }
  }
  const find = (list, name, from) => {
    for (let i = from; i < list.length; i += 2) if (list[i] === name) return i;
    return -1;
  };
  const text = (list) => internal.sync('form.format', internal.json(p.arraySlice(list)));
  internal.iterable(URLSearchParams, paramsOf, true);
  internal.expose(URLSearchParams);
  internal.paramsOf = (o) => paramsOf(o);
  internal.paramsText = (o) => text(paramsOf(o));
  internal.isParams = (o) => {
    try { return paramsOf(o) !== undefined; } catch { return false; }
  };
  return internal;
}
