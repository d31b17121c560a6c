// Intl: locales. There is no ICU. The locales listed below format numbers and dates without the host's patterns; the rest
// is in intl_locales.js. An unsupported locale falls back to en-US, as the standard prescribes, and resolvedOptions and
// supportedLocalesOf report that.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const intl = internal.intl = { __proto__: null };

  // Each locale has: decimal separator, group separator, minimum digits before the first group, percent sign, currency
  // position (0 before, 1 after with a space, 2 before with a space), minus sign, numeric date pattern (y, M, d; 0 means two
  // digits), separator of date and time, hours (12 or 24).
  const n = '\u00a0', u = '\u202f', m = '\u2212';
  const data = intl.data = {
    __proto__: null,
    'en-US': ['.', ',', 1, '%', 0, '-', 'M/d/y', ', ', 12], 'en-GB': ['.', ',', 1, '%', 0, '-', '0d/0M/y', ', ', 24], 'en-AU': ['.', ',', 1, '%', 0, '-', '0d/0M/y', ', ', 12],
    'en-CA': ['.', ',', 1, '%', 0, '-', 'y-0M-0d', ', ', 12], 'en-IN': ['.', ',', 1, '%', 0, '-', 'd/M/y', ', ', 12], 'en-NZ': ['.', ',', 1, '%', 0, '-', '0d/0M/y', ', ', 12],
    'en-IE': ['.', ',', 1, '%', 0, '-', 'd/M/y', ', ', 24], de: [',', '.', 1, `${n}%`, 1, '-', 'd.M.y', ', ', 24], 'de-CH': ['.', '\u2019', 1, '%', 2, '-', 'd.M.y', ', ', 24],
    'de-AT': [',', n, 1, `${n}%`, 2, '-', 'd.M.y', ', ', 24], fr: [',', u, 1, `${n}%`, 1, '-', '0d/0M/y', ' ', 24], es: [',', '.', 2, `${n}%`, 1, '-', 'd/M/y', ', ', 24],
    it: [',', '.', 2, '%', 1, '-', '0d/0M/y', ', ', 24], pt: [',', '.', 1, '%', 2, '-', '0d/0M/y', ', ', 24], 'pt-PT': [',', n, 2, '%', 1, '-', '0d/0M/y', ', ', 24],
    nl: [',', '.', 1, '%', 2, '-', 'd-M-y', ', ', 24], sv: [',', n, 1, `${n}%`, 1, m, 'y-0M-0d', ' ', 24], nb: [',', n, 1, `${n}%`, 1, m, 'd.M.y', ', ', 24],
    pl: [',', n, 2, '%', 1, '-', 'd.0M.y', ', ', 24], cs: [',', n, 1, `${n}%`, 1, '-', 'd. M. y', ' ', 24], ru: [',', n, 1, `${n}%`, 1, '-', '0d.0M.y', ', ', 24],
    tr: [',', '.', 1, '%', 0, '-', '0d.0M.y', ' ', 24], ja: ['.', ',', 1, '%', 0, '-', 'y/M/d', ' ', 24], zh: ['.', ',', 1, '%', 0, '-', 'y/M/d', ' ', 24],
  };
  intl.fallback = 'en-US';

  const canonical = (tag) => {
    const found = internal.sync('intl.locale', tag);
    if (found === null) throw new p.RangeError('Incorrect locale information provided');
    return found;
  };
  // list canonicalizes the locales that a guest requests.
  const list = intl.list = (locales) => {
    if (locales === undefined) return [];
    const one = (v) => {
      if (typeof v !== 'string' && !internal.isObject(v)) throw new p.TypeError('Incorrect locale information provided');
      return canonical(internal.text(v));
    };
    if (typeof locales === 'string' || intl.isLocale?.(locales)) return [one(locales)];
    if (locales === null) throw new p.TypeError('Cannot convert undefined or null to object');
    const o = p.Object(locales), out = [], size = p.min(p.max(p.trunc(+o.length) || 0, 0), 10000);
    for (let i = 0; i < size; i++) {
      if (!(i in o)) continue;
      const tag = one(o[i]);
      if (p.arrayIndexOf(out, tag) < 0) p.arrayPush(out, tag);
    }
    return out;
  };
  const base = intl.base = (tag) => {
    const i = p.indexOf(tag, '-u-');
    return i < 0 ? tag : p.slice(tag, 0, i);
  };
  const language = intl.language = (tag) => {
    const i = p.indexOf(tag, '-');
    return i < 0 ? tag : p.slice(tag, 0, i);
  };
  // find returns the key in data for a tag, or undefined. It accepts a region only if the language's data is for that region.
  const homes = { __proto__: null, en: 'US', de: 'DE', fr: 'FR', es: 'ES', it: 'IT', pt: 'BR', nl: 'NL', sv: 'SE', nb: 'NO', pl: 'PL', cs: 'CZ', ru: 'RU', tr: 'TR', ja: 'JP', zh: 'CN' };
  const find = intl.find = (tag) => {
    tag = base(tag);
    if (data[tag] !== undefined) return tag;
    const l = language(tag), region = homes[l];
    if (region === undefined || tag !== l && tag !== `${l}-${region}` && tag !== `${l}-Hans` && tag !== `${l}-Hans-${region}`) return undefined;
    return l === 'en' ? intl.fallback : l;
  };
  // resolve returns {locale, entry} for the requested locales. known is a lookup like find.
  // remembered returns make, a function of locales and options, such that it keeps its last result for a locale without
  // options.
  intl.remembered = (make) => {
    let tag, kept;
    return (locales, options) => {
      if (options !== undefined || (locales !== undefined && typeof locales !== 'string')) return make(locales, options);
      if (kept === undefined || tag !== locales) {
        kept = make(locales, undefined);
        tag = locales;
      }
      return kept;
    };
  };
  intl.resolve = (locales, known = find) => choose(list(locales), known);
  const choose = intl.choose = (asked, known) => {
    for (let i = 0; i < asked.length; i++) {
      const entry = known(asked[i]);
      if (entry !== undefined) return { __proto__: null, locale: base(asked[i]), entry, asked: asked[i] };
    }
    return { __proto__: null, locale: intl.fallback, entry: intl.fallback, asked: intl.fallback };
  };
  intl.split = (s, by) => {
    const out = [];
    for (let from = 0; ;) {
      const to = p.indexOf(s, by, from);
      p.arrayPush(out, p.slice(s, from, to < 0 ? s.length : to));
      if (to < 0) return out;
      from = to + by.length;
    }
  };
  // keywords returns the keys of the Unicode extension (-u-) of a canonical tag and their values; '' means true.
  intl.keywords = (tag) => {
    const found = { __proto__: null }, at = p.indexOf(tag, '-u-'), parts = at < 0 ? [] : intl.split(p.slice(tag, at + 3), '-');
    for (let i = 0, key = ''; i < parts.length && parts[i].length > 1; i++) {
      if (parts[i].length === 2) found[key = parts[i]] ??= '';
      else if (key !== '') found[key] += (found[key] === '' ? '' : '-') + parts[i];
    }
    return found;
  };
  // extended returns a locale with the keywords that a service took from the tag.
  intl.extended = (locale, taken) => {
    let extension = '';
    for (const key in taken) if (taken[key] !== undefined) extension += `-${key}${taken[key] === '' ? '' : `-${taken[key]}`}`;
    return extension === '' ? locale : `${locale}-u${extension}`;
  };
  // claims returns a lookup for a service that supports only some locales: those whose entry in table contains word.
  intl.claims = (table, word) => (tag) => {
    const entry = find(tag);
    return entry === undefined || entry !== intl.fallback && p.indexOf(table[entry] ?? '', ` ${word} `) < 0 ? undefined : entry;
  };

  // option reads a string option, intOption an integer within a range. asking names the service whose options they are.
  intl.asking = 'Intl';
  intl.option = (o, name, values, otherwise) => {
    const v = o[name];
    if (v === undefined) return otherwise;
    const s = internal.text(v);
    if (values !== undefined && p.arrayIndexOf(values, s) < 0) throw new p.RangeError(`Value ${s} out of range for ${intl.asking} options property ${name}`);
    return s;
  };
  intl.intOption = (o, name, least, most, otherwise) => {
    let v = o[name];
    if (v === undefined) return otherwise;
    v = +v;
    if (!(v >= least && v <= most)) throw new p.RangeError(`${name} value is out of range.`);
    return p.floor(v);
  };
  intl.options = (v) => {
    if (v === undefined) return { __proto__: null };
    if (v === null) throw new p.TypeError('Cannot convert undefined or null to object');
    return p.Object(v);
  };
  intl.object = (fields) => {
    const o = {};
    for (const name in fields) if (fields[name] !== undefined) internal.put(o, name, fields[name]);
    return o;
  };
  intl.part = (type, value) => ({ type, value });
  intl.text = (parts) => {
    let s = '';
    for (let i = 0; i < parts.length; i++) s += parts[i].value;
    return s;
  };

  const Intl = {};
  p.defineProperty(Intl, Symbol.toStringTag, { __proto__: null, value: 'Intl', configurable: true });
  define(globalThis, 'Intl', Intl);
  define(Intl, 'getCanonicalLocales', { getCanonicalLocales(locales) { return list(locales); } }.getCanonicalLocales);
  // rangeParts returns the parts of a range. If both ends are the same text, that text is shared; so are the types of parts
  // in shared, with the literals between them, at the beginning and at the end.
  intl.rangeParts = (a, b, between, about, shared) => {
    const out = [], same = intl.text(a) === intl.text(b);
    const add = (list, source, from = 0, to = list.length) => {
      for (let i = from; i < to; i++) p.arrayPush(out, intl.object({ __proto__: null, type: list[i].type, value: list[i].value, source }));
    };
    if (same) {
      if (about !== undefined) add([about], 'shared');
      add(a, 'shared');
      return out;
    }
    const alike = (x, y) => shared !== undefined && shared[x.type] === true && x.type === y.type && x.value === y.value;
    let head = 0, tail = 0;
    while (head < a.length && head < b.length && alike(a[head], b[head])) head++;
    while (tail < a.length - head && tail < b.length - head && alike(a[a.length - 1 - tail], b[b.length - 1 - tail])) tail++;
    add(a, 'shared', 0, head);
    add(a, 'startRange', head, a.length - tail);
    add([{ __proto__: null, type: 'literal', value: between }], 'shared');
    add(b, 'endRange', head, b.length - tail);
    add(b, 'shared', b.length - tail);
    return out;
  };
  // service defines a constructor of Intl. callable constructors also work without new.
  intl.service = (C, callable, known = find) => {
    const names = p.ownKeys(C.prototype);
    for (let i = 0; i < names.length; i++) if (names[i] === 'format' || names[i] === 'compare') p.defineProperty(C.prototype, names[i], { __proto__: null, enumerable: false });
    p.defineProperty(C.prototype, Symbol.toStringTag, { __proto__: null, value: `Intl.${C.name}`, configurable: true });
    define(C, 'supportedLocalesOf', { supportedLocalesOf(locales, options = undefined) {
      const asked = list(locales), out = [];
      if (options !== undefined) intl.option(intl.options(options), 'localeMatcher', ['lookup', 'best fit'], 'best fit');
      for (let i = 0; i < asked.length; i++) if (known(asked[i]) !== undefined) p.arrayPush(out, asked[i]);
      return out;
    } }.supportedLocalesOf);
    if (!callable) {
      define(Intl, C.name, C);
      return;
    }
    const F = { [C.name]: function (locales = undefined, options = undefined) { return p.construct(C, [locales, options], new.target === undefined ? C : new.target); } }[C.name];
    p.defineProperty(F, 'prototype', { __proto__: null, value: C.prototype, writable: false });
    define(C.prototype, 'constructor', F);
    define(F, 'supportedLocalesOf', C.supportedLocalesOf);
    define(Intl, C.name, F);
  };
  return internal;
}
