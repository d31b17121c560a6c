// Node's util.MIMEType and util.MIMEParams, according to the MIME Sniffing standard.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const noToken = /[^!#$%&'*+\-.^_`|~A-Za-z0-9]/, noValue = /[^\t\u0020-~\u0080-\u00FF]/;
  const invalid = (what, text, at) => nodeError(TypeError, 'ERR_INVALID_MIME_SYNTAX', `The MIME syntax for a ${what} in ${JSON.stringify(text)} is invalid${at < 0 ? '' : ` at ${at}`}`);
  const blank = /[\r\n\t ]*$/, start = /^[\r\n\t ]*/;
  const quoted = (value) => value === '' || noToken.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;

  class MIMEParams {
    #values = new Map();
    get(name) { return this.#values.get(`${name}`) ?? null; }
    has(name) { return this.#values.has(`${name}`); }
    delete(name) { this.#values.delete(`${name}`); }
    set(name, value) {
      name = `${name}`;
      value = `${value}`;
      const badName = name.search(noToken), badValue = value.search(noValue);
      if (name === '' || badName >= 0) throw invalid('parameter name', name, badName);
      if (badValue >= 0) throw invalid('parameter value', value, badValue);
      this.#values.set(name, value);
    }
    * entries() { yield* this.#values.entries(); }
    * keys() { yield* this.#values.keys(); }
    * values() { yield* this.#values.values(); }
    toString() { return [...this.#values].map(([name, value]) => `${name}=${quoted(value)}`).join(';'); }
    toJSON() { return this.toString(); }
  }
  Object.defineProperty(MIMEParams.prototype, Symbol.iterator, { value: MIMEParams.prototype.entries, writable: true, configurable: true });

  // fill adds the parameters of text, which starts behind the subtype. The first of a name counts.
  const fill = (params, text) => {
    let at = 0;
    while (at < text.length) {
      at += start.exec(text.slice(at))[0].length;
      let end = at;
      while (end < text.length && text[end] !== ';' && text[end] !== '=') end++;
      const name = text.slice(at, end).toLowerCase();
      at = end;
      if (text[at] !== '=') { at++; continue; }
      at++;
      let value = '';
      if (text[at] === '"') {
        for (at++; at < text.length && text[at] !== '"'; at++) {
          if (text[at] === '\\' && at + 1 < text.length) at++;
          value += text[at];
        }
        while (at < text.length && text[at] !== ';') at++;
        at++;
      } else {
        end = text.indexOf(';', at);
        if (end < 0) end = text.length;
        value = text.slice(at, end).replace(blank, '');
        at = end + 1;
        if (value === '') continue;
      }
      if (name !== '' && !noToken.test(name) && !noValue.test(value) && !params.has(name)) params.set(name, value);
    }
  };

  class MIMEType {
    #type; #subtype; #params = new MIMEParams();
    constructor(text) {
      text = `${text}`;
      const body = text.replace(start, ''), slash = body.indexOf('/'), type = slash < 0 ? body : body.slice(0, slash), offset = text.length - body.length;
      const bad = type.search(noToken);
      if (type === '' || slash < 0 || bad >= 0) throw invalid('type', text, bad >= 0 ? offset + bad : -1);
      const semicolon = body.indexOf(';', slash), end = semicolon < 0 ? body.length : semicolon;
      const subtype = body.slice(slash + 1, end).replace(blank, ''), badSub = subtype.search(noToken);
      if (subtype === '' || badSub >= 0) throw invalid('subtype', text, badSub >= 0 ? offset + slash + 1 + badSub : -1);
      this.#type = type.toLowerCase();
      this.#subtype = subtype.toLowerCase();
      fill(this.#params, body.slice(end + 1));
    }
    get type() { return this.#type; }
    set type(v) {
      v = `${v}`;
      const bad = v.search(noToken);
      if (v === '' || bad >= 0) throw invalid('type', v, bad);
      this.#type = v.toLowerCase();
    }
    get subtype() { return this.#subtype; }
    set subtype(v) {
      v = `${v}`;
      const bad = v.search(noToken);
      if (v === '' || bad >= 0) throw invalid('subtype', v, bad);
      this.#subtype = v.toLowerCase();
    }
    get essence() { return `${this.#type}/${this.#subtype}`; }
    get params() { return this.#params; }
    toString() {
      const params = this.#params.toString();
      return params === '' ? this.essence : `${this.essence};${params}`;
    }
    toJSON() { return this.toString(); }
  }
  Object.assign(modules.util, { MIMEType, MIMEParams });
  return internal;
}
