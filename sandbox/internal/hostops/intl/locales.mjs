// Prints locales.txt, which gzip -9n compresses: what Intl of this Node prints, as patterns. Needs Node 20 and the npm package
// cldr-core of the version in process.versions.cldr, whose folder is the argument.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const supplemental = (name) => JSON.parse(readFileSync(join(process.argv[2], 'supplemental', name + '.json'), 'utf8')).supplemental;
const cardinals = supplemental('plurals')['plurals-type-cardinal'], ordinals = supplemental('ordinals')['plurals-type-ordinal'];

const languages = 'af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ky lo lt lv mk ml mr ms my nb ne nl pa pl pt ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh zu'.split(' ');
const variants = 'ar-AE ar-EG ar-MA ar-SA de-AT de-CH en-AU en-CA en-GB en-HK en-IE en-IN en-NZ en-SG en-ZA es-419 es-AR es-CL es-CO es-MX es-PE es-US fr-BE fr-CA fr-CH it-CH nl-BE no pt-PT sr-Latn zh-HK zh-Hant zh-MO zh-SG zh-TW'.split(' ');

// The other regions of these languages follow. A line that is like another's names that one.
const { availableLocales } = JSON.parse(readFileSync(join(process.argv[2], 'availableLocales.json'), 'utf8'));
const regions = availableLocales.full.filter((tag) => /^[a-z]{2,3}-([A-Z]{2}|\d{3})$/.test(tag) && languages.includes(tag.split('-')[0]) && !variants.includes(tag));

// In a pattern \u0001 is the number, \u0002 the sign, \u0003 the currency; everything else is literal.
const NUMBER = '\u0001', SIGN = '\u0002', CURRENCY = '\u0003', PERCENT = '\u0004', COMPACT = '\u0005';
const numeric = new Set(['integer', 'group', 'decimal', 'fraction']);
const templateOf = (parts) => {
  let out = '';
  for (const { type, value } of parts) {
    if (numeric.has(type)) { if (!out.endsWith(NUMBER)) out += NUMBER; }
    else if (type === 'minusSign' || type === 'plusSign') out += SIGN;
    else if (type === 'currency') out += CURRENCY;
    else if (type === 'percentSign') out += PERCENT;
    else out += value;
  }
  return out;
};
const valueOf = (parts, type) => parts.find((part) => part.type === type)?.value;
const categoriesOf = (rules) => Object.keys(rules).map((key) => key.slice('pluralRule-count-'.length));
const samples = [1, 2, 3, 4, 5, 6, 8, 10, 11, 20, 21, 100, 0, 1000000, 1.5, 0.5, 2.5];
// sampleOf returns a number of each plural category of a locale.
const sampleOf = (locale) => {
  const rules = new Intl.PluralRules(locale), found = {};
  for (const n of samples) found[rules.select(n)] ??= n;
  return found;
};

const plural = (locale) => {
  const language = locale === 'pt-PT' ? 'pt-PT' : new Intl.Locale(locale).language;
  const read = (rules) => Object.fromEntries(Object.entries(rules ?? {}).map(([key, text]) => [key.slice('pluralRule-count-'.length), text.split('@')[0].trim()]).filter(([, text]) => text !== ''));
  const key = (table) => table[language] ?? table[{ nb: 'no', fil: 'fil' }[language] ?? language] ?? table.root;
  return [read(key(cardinals)), read(key(ordinals)), new Intl.PluralRules(locale).resolvedOptions().pluralCategories, new Intl.PluralRules(locale, { type: 'ordinal' }).resolvedOptions().pluralCategories];
};

const list = (locale) => {
  const out = [];
  for (const type of ['conjunction', 'disjunction', 'unit']) for (const style of ['long', 'short', 'narrow']) {
    const format = new Intl.ListFormat(locale, { type, style });
    const literals = (n) => {
      const texts = [''];
      for (const { type: kind, value } of format.formatToParts(Array.from({ length: n }, (_, i) => locale.startsWith('he') ? '\u05d0' : String(i)))) if (kind === 'literal') texts[texts.length - 1] += value; else texts.push('');
      return texts;
    };
    const two = literals(2), four = literals(4);
    if (two[0] + two[2] + four[0] + four[4] !== '') throw new Error(`list of ${locale}: ${JSON.stringify([two, four])}`);
    const entry = [two[1], four[1], four[2], four[3]];
    out.push(entry[1] === entry[2] ? (entry[0] === entry[3] ? [entry[0], entry[1]] : [entry[0], entry[1], entry[3]]) : entry);
  }
  return out;
};

