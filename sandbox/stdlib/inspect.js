// inspect formats values as Node's util.inspect does. This file holds the entry point, options, names and primitives;
// inspect_kinds.js formats each kind of object, inspect_layout.js breaks the output into lines.
(host, internal) => {
  'use strict';
  const { p, op } = internal;
  const inspecting = internal.inspecting = { __proto__: null };

  const { kinds } = internal;
  // These return a guest's values, so they cannot use internal.sync.
  inspecting.iteratorPart = (v, part) => host(op.sync, 'value.iterator', v, part);
  inspecting.promiseState = (v) => host(op.sync, 'value.promise', v, 0);
  inspecting.promiseResult = (v) => host(op.sync, 'value.promise', v, 1);
  inspecting.proxyTarget = (v) => host(op.sync, 'value.proxy', v, 0);
  inspecting.proxyHandler = (v) => host(op.sync, 'value.proxy', v, 1);

  const custom = Symbol.for('nodejs.util.inspect.custom');
  const defaults = inspecting.defaults = {
    __proto__: null, showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false, maxArrayLength: 100, maxStringLength: 10000,
    breakLength: 80, compact: 3, sorted: false, getters: false, numericSeparator: false,
  };

  // colors maps a colour to its escape codes (on, off); styles maps a kind of value to a colour.
  inspecting.colors = {
    __proto__: null, bold: [1, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], white: [37, 39], grey: [90, 39], black: [30, 39], blue: [34, 39],
    cyan: [36, 39], green: [32, 39], magenta: [35, 39], red: [31, 39], yellow: [33, 39],
  };
  inspecting.styles = { __proto__: null, special: 'cyan', number: 'yellow', bigint: 'yellow', boolean: 'yellow', undefined: 'grey', null: 'bold', string: 'green', symbol: 'green', date: 'magenta', regexp: 'red', module: 'underline' };
  const plain = (s) => s;
  const coloured = (s, style) => {
    const name = inspecting.styles[style];
    if (name === undefined) return s;
    const c = inspecting.colors[name];
    return `\x1b[${c[0]}m${s}\x1b[${c[1]}m`;
  };

  const contextOf = (options) => {
    const ctx = { __proto__: null, budget: { __proto__: null }, indent: 0, seen: [], currentDepth: 0, circular: undefined, stylize: plain, user: options };
    for (const name in defaults) ctx[name] = defaults[name];
    if (internal.isObject(options)) {
      for (const name in defaults) {
        const v = options[name];
        if (v !== undefined) ctx[name] = v;
      }
    }
    if (ctx.colors) ctx.stylize = coloured;
    if (ctx.maxArrayLength === null) ctx.maxArrayLength = Infinity;
    if (ctx.maxStringLength === null) ctx.maxStringLength = Infinity;
    return ctx;
  };

  // Strings are quoted with the quote that needs the least escaping.
  const short = { __proto__: null, 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 92: '\\\\' };
  const hex = (n, width) => p.padStart(p.numberToString(n, 16), width, '0');
  const escape = (s, quote) => {
    let out = '', from = 0;
    for (let i = 0; i < s.length; i++) {
      const c = p.charCodeAt(s, i);
      let with_;
      if (c < 0x20 || c === 92) with_ = short[c] ?? '\\x' + p.toUpperCase(hex(c, 2));
      else if (c === quote) with_ = '\\' + s[i];
      else if (c >= 0x7f && c < 0xa0) with_ = '\\x' + p.toUpperCase(hex(c, 2));
      else if (c >= 0xd800 && c <= 0xdfff) {
        const next = c < 0xdc00 && i + 1 < s.length ? p.charCodeAt(s, i + 1) : 0;
        if (next >= 0xdc00 && next <= 0xdfff) i++;
        else with_ = '\\u' + hex(c, 4);
      }
      if (with_ === undefined) continue;
      out += p.slice(s, from, i) + with_;
      from = i + 1;
    }
    return out + p.slice(s, from);
  };
  const quote = inspecting.quote = (s) => {
    if (p.indexOf(s, "'") < 0) return `'${escape(s, 39)}'`;
    if (p.indexOf(s, '"') < 0) return `"${escape(s, 34)}"`;
    if (p.indexOf(s, '`') < 0 && p.indexOf(s, '${') < 0) return `\`${escape(s, 96)}\``;
    return `'${escape(s, 39)}'`;
  };

  const separate = (digits) => {
    let out = '', n = 0;
    for (let i = digits.length - 1; i >= 0; i--, n++) out = digits[i] + (n > 0 && n % 3 === 0 ? '_' : '') + out;
    return out;
  };
  const number = inspecting.number = (n, separated) => {
    if (p.is(n, -0)) return separated ? '0' : '-0'; // as in Node
    const text = p.numberToString(n);
    if (!separated || n !== n || p.indexOf(text, 'e') >= 0 || p.indexOf(text, 'I') >= 0) return text;
    const sign = text[0] === '-' ? '-' : '', digits = p.slice(text, sign.length), dot = p.indexOf(digits, '.');
    if (dot < 0) return sign + separate(digits);
    let fraction = '';
    for (let i = dot + 1; i < digits.length; i++) fraction += (i > dot + 1 && (i - dot - 1) % 3 === 0 ? '_' : '') + digits[i];
    return `${sign}${separate(p.slice(digits, 0, dot))}.${fraction}`;
  };
  const bigint = inspecting.bigint = (n, separated) => {
    const text = p.bigintToString(n);
    if (!separated) return text + 'n';
    return text[0] === '-' ? `-${separate(p.slice(text, 1))}n` : separate(text) + 'n';
  };
  const escapeSymbol = inspecting.symbol = (s) => escape(p.symbolToString(s), -1);

  const string = (ctx, s) => {
    let trailer = '';
    if (s.length > ctx.maxStringLength) {
      const more = s.length - ctx.maxStringLength;
      s = p.slice(s, 0, ctx.maxStringLength);
      trailer = `... ${more} more character${more > 1 ? 's' : ''}`;
    }
    // Long strings are split at line breaks.
    if (ctx.compact === true || s.length <= 16 || s.length <= ctx.breakLength - ctx.indent - 4 || p.indexOf(s, '\n') < 0) return ctx.stylize(quote(s), 'string') + trailer;
    let out = '';
    for (let from = 0; from < s.length;) {
      let to = p.indexOf(s, '\n', from) + 1;
      if (to === 0) to = s.length;
      if (from > 0) out += ` +\n${p.repeat(' ', ctx.indent + 2)}`;
      out += ctx.stylize(quote(p.slice(s, from, to)), 'string');
      from = to;
    }
    return out + trailer;
  };
  const primitive = inspecting.primitive = (ctx, v) => {
    switch (typeof v) {
      case 'string': return string(ctx, v);
      case 'number': return ctx.stylize(number(v, ctx.numericSeparator), 'number');
      case 'bigint': return ctx.stylize(bigint(v, ctx.numericSeparator), 'bigint');
      case 'boolean': return ctx.stylize(v ? 'true' : 'false', 'boolean');
      case 'symbol': return ctx.stylize(escapeSymbol(v), 'symbol');
      default: return ctx.stylize('undefined', 'undefined');
    }
  };

  const indented = inspecting.indented = (s, n) => {
    let out = '', from = 0;
    for (let i = p.indexOf(s, '\n'); i >= 0; i = p.indexOf(s, '\n', from)) {
      out += p.slice(s, from, i + 1) + p.repeat(' ', n);
      from = i + 1;
    }
    return out + p.slice(s, from);
  };

  // beyond reports whether an object nests too deep to print. The hard limit of 100 keeps the native stack from overflowing.
  inspecting.beyond = (ctx, depth) => (depth > ctx.depth && ctx.depth !== null) || depth > 100;

  // value formats any value. depth is the number of enclosing objects.
  const value = inspecting.value = (ctx, v, depth, typed) => {
    if (v === null) return ctx.stylize('null', 'null');
    if (typeof v !== 'object' && typeof v !== 'function') return primitive(ctx, v);
    const context = v;
    let proxied = false;
    for (let n = 0; internal.kind(v) === kinds.proxy; n++) {
      const target = inspecting.proxyTarget(v);
      if (target === null || n > 1000) return ctx.stylize('<Revoked Proxy>', 'special');
      if (ctx.showProxy) return inspecting.proxy(ctx, target, inspecting.proxyHandler(v), depth);
      v = target;
      proxied = true;
    }
    if (ctx.customInspect) {
      const f = v[custom];
      if (typeof f === 'function' && f !== internal.utilInspect && !(v.constructor && v.constructor.prototype === v)) {
        const user = userOptions(ctx, proxied);
        const shown = p.apply(f, context, [ctx.depth === null ? null : ctx.depth - depth, user, internal.utilInspect]);
        if (shown !== context) {
          return indented(typeof shown === 'object' ? value(ctx, shown, depth) : `${shown}`, ctx.indent);
        }
      }
    }
    const temporal = internal.temporalText?.(v);
    if (temporal !== undefined) return ctx.stylize(temporal, 'date');
    if (p.arrayIndexOf(ctx.seen, v) >= 0) {
      ctx.circular ??= new p.Map();
      let index = p.mapGet(ctx.circular, v);
      if (index === undefined) {
        index = p.mapSize(ctx.circular) + 1;
        p.mapSet(ctx.circular, v, index);
      }
      return ctx.stylize(`[Circular *${index}]`, 'special');
    }
    return inspecting.raw(ctx, v, depth, typed);
  };
  const userOptions = (ctx) => {
    const user = {};
    for (const name in defaults) internal.put(user, name, ctx[name]);
    internal.put(user, 'stylize', (s, style) => ctx.stylize(internal.text(s), style));
    return user;
  };
  internal.put = (o, name, v) => { p.defineProperty(o, name, { __proto__: null, value: v, writable: true, enumerable: true, configurable: true }); };

  // utilInspect is the guest's util.inspect. inspect is for internal use: without options it never throws.
  internal.utilInspect = function inspect(v, options, ...legacy) {
    if (typeof options === 'boolean') options = { __proto__: null, showHidden: options, depth: legacy[0], colors: legacy[1] };
    return value(contextOf(options), v, 0);
  };
  internal.inspectsCustom = true;
  internal.inspect = (v, options) => {
    if (options !== undefined) return internal.utilInspect(v, options);
    try {
      return value(contextOf(undefined), v, 0);
    } catch {
      return '[object that cannot be shown]'; // a Proxy, a custom inspect function or an accessor that throws
    }
  };
  internal.define(internal.utilInspect, 'custom', custom);
  internal.define(internal.utilInspect, 'defaultOptions', defaults);
  internal.define(internal.utilInspect, 'colors', inspecting.colors);
  internal.define(internal.utilInspect, 'styles', inspecting.styles);
  return internal;
}
