// internal.format is util.format: printf-style formatting of the first argument, followed by the remaining arguments.
(host, internal) => {
  'use strict';
  const { p, inspecting } = internal;
  const { toPrimitive } = Symbol;
  const { parseInt, parseFloat } = globalThis;
  const builtIns = new p.Set();
  for (const name of Object.getOwnPropertyNames(globalThis)) if (/^[A-Z][a-zA-Z0-9]+$/.test(name)) p.setAdd(builtIns, name);

  // printsItself reports whether a guest defined v's conversion to a string.
  const printsItself = (v) => {
    if (internal.kind(v) === internal.kinds.proxy) {
      v = inspecting.proxyTarget(v);
      if (v === null) return false;
    }
    const text = typeof v.toString === 'function', primitive = typeof v[toPrimitive] === 'function';
    if (!text && !primitive) return false;
    if ((text && p.hasOwn(v, 'toString')) || (primitive && p.hasOwn(v, toPrimitive))) return true;
    let o = v;
    do o = p.getPrototypeOf(o); while (!(text && p.hasOwn(o, 'toString')) && !(primitive && p.hasOwn(o, toPrimitive)));
    const d = p.getOwnPropertyDescriptor(o, 'constructor');
    return d === undefined || typeof d.value !== 'function' || !p.setHas(builtIns, d.value.name);
  };
  const with_ = (options, more) => {
    const o = { __proto__: null };
    if (internal.isObject(options)) for (const name in inspecting.defaults) if (options[name] !== undefined) o[name] = options[name];
    for (const name in more) o[name] = more[name];
    return o;
  };
  const json = (v) => {
    let deep = false;
    try {
      return internal.writeJSON(v, '', () => {
        deep = true;
        throw new p.RangeError('too deep');
      });
    } catch (e) {
      if (deep) return internal.utilInspect(v);
      if (internal.isError(e) && p.indexOf(`${e.message}`, 'circular') >= 0) return '[Circular]';
      throw e;
    }
  };
  const number = (v, parse) => {
    if (typeof v === 'bigint') return inspecting.bigint(v, false);
    return inspecting.number(typeof v === 'symbol' ? NaN : parse(v), false);
  };
  const integer = (v) => parseInt(v);
  const convert = (c, v, options) => {
    switch (c) {
      case 115: // s
        if (typeof v === 'number') return inspecting.number(v, false);
        if (typeof v === 'bigint') return inspecting.bigint(v, false);
        if (typeof v === 'symbol') return p.symbolToString(v);
        if (typeof v !== 'object' || v === null || printsItself(v)) return `${v}`;
        return internal.utilInspect(v, with_(options, { __proto__: null, depth: 0, colors: false, compact: 3 }));
      case 106: return json(v); // j
      case 100: return number(v, p.Number); // d
      case 105: return number(v, integer); // i
      case 102: return typeof v === 'symbol' ? 'NaN' : inspecting.number(parseFloat(v), false); // f
      case 79: return internal.utilInspect(v, options); // O
      case 111: return internal.utilInspect(v, with_(options, { __proto__: null, showHidden: true, showProxy: true, depth: 4 })); // o
      default: return ''; // c
    }
  };
  const known = 'sjdifOoc';

  // shown returns the text that console.log prints for a value. Texts and numbers, which most programs print, need no
  // options.
  const shown = (v, options) => {
    const type = typeof v;
    if (type === 'string') return v;
    if (options === undefined) {
      if (type === 'number') return inspecting.number(v, false);
      if (type === 'boolean' || v === undefined || v === null) return `${v}`;
    }
    return internal.utilInspect(v, options);
  };

  internal.format = (args, options) => {
    const first = args[0];
    let text = '', separator = '', used = 0;
    if (typeof first === 'string') {
      if (args.length === 1) return first;
      let last = 0;
      for (let i = 0; i < first.length - 1; i++) {
        if (p.charCodeAt(first, i) !== 37) continue;
        const c = p.charCodeAt(first, ++i);
        if (c === 37) {
          text += p.slice(first, last, i);
          last = i + 1;
          continue;
        }
        if (used + 1 === args.length || p.indexOf(known, first[i]) < 0) continue;
        if (last !== i - 1) text += p.slice(first, last, i - 1);
        text += convert(c, args[++used], options);
        last = i + 1;
      }
      if (last !== 0) {
        used++;
        separator = ' ';
        if (last < first.length) text += p.slice(first, last);
      }
    }
    for (; used < args.length; used++) {
      text += separator + shown(args[used], options);
      separator = ' ';
    }
    return text;
  };
  return internal;
}