const relative = (locale) => {
  const sample = sampleOf(locale), out = {};
  for (const unit of ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']) {
    out[unit] = ['long', 'short', 'narrow'].map((style) => {
      const always = new Intl.RelativeTimeFormat(locale, { style }), auto = new Intl.RelativeTimeFormat(locale, { style, numeric: 'auto' });
      const names = {}, patterns = [{}, {}];
      for (const n of [-2, -1, 0, 1, 2]) {
        const text = auto.format(n, unit);
        if (text !== always.format(n, unit)) names[n] = text;
      }
      for (const [category, n] of Object.entries(sample)) {
        patterns[0][category] = templateOf(always.formatToParts(n === 0 ? -0 : -n, unit));
        patterns[1][category] = templateOf(always.formatToParts(n, unit));
      }
      for (const p of patterns) for (const category of Object.keys(p)) if (category !== 'other' && p[category] === p.other) delete p[category];
      return [patterns[0], patterns[1], names];
    });
    const [long, short, narrow] = out[unit].map((v) => JSON.stringify(v));
    if (narrow === short) out[unit].pop();
    if (narrow === short && short === long) out[unit].pop();
  }
  return out;
};

const currencies = 'USD EUR GBP JPY CNY INR KRW BRL CAD AUD MXN NZD CHF SEK NOK DKK PLN CZK RUB TRY ZAR HKD SGD ILS TWD THB IDR MYR PHP VND HUF RON BGN UAH AED SAR EGP NGN KES ARS CLP COP PEN UYU PKR BDT KZT ISK GEL BHD KWD QAR OMR JOD LBP MAD TND DZD GHS XAF XOF XPF CRC DOP GTQ BOB PYG NPR LKR IRR IQD AZN AMD BYN UZS RSD MDL MKD ALL BAM TZS UGX ETB'.split(' ');
const plain = 'XTS'; // in every locale its symbol is its code
const number = (locale) => {
  const format = (v, options) => new Intl.NumberFormat(locale, options).formatToParts(v);
  const fraction = format(-1234567.5), digits = format(9876543210, { useGrouping: false }).map((part) => part.value).join('');
  const zero = digits === '9876543210' ? undefined : [...digits].reverse().join('');
  const groups = format(12345678901).filter((part) => part.type === 'integer').map((part) => part.value.length);
  const min2 = !format(1234).some((part) => part.type === 'group');
  const money = (currency, v, more) => templateOf(format(v, { style: 'currency', currency, ...more }));
  const accounting = { currencySign: 'accounting' }, letters = (text) => /\p{L}/u.test(text);
  const sign = ['EUR', 'GBP', 'INR', 'KRW', 'ILS', 'USD', 'THB', 'UAH', 'KZT'].find((currency) => !letters(valueOf(format(1, { style: 'currency', currency }), 'currency'))) ?? 'XXX';
  const pointOf = (currency) => valueOf(format(1.5, { style: 'currency', currency, minimumFractionDigits: 1 }), 'decimal');
  const groupOf = (currency) => valueOf(format(12345678, { style: 'currency', currency }), 'group');
  const out = {
    system: zero === undefined ? undefined : new Intl.NumberFormat(locale).resolvedOptions().numberingSystem, point: valueOf(fraction, 'decimal'), group: valueOf(format(12345678), 'group') ?? '', min2: min2 || undefined, pair: groups.at(-2) === 2 || undefined, digits: zero,
    minus: valueOf(fraction, 'minusSign'), plus: valueOf(format(1, { signDisplay: 'always' }), 'plusSign'), nan: valueOf(format(NaN), 'nan'), negative: templateOf(fraction),
    percentSign: valueOf(format(0.5, { style: 'percent' }), 'percentSign'), percent: [templateOf(format(0.5, { style: 'percent' })), templateOf(format(-0.5, { style: 'percent' }))],
    // with a symbol, with a code; positive, negative, negative in accounts
    money: [money(sign, 1), money(sign, -1), money(sign, -1, accounting), money(plain, 1), money(plain, -1), money(plain, -1, accounting)],
    moneyPoint: pointOf(plain), moneyGroup: groupOf(plain),
    symbols: {}, narrow: {},
  };
  if (out.moneyPoint === out.point) delete out.moneyPoint;
  if (out.moneyGroup === out.group) delete out.moneyGroup;
  // symbols that are not those of English; with the number of a pattern where the letters of a symbol do not choose it
  for (const currency of currencies) {
    const read = (name, display) => valueOf(new Intl.NumberFormat(name, { style: 'currency', currency, currencyDisplay: display }).formatToParts(1), 'currency');
    const symbol = read(locale, 'symbol'), narrow = read(locale, 'narrowSymbol'), got = money(currency, 1);
    const spaced = letters(out.money[0].indexOf(CURRENCY) < out.money[0].indexOf(NUMBER) ? symbol.at(-1) : symbol[0]) ? 3 : 0;
    const which = got === out.money[spaced] ? spaced : got === out.money[0] ? 0 : got === out.money[3] ? 3 : undefined;
    const separated = pointOf(currency) === pointOf(plain) && groupOf(currency) === groupOf(plain);
    if (which === undefined || !separated) {
      console.error('left out:', locale, currency, JSON.stringify(got));
      out.symbols[currency] = null;
    } else if (which !== spaced) out.symbols[currency] = [symbol, which];
    else if (symbol !== read('en', 'symbol')) out.symbols[currency] = symbol;
    if (narrow !== read('en', 'narrowSymbol')) out.narrow[currency] = narrow;
  }
  // compact: for each power of ten the shift and the pattern of each plural category, or of exactly 1
  const rules = new Intl.PluralRules(locale);
  out.compact = ['short', 'long'].map((compactDisplay) => {
    const rows = [];
    let last;
    for (let e = 3; e < 18; e++) {
      let by = 0, one;
      const patterns = {};
      for (const k of [5, 1, 2, 3, 4, 6, 8, 7.5, 1.5, 1.1, 2.5, 1.21, 1.22, 1.25, 1.01, 1.02, 1.11, 2.1, 2.2]) {
        const v = k * 10 ** e, parts = format(v, { notation: 'compact', compactDisplay, maximumSignificantDigits: 3, useGrouping: false });
        const shown = parts.filter((part) => numeric.has(part.type)).map((part) => part.type === 'decimal' ? '.' : zero === undefined ? part.value : [...part.value].map((ch) => [...zero].indexOf(ch)).join('')).join('') || '1'; // as fr: mille
        by = Math.round(Math.log10(v / +shown));
        const category = rules.select(+shown);
        let text = '';
        for (const { type, value } of parts) {
          if (numeric.has(type)) { if (!text.endsWith(NUMBER)) text += NUMBER; } else if (type === 'compact') text += COMPACT + value + COMPACT; else text += value;
        }
        if (shown === '1') one = [category, text]; else patterns[category] ??= text;
      }
      patterns.other ??= Object.values(patterns)[0] ?? one[1];
      if (one !== undefined && (patterns[one[0]] ?? patterns.other) !== one[1]) patterns[patterns[one[0]] === undefined ? one[0] : '1'] = one[1];
      for (const category of Object.keys(patterns)) if (category !== 'other' && patterns[category] === patterns.other) delete patterns[category];
      const row = [by, patterns];
      rows.push(JSON.stringify(row) === last ? 0 : row); // 0: as the one before
      last = JSON.stringify(row);
    }
    return rows;
  });
  return out;
};

