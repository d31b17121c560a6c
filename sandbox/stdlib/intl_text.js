// Intl's text services: Collator, PluralRules, ListFormat and RelativeTimeFormat. The host sorts text of any language. All
// words are English.
(host, internal) => {
  'use strict';
  const { p, intl } = internal;

  const any = (tag) => tag; // the host sorts every language
  const NUMERIC = 1, IGNORE_CASE = 2, IGNORE_ACCENTS = 4;
  const compare = (s, a, b) => a === b ? 0 : internal.sync('intl.compare', s.locale, s.flags, a, b);
  const collation = (locales, options) => {
    intl.asking = 'Intl.Collator';
    const { locale, asked } = intl.resolve(locales, any), { kn } = intl.keywords(asked), o = intl.options(options), s = { __proto__: null };
    s.usage = intl.option(o, 'usage', ['sort', 'search'], 'sort');
    intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
    const { numeric } = o, taken = kn === 'true' ? '' : kn === '' || kn === 'false' ? kn : undefined;
    s.numeric = numeric === undefined ? taken === '' : !!numeric;
    s.locale = intl.extended(locale, { __proto__: null, kn: taken !== undefined && s.numeric === (taken === '') ? taken : undefined });
    s.caseFirst = intl.option(o, 'caseFirst', ['upper', 'lower', 'false'], 'false');
    s.sensitivity = intl.option(o, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant');
    s.ignorePunctuation = o.ignorePunctuation === undefined ? false : !!o.ignorePunctuation;
    s.flags = (s.numeric ? NUMERIC : 0) | (s.sensitivity === 'base' || s.sensitivity === 'accent' ? IGNORE_CASE : 0) | (s.sensitivity === 'base' || s.sensitivity === 'case' ? IGNORE_ACCENTS : 0);
    return s;
  };
  class Collator {
    #s; #bound;
    constructor(locales = undefined, options = undefined) { this.#s = collation(locales, options); }
    get compare() {
      const s = this.#s;
      return this.#bound ??= ({ '': (x, y) => compare(s, `${x}`, `${y}`) })[''];
    }
    resolvedOptions() {
      const s = this.#s;
      return { locale: s.locale, usage: s.usage, sensitivity: s.sensitivity, ignorePunctuation: s.ignorePunctuation, collation: 'default', numeric: s.numeric, caseFirst: s.caseFirst };
    }
  }
  intl.service(Collator, true, any);
  const common = collation(undefined, undefined);
  internal.define(String.prototype, 'localeCompare', { localeCompare(that, locales = undefined, options = undefined) {
    if (this === undefined || this === null) throw new p.TypeError('String.prototype.localeCompare called on null or undefined');
    const a = `${this}`, b = `${that}`;
    return compare(locales === undefined && options === undefined ? common : collation(locales, options), a, b);
  } }.localeCompare);

  const ordinal = (n) => {
    const last = n % 10, two = n % 100;
    if (last === 1 && two !== 11) return 'one';
    if (last === 2 && two !== 12) return 'two';
    return last === 3 && two !== 13 ? 'few' : 'other';
  };
  class PluralRules {
    #s;
    constructor(locales = undefined, options = undefined) {
      intl.asking = 'Intl.PluralRules';
      const { locale } = intl.resolve(locales, intl.english), o = intl.options(options), s = { __proto__: null, locale, notation: 'standard' };
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      s.type = intl.option(o, 'type', ['cardinal', 'ordinal'], 'cardinal');
      s.tagged = locales !== undefined && p.slice(locale, 0, 2) === 'en'; // plurals are those of the language, without a region
      intl.digitOptions(s, o, 0, 3);
      this.#s = s;
    }
    select(n) {
      const s = this.#s;
      n = +n;
      if (s.type === 'ordinal') return ordinal(p.abs(n));
      return p.abs(n) === 1 && (s.minimumFractionDigits ?? 0) === 0 ? 'one' : 'other';
    }
    selectRange(start, end) {
      this.#s;
      if (start === undefined || end === undefined) throw new p.TypeError('startRange or endRange is not a number');
      if (+start !== +start || +end !== +end) throw new p.RangeError('Invalid number value');
      return 'other';
    }
    resolvedOptions() {
      const s = this.#s;
      return intl.object({ __proto__: null, locale: s.tagged ? 'en' : s.locale, type: s.type, minimumIntegerDigits: s.minimumIntegerDigits, minimumFractionDigits: s.minimumFractionDigits, maximumFractionDigits: s.maximumFractionDigits,
        minimumSignificantDigits: s.minimumSignificantDigits, maximumSignificantDigits: s.maximumSignificantDigits, pluralCategories: s.type === 'ordinal' ? ['few', 'one', 'two', 'other'] : ['one', 'other'] });
    }
  }
  intl.service(PluralRules, false, intl.english);

  class ListFormat {
    #s;
    constructor(locales = undefined, options = undefined) {
      intl.asking = 'Intl.ListFormat';
      const { locale } = intl.resolve(locales, intl.english), o = options === undefined ? { __proto__: null } : internal.dictionary(options, 'Intl.ListFormat: the options');
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      const type = intl.option(o, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction'), style = intl.option(o, 'style', ['long', 'short', 'narrow'], 'long');
      this.#s = { __proto__: null, locale, type, style };
    }
    formatToParts(list) {
      const s = this.#s;
      const items = list === undefined ? [] : internal.sequence(typeof list === 'string' ? p.Object(list) : list, (v) => {
        if (typeof v !== 'string') throw new p.TypeError(`Iterable yielded ${internal.isObject(v) ? '#<Object>' : p.String(v)} which is not a string`);
        return v;
      }, 'Intl.ListFormat: the list');
      // British English and its relatives have no comma before the last word, and no ampersand.
      const american = s.locale === 'en-US' || s.locale === 'en', indian = s.locale === 'en-IN';
      const word = s.type === 'disjunction' ? 'or' : s.type === 'unit' ? '' : s.style === 'long' || s.style === 'short' && !american || indian && items.length > 2 ? 'and' : s.style === 'short' ? '&' : '';
      const between = s.type === 'unit' && s.style === 'narrow' ? ' ' : ', ';
      const last = word === '' ? between : items.length > 2 && (american || s.type === 'conjunction' && s.style === 'narrow') ? `, ${word} ` : ` ${word} `, out = [];
      for (let i = 0; i < items.length; i++) {
        if (i > 0) p.arrayPush(out, intl.part('literal', i === items.length - 1 ? last : between));
        p.arrayPush(out, intl.part('element', items[i]));
      }
      return out;
    }
    format(list) { return intl.text(this.formatToParts(list)); }
    resolvedOptions() { return { locale: this.#s.locale, type: this.#s.type, style: this.#s.style }; }
  }
  intl.service(ListFormat, false, intl.english);

  const unitNames = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
  const short = { __proto__: null, second: 'sec.', minute: 'min.', hour: 'hr.', day: 'day', week: 'wk.', month: 'mo.', quarter: 'qtr.', year: 'yr.' };
  const narrow = { __proto__: null, second: 's', minute: 'm', hour: 'h', day: 'd', week: 'w', month: 'mo', quarter: 'q', year: 'y' };
  const relative = (s, value, unit) => {
    value = +value;
    unit = `${unit}`;
    if (p.endsWith(unit, 's')) unit = p.slice(unit, 0, -1);
    if (p.arrayIndexOf(unitNames, unit) < 0) throw new p.RangeError(`Invalid unit argument for Intl.RelativeTimeFormat.prototype.format() '${unit}'`);
    if (value !== value || value === Infinity || value === -Infinity) throw new p.RangeError('Value need to be finite number for Intl.RelativeTimeFormat.prototype.format()');
    if (s.numeric === 'auto') {
      if (unit === 'day' && value === -1) return ['yesterday'];
      if (unit === 'day' && value === 1) return ['tomorrow'];
      if (unit === 'day' && value === 0) return ['today'];
      if (unit === 'second' && value === 0) return ['now'];
      if (value === 0 && (unit === 'minute' || unit === 'hour')) return [`this ${unit}`];
      if (unit !== 'second' && unit !== 'minute' && unit !== 'hour' && unit !== 'day') {
        const name = s.style === 'long' ? unit : short[unit];
        if (value === 0) return [`this ${name}`];
        if (value === -1) return [`last ${name}`];
        if (value === 1) return [`next ${name}`];
        if (value === 0) return [`this ${name}`];
      }
    }
    const past = value < 0 || p.is(value, -0), n = p.abs(value), number = intl.numberParts(intl.numberSettings(s.locale, undefined), n);
    let name = s.style === 'long' ? unit : s.style === 'short' ? short[unit] : narrow[unit];
    if (n !== 1 && (s.style === 'long' || (s.style === 'short' && (unit === 'day' || unit === 'quarter')))) name = unit === 'quarter' && s.style === 'short' ? 'qtrs.' : `${name}s`;
    const gap = s.style === 'narrow' ? '' : ' ';
    return past ? ['', number, `${gap}${name} ago`] : ['in ', number, `${gap}${name}`];
  };
  class RelativeTimeFormat {
    #s;
    constructor(locales = undefined, options = undefined) {
      intl.asking = 'Intl.RelativeTimeFormat';
      const { locale } = intl.resolve(locales, intl.english), o = intl.options(options);
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      const style = intl.option(o, 'style', ['long', 'short', 'narrow'], 'long'), numeric = intl.option(o, 'numeric', ['always', 'auto'], 'always');
      this.#s = { __proto__: null, locale, style, numeric };
    }
    format(value, unit) {
      const pieces = relative(this.#s, value, unit);
      return pieces.length === 1 ? pieces[0] : pieces[0] + intl.text(pieces[1]) + pieces[2];
    }
    formatToParts(value, unit) {
      const pieces = relative(this.#s, value, unit), out = [];
      if (pieces.length === 1) return [intl.part('literal', pieces[0])];
      if (pieces[0] !== '') p.arrayPush(out, intl.part('literal', pieces[0]));
      const of = `${unit}`, singular = p.endsWith(of, 's') ? p.slice(of, 0, -1) : of;
      for (let i = 0; i < pieces[1].length; i++) p.arrayPush(out, { type: pieces[1][i].type, value: pieces[1][i].value, unit: singular });
      p.arrayPush(out, intl.part('literal', pieces[2]));
      return out;
    }
    resolvedOptions() { return { locale: this.#s.locale, style: this.#s.style, numeric: this.#s.numeric, numberingSystem: 'latn' }; }
  }
  intl.service(RelativeTimeFormat, false, intl.english);
  return internal;
}
