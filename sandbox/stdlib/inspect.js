// inspect prints a value the way a person wants to read it in a log. It never throws and never runs accessors.
(host, internal) => {
  'use strict';
  const { p } = internal;
  const maxDepth = 4, maxItems = 100, maxText = 10000;

  const quote = (s) => {
    const json = p.stringify(s);
    const body = p.slice(json, 1, -1);
    if (p.indexOf(s, "'") < 0) return "'" + unescapeQuotes(body) + "'";
    return json;
  };
  // JSON escapes double quotes, which single-quoted text need not.
  const unescapeQuotes = (s) => {
    let out = '', from = 0;
    for (let i = p.indexOf(s, '\\"'); i >= 0; i = p.indexOf(s, '\\"', from)) {
      let slashes = 0;
      while (i - 1 - slashes >= from && p.charCodeAt(s, i - 1 - slashes) === 92) slashes++;
      out += p.slice(s, from, i) + (slashes % 2 ? '\\"' : '"');
      from = i + 2;
    }
    return out + p.slice(s, from);
  };

  const isIdentifier = /^[A-Za-z_$][\w$]*$/;
  const key = (k) => {
    if (typeof k === 'symbol') return '[' + p.symbolToString(k) + ']';
    return p.regexpExec(isIdentifier, k) !== null ? k : quote(k);
  };

  // brand runs an internal-slot check; it answers undefined for a value of another kind.
  const brand = (check, v) => {
    try { return check(v); } catch { return undefined; }
  };

  const className = (v) => {
    for (let o = v, n = 0; o !== null && n < 16; o = p.getPrototypeOf(o), n++) {
      const d = p.getOwnPropertyDescriptor(o, 'constructor');
      if (d !== undefined && typeof d.value === 'function') {
        const name = p.getOwnPropertyDescriptor(d.value, 'name');
        if (name !== undefined && typeof name.value === 'string' && name.value !== '') return name.value;
      }
    }
    return null;
  };

  const primitive = (v) => {
    switch (typeof v) {
      case 'string': return quote(v);
      case 'bigint': return p.bigintToString(v) + 'n';
      case 'symbol': return p.symbolToString(v);
      case 'number': return p.is(v, -0) ? '-0' : p.numberToString(v);
      default: return `${v}`;
    }
  };

  const errorText = (e) => {
    const own = (name) => {
      for (let o = e, n = 0; o !== null && n < 16; o = p.getPrototypeOf(o), n++) {
        const d = p.getOwnPropertyDescriptor(o, name);
        if (d !== undefined) return typeof d.value === 'string' ? d.value : undefined;
      }
      return undefined;
    };
    const name = own('name') ?? 'Error', message = own('message') ?? '';
    const stack = own('stack');
    const head = message === '' ? name : name + ': ' + message;
    return stack === undefined || stack === '' ? head : head + '\n' + internal.trimStack(stack);
  };

  const members = (v, state, skip) => {
    const parts = [], names = p.ownKeys(v);
    let shown = 0, more = 0;
    for (let i = 0; i < names.length; i++) {
      const k = names[i];
      if (skip(k)) continue;
      const d = p.getOwnPropertyDescriptor(v, k);
      if (d === undefined || !d.enumerable) continue;
      if (shown >= maxItems) { more++; continue; }
      shown++;
      let text;
      if (d.get !== undefined) text = d.set !== undefined ? '[Getter/Setter]' : '[Getter]';
      else if (d.set !== undefined) text = '[Setter]';
      else text = show(d.value, state);
      p.arrayPush(parts, key(k) + ': ' + text);
    }
    if (more > 0) p.arrayPush(parts, `... ${more} more`);
    return parts;
  };

  const wrap = (prefix, open, parts, close, depth) => {
    const head = prefix === '' ? '' : prefix + ' ';
    if (parts.length === 0) return head + open + close;
    let width = 0, multi = false;
    for (let i = 0; i < parts.length; i++) {
      width += parts[i].length + 2;
      if (p.indexOf(parts[i], '\n') >= 0) multi = true;
    }
    if (!multi && width + head.length + 2 * depth <= 76) return head + open + ' ' + p.arrayJoin(parts, ', ') + ' ' + close;
    const pad = p.repeat('  ', depth + 1);
    return head + open + '\n' + pad + p.arrayJoin(parts, ',\n' + pad) + '\n' + p.repeat('  ', depth) + close;
  };

  const isIndex = (k) => typeof k === 'string' && p.regexpExec(/^(0|[1-9]\d*)$/, k) !== null;

  const items = (n, at, state) => {
    const parts = [];
    for (let i = 0; i < n && i < maxItems; i++) p.arrayPush(parts, at(i));
    if (n > maxItems) p.arrayPush(parts, `... ${n - maxItems} more item${n - maxItems > 1 ? 's' : ''}`);
    return parts;
  };

  const append = (a, b) => {
    for (let i = 0; i < b.length; i++) p.arrayPush(a, b[i]);
    return a;
  };

  const body = (v, state) => {
    const name = className(v), depth = state.depth - 1;
    if (p.isArray(v)) {
      const n = v.length;
      const parts = items(n, (i) => {
        const d = p.getOwnPropertyDescriptor(v, i);
        if (d === undefined) return '<empty>';
        return 'value' in d ? show(d.value, state) : '[Getter]';
      }, state);
      const prefix = name === 'Array' ? '' : `${name ?? '[Array: null prototype]'}(${n})`;
      return wrap(prefix, '[', append(parts, members(v, state, isIndex)), ']', depth);
    }
    const tag = brand(p.typedTag, v);
    if (tag !== undefined) {
      const n = p.typedLength(v);
      return wrap(`${tag}(${n})`, '[', items(n, (i) => primitive(v[i]), state), ']', depth);
    }
    const size = brand(p.mapSize, v);
    if (size !== undefined) {
      const parts = [];
      p.mapForEach(v, (value, k) => { if (parts.length < maxItems) p.arrayPush(parts, show(k, state) + ' => ' + show(value, state)); });
      return wrap(`Map(${size})`, '{', append(parts, members(v, state, () => false)), '}', depth);
    }
    const count = brand(p.setSize, v);
    if (count !== undefined) {
      const parts = [];
      p.setForEach(v, (value) => { if (parts.length < maxItems) p.arrayPush(parts, show(value, state)); });
      return wrap(`Set(${count})`, '{', append(parts, members(v, state, () => false)), '}', depth);
    }
    const bytes = brand(p.bufferLength, v);
    if (bytes !== undefined) return `ArrayBuffer { byteLength: ${bytes} }`;
    let prefix = name === 'Object' ? '' : name ?? '[Object: null prototype]';
    return wrap(prefix, '{', members(v, state, () => false), '}', depth);
  };

  const special = (v, state) => {
    if (typeof v === 'function') {
      const d = p.getOwnPropertyDescriptor(v, 'name');
      const name = d !== undefined && typeof d.value === 'string' && d.value !== '' ? ': ' + d.value : ' (anonymous)';
      const kind = p.slice(p.functionToString(v), 0, 5) === 'class' ? 'class' : 'Function';
      return kind === 'class' ? `[class${name === ' (anonymous)' ? name : ' ' + p.slice(name, 2)}]` : `[Function${name}]`;
    }
    if (internal.isError(v)) {
      const parts = members(v, state, (k) => k === 'stack' || k === 'message' || k === 'name');
      const text = state.depth > 1 ? '[' + p.arrayJoin([errorText(v)], '') + ']' : errorText(v);
      return parts.length === 0 ? text : wrap(text, '{', parts, '}', state.depth - 1);
    }
    const time = brand(p.dateGetTime, v);
    if (time !== undefined) return time === time ? p.dateToISO(v) : 'Invalid Date';
    if (internal.isRegExp(v)) return brand(p.regexpToString, v) ?? '[RegExp]';
    if (internal.isPromise(v)) return 'Promise {}';
    const boxed = brand(p.numberValueOf, v) ?? brand(p.stringValueOf, v) ?? brand(p.booleanValueOf, v);
    if (boxed !== undefined) return `[${p.toUpperCase(p.slice(typeof boxed, 0, 1))}${p.slice(typeof boxed, 1)}: ${primitive(boxed)}]`;
    return undefined;
  };

  const show = (v, state) => {
    if (v === null || (typeof v !== 'object' && typeof v !== 'function')) return primitive(v);
    for (let s = state.seen; s !== null; s = s.next) if (s.value === v) return '[Circular]';
    state.seen = { __proto__: null, value: v, next: state.seen };
    state.depth++;
    try {
      const text = special(v, state);
      if (text !== undefined) return text;
      if (state.depth > maxDepth) return p.isArray(v) ? '[Array]' : `[${className(v) ?? 'Object: null prototype'}]`;
      return body(v, state);
    } finally {
      state.seen = state.seen.next;
      state.depth--;
    }
  };

  internal.inspect = (v) => {
    try {
      const text = show(v, { __proto__: null, seen: null, depth: 0 });
      return text.length > maxText ? p.slice(text, 0, maxText) + '...' : text;
    } catch {
      return '[object that cannot be shown]'; // a Proxy or an accessor that throws
    }
  };
  return internal;
}