// In a pattern of dates \u0001 is the day, \u0003 the year, \u0005 the month, \u000e the hour, each followed by its variant with two
// digits; \u0010 is the minute, \u0011 the second; \u0007, \u0008 and \u0012 are the names of the month, the weekday and the time of day (of two or 24),
// of the list whose number is the next character less 32. In a join \u0013 is the date, \u0014 the time.
const weekdays = [undefined, 'long', 'short'], years = [undefined, 'numeric', '2-digit'], months = [undefined, 'numeric', '2-digit', 'long', 'short'], days = [undefined, 'numeric', '2-digit'];
const date = (locale) => {
  const resolved = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions();
  if (resolved.calendar !== 'gregory') return undefined;
  const system = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9876543210)].reverse();
  const latin = (text) => [...text].map((ch) => system.includes(ch) ? system.indexOf(ch) : ch).join('');
  const out = { cycle: resolved.hourCycle, lists: [], patterns: [], joins: [] };
  const intern = (list, v) => { const at = list.findIndex((each) => JSON.stringify(each) === JSON.stringify(v)); return at < 0 ? list.push(v) - 1 : at; };
  const at = (month, day, hour = 5) => new Date(Date.UTC(2023, month, day, hour, 7, 9));
  const read = (options) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }), parts = format.formatToParts(at(1, 5));
    const value = (when, type) => valueOf(format.formatToParts(when), type);
    let text = '';
    for (const { type, value: raw } of parts) {
      const shown = latin(raw);
      if (type === 'literal') text += raw;
      else if (type === 'day') text += shown === '5' ? '\u0001' : shown === '05' ? '\u0002' : '\u0000';
      else if (type === 'year') text += shown === '2023' ? '\u0003' : shown === '23' ? '\u0004' : '\u0000';
      else if (type === 'month' && (shown === '2' || shown === '02')) text += shown === '2' ? '\u0005' : '\u0006';
      else if (type === 'month') text += '\u0007' + String.fromCharCode(32 + intern(out.lists, Array.from({ length: 12 }, (_, m) => value(at(m, 5), type))));
      else if (type === 'weekday') text += '\u0008' + String.fromCharCode(32 + intern(out.lists, Array.from({ length: 7 }, (_, d) => value(at(0, 1 + d), type))));
      else if (type === 'hour') text += shown === '5' ? '\u000e' : shown === '05' ? '\u000f' : '\u0000';
      else if (type === 'minute') text += shown === '07' ? '\u0010' : '\u0000';
      else if (type === 'second') text += shown === '09' ? '\u0011' : '\u0000';
      else if (type === 'dayPeriod') {
        const periods = Array.from({ length: 24 }, (_, hour) => value(at(1, 5, hour), type));
        const two = new Set(periods.slice(0, 12)).size === 1 && new Set(periods.slice(12)).size === 1;
        text += '\u0012' + String.fromCharCode(32 + intern(out.lists, two ? [periods[0], periods[12]] : periods));
      } else text += '\u0000';
    }
    return text;
  };
  const pattern = (options) => { const text = read(options); return text.includes('\u0000') ? -1 : intern(out.patterns, text); };
  // joined returns the join of a date and the time hm, or -1 if the date is another one beside a time.
  const joined = (options, more) => {
    if (options === undefined) return -1;
    const both = read({ ...options, ...more }), d = read(options), t = read(more), from = both.indexOf(d);
    if (from < 0) return -1;
    const rest = both.slice(0, from) + '\u0013' + both.slice(from + d.length), to = rest.indexOf(t);
    return to < 0 || both.includes('\u0000') ? -1 : intern(out.joins, rest.slice(0, to) + '\u0014' + rest.slice(to + t.length));
  };
  const list = [];
  for (const weekday of weekdays) for (const year of years) for (const month of months) for (const day of days) list.push(weekday ?? year ?? month ?? day ? { weekday, year, month, day } : undefined);
  out.dates = list.map((options) => options === undefined ? -1 : pattern(options));
  out.datesJoined = list.map((options) => joined(options, { hour: 'numeric', minute: 'numeric' }));
  const styles = ['full', 'long', 'medium', 'short'].map((dateStyle) => ({ dateStyle }));
  out.styles = styles.map(pattern);
  out.stylesJoined = styles.map((options) => joined(options, { timeStyle: 'short' }));
  // the times h, hm, hms, and these with two digits of minutes and seconds, with a numeric hour, then with one of two digits,
  // each with the locale's cycle, 12 hours and 24 hours
  out.times = [];
  const two = '2-digit', times = [{}, { minute: 'numeric' }, { minute: 'numeric', second: 'numeric' }, { minute: two }, { minute: two, second: two }];
  for (const hour of ['numeric', two]) for (const more of times) for (const cycle of [{}, { hour12: true }, { hour12: false }]) out.times.push(pattern({ hour, ...more, ...cycle }));
  out.timeStyles = ['medium', 'short'].map((timeStyle) => pattern({ timeStyle }));
  return out;
};

