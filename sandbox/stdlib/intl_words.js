// Intl's Segmenter, Locale and DisplayNames. Segments follow UAX #29 without dictionaries.
(host, internal) => {
  'use strict';
  const { p, intl } = internal;
  const any = (tag) => tag;

  // Segments asks the host once for all segments of a text. It keeps their end offsets; the end of a segment that is not
  // word-like is negative.
  const Ends = Int32Array;
  class Segments {
    #text; #words; #ends;
    constructor(granularity, text) {
      this.#text = text;
      this.#words = granularity === 'word';
      this.#ends = new Ends(internal.sync('intl.segment', granularity, text));
    }
    static segment(s, i) {
      const ends = s.#ends, index = i === 0 ? 0 : p.abs(ends[i - 1]), o = { segment: p.slice(s.#text, index, p.abs(ends[i])), index, input: s.#text };
      if (s.#words) o.isWordLike = ends[i] > 0;
      return o;
    }
    static count(s) { return p.typedLength(s.#ends); }
    containing(index) {
      const n = p.trunc(+index) || 0, ends = this.#ends;
      if (n < 0 || n >= this.#text.length) return undefined;
      let low = 0, high = p.typedLength(ends) - 1;
      while (low < high) {
        const middle = p.floor((low + high) / 2);
        if (p.abs(ends[middle]) > n) high = middle; else low = middle + 1;
      }
      return segment(this, low);
    }
    [Symbol.iterator]() { return new Iterator_(this); }
  }
  const { segment, count } = Segments;
  delete Segments.segment;
  delete Segments.count;
  delete Segments.prototype.constructor;
  class Iterator_ {
    #of; #next = 0;
    constructor(of) { this.#of = of; }
    next() {
      const done = this.#next >= count(this.#of);
      return { value: done ? undefined : segment(this.#of, this.#next++), done };
    }
  }
  delete Iterator_.prototype.constructor;
  p.setPrototypeOf(Iterator_.prototype, p.getPrototypeOf(p.getPrototypeOf([][Symbol.iterator]())));
  p.defineProperty(Iterator_.prototype, Symbol.toStringTag, { __proto__: null, value: 'Segmenter String Iterator', configurable: true });

  class Segmenter {
    #s;
    constructor(locales = undefined, options = undefined) {
      intl.asking = 'Intl.Segmenter';
      const { locale } = intl.resolve(locales, any), o = options === undefined ? { __proto__: null } : internal.dictionary(options, 'Intl.Segmenter: the options');
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      this.#s = { __proto__: null, locale, granularity: intl.option(o, 'granularity', ['grapheme', 'word', 'sentence'], 'grapheme') };
    }
    segment(input) { return new Segments(this.#s.granularity, `${input}`); }
    resolvedOptions() { return { locale: this.#s.locale, granularity: this.#s.granularity }; }
  }
  intl.service(Segmenter, false, any);

  // keywords maps the options of a Locale to the Unicode extension keys (-u-) in its tag.
  const keywords = { __proto__: null, calendar: 'ca', collation: 'co', hourCycle: 'hc', caseFirst: 'kf', numeric: 'kn', numberingSystem: 'nu' };
  const fields = ['calendar', 'collation', 'hourCycle', 'caseFirst', 'numeric', 'numberingSystem'];
  // read splits a canonical tag into its parts.
  const read = (tag) => {
    const l = { __proto__: null, script: undefined, region: undefined, rest: '' }, at = p.indexOf(tag, '-u-'), parts = intl.split(at < 0 ? tag : p.slice(tag, 0, at), '-');
    l.language = parts[0];
    for (let i = 1; i < parts.length; i++) {
      const part = parts[i];
      if (part.length === 4 && l.region === undefined && p.regexpExec(/^[A-Za-z]+$/, part) !== null) l.script = part;
      else if (l.region === undefined && l.rest === '' && p.regexpExec(/^([A-Z]{2}|[0-9]{3})$/, part) !== null) l.region = part;
      else l.rest += `-${part}`;
    }
    const found = intl.keywords(tag);
    for (const key in found) l[key] = found[key];
    return l;
  };
  const write = (l) => {
    let tag = l.language, extension = '';
    if (l.script !== undefined) tag += `-${l.script}`;
    if (l.region !== undefined) tag += `-${l.region}`;
    const names = ['calendar', 'collation', 'hourCycle', 'caseFirst', 'numeric', 'numberingSystem'];
    for (let i = 0; i < names.length; i++) {
      const key = keywords[names[i]];
      if (l[key] !== undefined) extension += `-${key}${l[key] === '' || l[key] === 'true' ? '' : `-${l[key]}`}`;
    }
    return { __proto__: null, base: tag + l.rest, tag: tag + l.rest + (extension === '' ? '' : `-u${extension}`) };
  };
  // regionOf returns what the host knows of the region of a locale, or of its likely one; localOf what it knows of a locale.
  const world = [1, [6, 7], 1, ['gregory'], []];
  const regionOf = ({ region }, base) => intl.dataOf('region', region ?? p.regexpExec(/-(\w+)$/, internal.sync('intl.likely', base, 0))[1]) ?? world;
  const localOf = ({ language, script, region }, base) => { // the host has no tags with a script that is the likely one
    const short = script === undefined ? base : internal.sync('intl.likely', region === undefined ? `${language}-${script}` : `${language}-${region}`, 0);
    const plain = script !== undefined && region !== undefined && p.indexOf(short, `-${script}-`) >= 0 ? `${language}-${region}` : base;
    return intl.dataOf('local', plain) ?? [['h23'], ['latn'], ['emoji', 'eor'], 'ltr'];
  };
  class Locale {
    #l; #text;
    constructor(tag, options = undefined) {
      if (typeof tag !== 'string' && !internal.isObject(tag)) throw new p.TypeError('First argument to Intl.Locale constructor can\'t be empty or missing');
      const l = this.#l = read(intl.list([tag])[0]), o = intl.options(options);
      const parts = [['language', /^([a-z]{2,3}|[a-z]{5,8})$/i], ['script', /^[a-z]{4}$/i], ['region', /^([a-z]{2}|[0-9]{3})$/i]];
      for (let i = 0; i < parts.length; i++) {
        const v = intl.option(o, parts[i][0]);
        if (v !== undefined && p.regexpExec(parts[i][1], v) === null) throw new p.RangeError(`Incorrect locale information provided: ${parts[i][0]} ${v}`);
        if (v !== undefined) l[parts[i][0]] = v;
      }
      for (let i = 0; i < fields.length; i++) {
        const name = fields[i];
        const v = name === 'numeric' ? (o.numeric === undefined ? undefined : o.numeric ? '' : 'false') : intl.option(o, name, name === 'hourCycle' ? ['h11', 'h12', 'h23', 'h24'] : name === 'caseFirst' ? ['upper', 'lower', 'false'] : undefined);
        if (v !== undefined && v !== '' && p.regexpExec(/^[a-z0-9]{3,8}(-[a-z0-9]{3,8})*$/i, v) === null) throw new p.RangeError(`Incorrect locale information provided: ${name} ${v}`);
        if (v !== undefined) l[keywords[name]] = v;
      }
      this.#l = read(intl.list([write(l).tag])[0]);
      this.#text = write(this.#l);
    }
    static is(v) { return internal.isObject(v) && #l in v; }
    get language() { return this.#l.language; }
    get script() { return this.#l.script; }
    get region() { return this.#l.region; }
    get baseName() { return this.#text.base; }
    get calendar() { return this.#l.ca; }
    get collation() { return this.#l.co; }
    get hourCycle() { return this.#l.hc; }
    get caseFirst() { return this.#l.kf; }
    get numeric() { return this.#l.kn === '' || this.#l.kn === 'true'; }
    get numberingSystem() { return this.#l.nu; }
    get calendars() { return this.#l.ca === undefined ? p.arraySlice(regionOf(this.#l, this.#text.base)[3]) : [this.#l.ca]; }
    get collations() { return this.#l.co === undefined ? p.arraySlice(localOf(this.#l, this.#text.base)[2]) : [this.#l.co]; }
    get hourCycles() { return this.#l.hc === undefined ? p.arraySlice(localOf(this.#l, this.#text.base)[0]) : [this.#l.hc]; }
    get numberingSystems() { return this.#l.nu === undefined ? p.arraySlice(localOf(this.#l, this.#text.base)[1]) : [this.#l.nu]; }
    get textInfo() { return { direction: localOf(this.#l, this.#text.base)[3] }; }
    get timeZones() { return this.#l.region === undefined ? undefined : p.arraySlice(regionOf(this.#l, this.#text.base)[4]); }
    get weekInfo() {
      const found = regionOf(this.#l, this.#text.base);
      return { firstDay: found[0], weekend: p.arraySlice(found[1]), minimalDays: found[2] };
    }
    toString() { return this.#text.tag; }
    maximize() { return new Locale(internal.sync('intl.likely', this.#text.base, 0) + p.slice(this.#text.tag, this.#text.base.length)); }
    minimize() { return new Locale(internal.sync('intl.likely', this.#text.base, 1) + p.slice(this.#text.tag, this.#text.base.length)); }
  }
  intl.isLocale = Locale.is;
  delete Locale.is;
  intl.service(Locale, false, any);
  delete Locale.supportedLocalesOf;

  const codes = { __proto__: null, language: /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i, region: /^([a-z]{2}|[0-9]{3})$/i, script: /^[a-z]{4}$/i, currency: /^[a-z]{3}$/i, dateTimeField: /^(era|year|quarter|month|weekOfYear|weekday|day|dayPeriod|hour|minute|second|timeZoneName)$/ };
  const dateFields = ['era', 'year', 'quarter', 'month', 'weekOfYear', 'weekday', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'timeZoneName'];
  const named = intl.known('plural');
  // currencyName returns the name of a currency, which is the same in all styles.
  const currencyName = ({ locale }, currency) => {
    const names = intl.currencyNames(currency, locale);
    return typeof names === 'object' ? names[0] : names;
  };
  const fieldName = ({ locale, style }, name) => {
    const names = intl.dataOf('field', locale)[p.arrayIndexOf(dateFields, name)];
    return typeof names === 'object' ? names[p.arrayIndexOf(['long', 'short', 'narrow'], style)] : names;
  };
  class DisplayNames {
    #s;
    constructor(locales, options) {
      intl.asking = 'Intl.DisplayNames';
      const tags = intl.list(locales);
      const o = internal.dictionary(options, 'Intl.DisplayNames: the options');
      intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
      const style = intl.option(o, 'style', ['narrow', 'short', 'long'], 'long');
      const type = intl.option(o, 'type', ['language', 'region', 'script', 'currency', 'dateTimeField']);
      if (type === undefined) throw new p.TypeError('Required option "type" must not be undefined');
      const fallback = intl.option(o, 'fallback', ['code', 'none'], 'code');
      const { locale } = intl.resolve(tags, type === 'dateTimeField' ? intl.known('field') : named);
      this.#s = { __proto__: null, locale, style, type, fallback, languageDisplay: type === 'language' ? intl.option(o, 'languageDisplay', ['dialect', 'standard'], 'dialect') : undefined };
    }
    of(code) {
      const s = this.#s;
      code = `${code}`;
      if (p.regexpExec(codes[s.type], code) === null) throw new p.RangeError(`Invalid argument to Intl.DisplayNames.prototype.of`);
      const canonical = s.type === 'dateTimeField' ? code : s.type === 'language' ? intl.list(code)[0] : s.type === 'script' ? p.toUpperCase(code[0]) + p.toLowerCase(p.slice(code, 1)) : p.toUpperCase(code);
      const name = s.type === 'currency' ? currencyName(s, canonical) : s.type === 'dateTimeField' ? fieldName(s, canonical) : internal.sync('intl.name', s.type, canonical, s.locale) ?? undefined;
      return name ?? (s.fallback === 'code' ? canonical : undefined);
    }
    resolvedOptions() { return intl.object(this.#s); }
  }
  intl.service(DisplayNames, false, named);
  return internal;
}
