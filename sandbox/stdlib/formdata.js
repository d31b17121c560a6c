// FormData and multipart/form-data. The host parses; it returns the offsets of the parts.
(host, internal) => {
  'use strict';
  const { p } = internal;
  let of, entry;

  class FormData {
    #list = []; // alternating names and values
    constructor(form = undefined, submitter = undefined) {
      if (form !== undefined) throw new p.TypeError('FormData: the argument must be undefined, because there is no document');
      if (submitter !== undefined && submitter !== null) throw new p.TypeError('FormData: the argument must be undefined, because there is no document');
    }
    static {
      of = (o) => {
        if (!internal.isObject(o) || !(#list in o)) throw new p.TypeError('not a FormData');
        return o.#list;
      };
      entry = (o, list) => { o.#list = list; };
    }
    append(name, value, filename = undefined) {
      of(this);
      internal.need(arguments.length, 2, 'FormData.append');
      name = internal.usv(name);
      value = make(value, filename, arguments.length > 2);
      p.arrayPush(this.#list, name);
      p.arrayPush(this.#list, value);
    }
    delete(name) {
      of(this);
      internal.need(arguments.length, 1, 'FormData.delete');
      name = internal.usv(name);
      const kept = [];
      for (let i = 0; i < this.#list.length; i += 2) {
        if (this.#list[i] === name) continue;
        p.arrayPush(kept, this.#list[i]);
        p.arrayPush(kept, this.#list[i + 1]);
      }
      this.#list = kept;
    }
    get(name) {
      of(this);
      internal.need(arguments.length, 1, 'FormData.get');
      name = internal.usv(name);
      for (let i = 0; i < this.#list.length; i += 2) if (this.#list[i] === name) return this.#list[i + 1];
      return null;
    }
    getAll(name) {
      of(this);
      internal.need(arguments.length, 1, 'FormData.getAll');
      name = internal.usv(name);
      const all = [];
      for (let i = 0; i < this.#list.length; i += 2) if (this.#list[i] === name) p.arrayPush(all, this.#list[i + 1]);
      return all;
    }
    has(name) {
      of(this);
      internal.need(arguments.length, 1, 'FormData.has');
      name = internal.usv(name);
      for (let i = 0; i < this.#list.length; i += 2) if (this.#list[i] === name) return true;
      return false;
    }
    set(name, value, filename = undefined) {
      of(this);
      internal.need(arguments.length, 2, 'FormData.set');
      name = internal.usv(name);
      value = make(value, filename, arguments.length > 2);
      this.#list = internal.setPair(this.#list, name, value, (x) => x === name);
    }
  }
  // make converts an entry's value: a blob becomes a file.
  const make = (value, filename, named) => {
    if (!internal.isBlob(value)) {
      if (named) throw new p.TypeError('FormData: a value with a file name must be a Blob');
      return internal.usv(value);
    }
    if (filename !== undefined) filename = internal.usv(filename);
    if (internal.isFile(value) && filename === undefined) return value;
    return internal.file(internal.blobBytes(value), filename ?? 'blob', value.type, internal.isFile(value) ? value.lastModified : undefined);
  };
  internal.iterable(FormData, (o) => of(o));
  internal.expose(FormData);
  internal.isFormData = (v) => {
    try { return of(v) !== undefined; } catch { return false; }
  };
  internal.formList = (o) => of(o);
  internal.formData = (list) => {
    const f = new FormData();
    entry(f, list);
    return f;
  };

  const replaceAll = (s, from, to) => {
    let out = '', at = 0;
    for (let i = p.indexOf(s, from); i >= 0; i = p.indexOf(s, from, at)) {
      out += p.slice(s, at, i) + to;
      at = i + from.length;
    }
    return out + p.slice(s, at);
  };
  const crlf = (s) => replaceAll(replaceAll(replaceAll(s, '\r\n', '\n'), '\r', '\n'), '\n', '\r\n');
  const escape = (s) => replaceAll(replaceAll(replaceAll(s, '\n', '%0A'), '\r', '%0D'), '"', '%22');

  // multipart returns {bytes, type} of a form. The boundary is random, so no content can contain it.
  internal.multipart = (form) => {
    const random = new p.Uint8Array(internal.sync('random', 16));
    let boundary = '----AirlockFormBoundary';
    for (let i = 0; i < 16; i++) boundary += p.padStart(p.numberToString(random[i], 16), 2, '0');
    const parts = [], list = of(form);
    let text = []; // joined once: repeated += would copy the text each time
    const end = () => { p.arrayPush(parts, internal.encodeText(p.arrayJoin(text, ''))); };
    for (let i = 0; i < list.length; i += 2) {
      const value = list[i + 1];
      p.arrayPush(text, `--${boundary}\r\nContent-Disposition: form-data; name="${escape(crlf(list[i]))}"`);
      if (typeof value === 'string') {
        p.arrayPush(text, `\r\n\r\n${crlf(value)}\r\n`);
        continue;
      }
      p.arrayPush(text, `; filename="${escape(value.name)}"\r\nContent-Type: ${value.type === '' ? 'application/octet-stream' : value.type}\r\n\r\n`);
      end();
      p.arrayPush(parts, internal.blobBytes(value));
      text = ['\r\n'];
    }
    p.arrayPush(text, `--${boundary}--\r\n`);
    end();
    return { __proto__: null, bytes: internal.join(parts), type: `multipart/form-data; boundary=${boundary}` };
  };
  // parseMultipart returns the FormData encoded in bytes.
  internal.parseMultipart = (bytes, boundary) => {
    const parts = internal.sync('multipart.parse', boundary, internal.bufferOf(bytes));
    const list = [], buffer = p.typedBuffer(bytes), offset = p.typedOffset(bytes);
    for (let i = 0; i < parts.length; i++) {
      const { name, filename, type, start, end } = parts[i];
      const body = new p.Uint8Array(buffer, offset + start, end - start);
      p.arrayPush(list, name);
      p.arrayPush(list, filename === null ? internal.decodeText(body) : internal.file(body, filename, type, undefined));
    }
    return internal.formData(list);
  };
  return internal;
}