// zone reads how a locale that has the digits of English writes time zones: patterns of a time with hours and minutes, with seconds,
// and of the styles long and full, in which \u0014 is the time and \u0015 the zone; whether a numeric hour beside a zone has two digits, with and without
// seconds and with 24 hours; offsets from UTC; the names of UTC; and the abbreviations of other zones, by their English names.
const zone = (locale) => {
  const { calendar, numberingSystem } = new Intl.DateTimeFormat(locale).resolvedOptions();
  if (calendar !== 'gregory' || numberingSystem !== 'latn' || locale === 'en' || locale.startsWith('en-')) return undefined;
  const dates = [new Date(Date.UTC(2025, 0, 15, 3, 7, 9)), new Date(Date.UTC(2025, 6, 15, 3, 7, 9))];
  const name = (timeZone, timeZoneName, when = dates[0], tag = locale) => valueOf(new Intl.DateTimeFormat(tag, { timeZone, timeZoneName }).formatToParts(when), 'timeZoneName');
  const pattern = (options, more) => {
    const text = (parts) => parts.map(({ type, value }) => type === 'timeZoneName' ? '\u0015' : value).join('').replaceAll('\u202f', ' ');
    const read = (all) => text(new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...all }).formatToParts(dates[0]));
    const time = read(options), zoned = read({ ...options, ...more });
    return zoned.includes(time) ? zoned.replace(time, '\u0014') : null;
  };
  const named = { timeZoneName: 'short' }, time = { hour: '2-digit', minute: '2-digit' };
  const hours = [{}, { second: '2-digit' }].flatMap((more) => [{}, { hour12: false }].map((cycle) => {
    const parts = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', hour: 'numeric', minute: '2-digit', ...more, ...cycle, ...named }).formatToParts(dates[0]);
    return valueOf(parts, 'hour').length === 2;
  }));
  // the text of no offset, what is around the hours ahead of UTC and behind it, and what is between hours and minutes
  const offsets = ['shortOffset', 'longOffset'].map((how) => {
    const around = (zone) => name(zone, how).split(/0?1(?:\D00)?/);
    return [name('Africa/Abidjan', how), ...around('Etc/GMT-1'), ...around('Etc/GMT+1'), /5(.*)30/.exec(name('Asia/Kolkata', how))[1]];
  });
  if (offsets.some((list) => list.length !== 6)) throw new Error(`offsets of ${locale}: ${JSON.stringify(offsets)}`);
  const names = {};
  for (const timeZone of Intl.supportedValuesOf('timeZone')) for (const when of dates) {
    const english = name(timeZone, 'long', when, 'en'), short = name(timeZone, 'short', when);
    if (!english.startsWith('GMT') && short !== name(timeZone, 'shortOffset', when)) names[english] ??= short;
  }
  const styled = ['long', 'full'].map((timeStyle) => pattern({ timeStyle: 'medium' }, { timeStyle }));
  return { patterns: [pattern(time, named), pattern({ ...time, second: '2-digit' }, named), styled[0], styled[1] ?? styled[0]], hours, offsets, utc: [name('UTC', 'long'), name('UTC', 'short')], names };
};

const kinds = { plural, list, relative, number, date, zone };
for (const [kind, read] of Object.entries(kinds)) {
  const seen = {}, first = {};
  const parentOf = (locale) => { // the chain that the reader follows: it removes subtags from the end
    for (let at = locale.lastIndexOf('-'); at > 0; at = locale.lastIndexOf('-', at - 1)) if (seen[locale.slice(0, at)] !== undefined) return seen[locale.slice(0, at)];
    return undefined;
  };
  for (const locale of [...languages, ...variants, ...regions]) {
    if (Intl.NumberFormat.supportedLocalesOf(locale).length === 0) { console.error('not supported:', locale); continue; }
    const text = JSON.stringify(read(locale)) ?? 'null';
    if (text === parentOf(locale)) continue;
    seen[locale] = text;
    console.log(`${kind} ${locale} ${first[text] === undefined ? text : `=${first[text]}`}`);
    first[text] ??= locale;
  }
}
