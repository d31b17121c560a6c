// Intl's text services: Collator, PluralRules, ListFormat and RelativeTimeFormat. The host sorts text of any language.
(host, internal) => {
  'use strict';
  const { p, op, intl } = internal;

  // Casing of the languages that have rules of their own. replaced returns text with some characters replaced by what rule
  // makes of their position, or left as they are if it returns undefined; rest maps what is between them.
  const replaced = (text, rule, rest) => {
    let out = '', from = 0;
    for (let i = 0; i < text.length; i++) {
      const found = rule(text, i);
      if (found === undefined) continue;
      out += rest(p.slice(text, from, i)) + found[0];
      i += found[1] - 1;
      from = i + 1;
    }
    return out + rest(p.slice(text, from));
  };
  const same = (text) => text;
  const isAbove = (ch) => ch === '\u0300' || ch === '\u0301' || ch === '\u0303' || ch === '\u0302' || ch === '\u0304' || ch === '\u0306' || ch === '\u0307' || ch === '\u0308' || ch === '\u030c';
  const dotted = { __proto__: null, I: 'i\u0307', J: 'j\u0307', Į: 'į\u0307' }, accented = { __proto__: null, Ì: 'i\u0307\u0300', Í: 'i\u0307\u0301', Ĩ: 'i\u0307\u0303' };
  const turkic = {
    __proto__: null,
    lower: (s) => replaced(s, (text, i) => text[i] === 'I' ? (text[i + 1] === '\u0307' ? ['i', 2] : ['ı', 1]) : text[i] === 'İ' ? ['i', 1] : undefined, p.toLowerCase),
    upper: (s) => replaced(s, (text, i) => text[i] === 'i' ? ['İ', 1] : undefined, p.toUpperCase),
  };
  const lithuanian = {
    __proto__: null,
    lower: (s) => replaced(s, (text, i) => accented[text[i]] !== undefined ? [accented[text[i]], 1] : dotted[text[i]] !== undefined && isAbove(text[i + 1]) ? [dotted[text[i]], 1] : undefined, p.toLowerCase),
    upper: (s) => p.toUpperCase(replaced(s, (text, i) => text[i] === '\u0307' && (text[i - 1] === 'i' || text[i - 1] === 'j' || text[i - 1] === 'į') ? ['', 1] : undefined, same)),
  };
  // Greek capitals have no accents. A dialytika remains, and shows where an accent kept two vowels apart.
  const { normalize } = p.String.prototype, isLetter = /^\p{L}$/u;
  const isAccent = (ch) => ch === '\u0300' || ch === '\u0301' || ch === '\u0304' || ch === '\u0306' || ch === '\u0313' || ch === '\u0314' || ch === '\u0342' || ch === '\u0343';
  const greek = {
    __proto__: null,
    lower: p.toLowerCase,
    upper: (s) => {
      const text = p.apply(normalize, s, ['NFD']);
      let out = '', parted = false;
      for (let i = 0; i < text.length;) {
        const letter = text[i];
        let accent = false, dialytika = false, iota = false, other = '', end = i + 1;
        for (; end < text.length; end++) {
          const ch = text[end];
          if (isAccent(ch)) accent = true;
          else if (ch === '\u0308') dialytika = true;
          else if (ch === '\u0345') iota = true;
          else break;
        }
        const small = p.toLowerCase(letter), vowel = p.indexOf('αειουηω', small) >= 0, joins = small === 'ι' || small === 'υ';
        if (!vowel) other = p.slice(text, i + 1, end); // an accent of another script
        else if (small === 'η' && accent && !dialytika && !iota && p.regexpExec(isLetter, text[i - 1] ?? ' ') === null && p.regexpExec(isLetter, text[end] ?? ' ') === null) other = '\u0301'; // the word for or
        else if (joins && (dialytika || parted && !accent)) other = '\u0308';
        out += p.toUpperCase(letter) + other + (iota && vowel ? 'Ι' : '');
        parted = vowel && accent && !dialytika;
        i = end;
      }
      return p.apply(normalize, out, ['NFC']);
    },
  };
  const casings = { __proto__: null, tr: turkic, az: turkic, lt: lithuanian, el: greek };
  const casing = (name, how, plain) => {
    internal.define(String.prototype, name, { [name](locales = undefined) {
      if (this === undefined || this === null) throw new p.TypeError(`String.prototype.${name} called on null or undefined`);
      const text = `${this}`;
      if (locales === undefined) return plain(text);
      const asked = intl.list(locales);
      return (casings[asked.length === 0 ? '' : p.regexpExec(/^[a-z]*/, asked[0])[0]]?.[how] ?? plain)(text);
    } }[name]);
  };
  casing('toLocaleUpperCase', 'upper', p.toUpperCase);
  casing('toLocaleLowerCase', 'lower', p.toLowerCase);

  const any = (tag) => tag; // the host sorts every language
  const NUMERIC = 1, IGNORE_CASE = 2, IGNORE_ACCENTS = 4;
  // A sort calls compare often, so it calls the host itself; a refusal is not a number.
  const compare = (s, a, b) => {
    if (a === b) return 0;
    const order = host(op.sync, 'intl.compare', s.locale, s.flags, a, b);
    return typeof order === 'number' ? order : internal.sync('intl.compare', s.locale, s.flags, a, b);
  };
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
      return this.#bound ??= ({ '': (x, y) => compare(s, typeof x === 'string' ? x : `${x}`, typeof y === 'string' ? y : `${y}`) })[''];
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
    const a = typeof this === 'string' ? this : `${this}`, b = typeof that === 'string' ? that : `${that}`;
    return compare(locales === undefined && options === undefined ? common : collation(locales, options), a, b);
  } }.localeCompare);

  class PluralRules {
    #s;
    constructor(locales = undefined, options = undefined) {
      intl.asking = 'Intl.PluralRules';
      const { locale } = intl.resolve(locales, intl.known('plural')), o = intl.options(options), s = { __proto__: null, locale, notation: 'standard' };
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      s.type = intl.option(o, 'type', ['cardinal', 'ordinal'], 'cardinal');
      s.tagged = locales !== undefined; // plurals are those of the language, without a region
      intl.digitOptions(s, o, 0, 3);
      this.#s = s;
    }
    static category(s, n) {
      n = +n;
      return n !== n || n === Infinity || n === -Infinity ? 'other' : intl.pluralOf(s.locale, s.type === 'ordinal' ? 1 : 0, intl.applyDigits(s, intl.digitsOf(n)));
    }
    select(n) { return category(this.#s, n); }
    selectRange(start, end) {
      const s = this.#s;
      if (start === undefined || end === undefined) throw new p.TypeError('startRange or endRange is not a number');
      if (+start !== +start || +end !== +end) throw new p.RangeError('Invalid number value');
      return intl.language(s.locale) === 'en' ? 'other' : category(s, end);
    }
    resolvedOptions() {
      const s = this.#s, data = intl.dataOf('plural', s.locale), ordinal = s.type === 'ordinal';
      return intl.object({ __proto__: null, locale: s.tagged && s.locale !== 'pt-PT' ? intl.language(s.locale) : s.locale, type: s.type, minimumIntegerDigits: s.minimumIntegerDigits, minimumFractionDigits: s.minimumFractionDigits, maximumFractionDigits: s.maximumFractionDigits,
        minimumSignificantDigits: s.minimumSignificantDigits, maximumSignificantDigits: s.maximumSignificantDigits, pluralCategories: p.arraySlice(data[ordinal ? 3 : 2]) });
    }
  }
  const { category } = PluralRules;
  delete PluralRules.category;
  intl.service(PluralRules, false, intl.known('plural'));

  const types = ['conjunction', 'disjunction', 'unit'], styles = ['long', 'short', 'narrow'];
  // spanish returns the word that stands for y or o before a text that begins with the same sound.
  const spanish = (text, next) => p.regexpExec(/^(i|hi(?![ae]))/i, next) !== null && text === ' y ' ? ' e ' : p.regexpExec(/^(ho|o|8|11(?!\d))/i, next) !== null && text === ' o ' ? ' u ' : text;
  const hebrew = (text, next) => p.endsWith(text, 'ו') && p.regexpExec(/^[\u0590-\u05ff]/, next) === null ? `${text}-` : text;
  class ListFormat {
    #s;
    constructor(locales = undefined, options = undefined) {
      intl.asking = 'Intl.ListFormat';
      const { locale, entry } = intl.resolve(locales, intl.known('list')), o = options === undefined ? { __proto__: null } : internal.dictionary(options, 'Intl.ListFormat: the options');
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      const type = intl.option(o, 'type', types, 'conjunction'), style = intl.option(o, 'style', styles, 'long');
      const data = typeof entry === 'string' ? intl.dataOf('list', entry) : entry;
      this.#s = { __proto__: null, locale, type, style, between: data[p.arrayIndexOf(types, type) * 3 + p.arrayIndexOf(styles, style)] };
    }
    formatToParts(list) {
      const s = this.#s;
      const items = list === undefined ? [] : internal.sequence(typeof list === 'string' ? p.Object(list) : list, (v) => {
        if (typeof v !== 'string') throw new p.TypeError(`Iterable yielded ${internal.isObject(v) ? '#<Object>' : p.String(v)} which is not a string`);
        return v;
      }, 'Intl.ListFormat: the list');
      // What stands between two items, and at the start, in the middle and at the end of more.
      const b = s.between, n = items.length, language = intl.language(s.locale), out = [];
      const two = b[0], start = b[1], middle = b.length === 4 ? b[2] : start, end = b.length === 4 ? b[3] : b.length === 3 ? b[2] : two;
      for (let i = 0; i < n; i++) {
        if (i > 0) {
          const text = n === 2 ? two : i === n - 1 ? end : i === 1 ? start : middle;
          p.arrayPush(out, intl.part('literal', language === 'es' ? spanish(text, items[i]) : language === 'he' ? hebrew(text, items[i]) : text));
        }
        p.arrayPush(out, intl.part('element', items[i]));
      }
      return out;
    }
    format(list) { return intl.text(this.formatToParts(list)); }
    resolvedOptions() { return { locale: this.#s.locale, type: this.#s.type, style: this.#s.style }; }
  }
  intl.service(ListFormat, false, intl.known('list'));

  const unitNames = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
  // relative returns the parts of a time. Those of the number have the unit.
  const relative = (s, value, unit) => {
    value = +value;
    unit = `${unit}`;
    if (p.endsWith(unit, 's')) unit = p.slice(unit, 0, -1);
    if (p.arrayIndexOf(unitNames, unit) < 0) throw new p.RangeError(`Invalid unit argument for Intl.RelativeTimeFormat.prototype.format() '${unit}'`);
    if (value !== value || value === Infinity || value === -Infinity) throw new p.RangeError('Value need to be finite number for Intl.RelativeTimeFormat.prototype.format()');
    // Past, future and names of a style. A style that has none has those of the one before.
    const byStyle = s.data[unit], styled = byStyle[p.min(p.arrayIndexOf(styles, s.style), byStyle.length - 1)], name = styled[2][value];
    if (s.numeric === 'auto' && name !== undefined) return [intl.part('literal', name)];
    const patterns = styled[value < 0 || p.is(value, -0) ? 0 : 1], n = p.abs(value), digits = intl.applyDigits(s.number, intl.digitsOf(n)), number = intl.numberParts(s.number, n);
    for (let i = 0; i < number.length; i++) number[i] = { type: number[i].type, value: number[i].value, unit };
    return intl.fill(patterns[intl.pluralOf(s.locale, 0, digits)] ?? patterns.other, { __proto__: null, '\u0001': number });
  };
  class RelativeTimeFormat {
    #s;
    constructor(locales = undefined, options = undefined) {
      intl.asking = 'Intl.RelativeTimeFormat';
      const { locale, entry } = intl.resolve(locales, intl.known('relative')), o = intl.options(options);
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      const style = intl.option(o, 'style', styles, 'long'), numeric = intl.option(o, 'numeric', ['always', 'auto'], 'always');
      const data = typeof entry === 'string' ? intl.dataOf('relative', entry) : entry;
      this.#s = { __proto__: null, locale, style, numeric, data, number: intl.numberSettings(locale, undefined) };
    }
    format(value, unit) { return intl.text(relative(this.#s, value, unit)); }
    formatToParts(value, unit) { return relative(this.#s, value, unit); }
    resolvedOptions() { return { locale: this.#s.locale, style: this.#s.style, numeric: this.#s.numeric, numberingSystem: intl.numbering(this.#s.number) }; }
  }
  intl.service(RelativeTimeFormat, false, intl.known('relative'));
  return internal;
}
