// Prints what Intl of this Node prints, as patterns: locales.txt, which gzip -9n compresses, or names.txt and currencies.txt, which brotli compresses in its
// best quality with a window of 2^24 bytes. Needs Node 20 and the npm package cldr-core of the version in process.versions.cldr. Its folder
// is the first argument; the second one is the name of the file, or kinds with commas between them.
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
  const money = Intl.supportedValuesOf('currency');
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

// The kinds below are lists, whose line of en says what each place stands for; the line of a locale with a parent has only what
// differs from it, by place, and the parent under <. In the list of zones a text is empty for an offset, and 0 for more than one name;
// before the names is the pattern of a date with a zone, in which \u0014 is the date and \u0015 the zone.
const NAME = '\u0003';
const money = Intl.supportedValuesOf('currency').filter((code) => !/\d|^X(?!A|C|O|P)|^[^X]..$/.test(new Intl.DisplayNames('en', { type: 'currency' }).of(code)) || code === 'XAU');
const categories = (locale) => new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
// currency has the patterns of a positive and a negative number with the name of a currency, then the names: one text, or one alone
// and then one for each plural category of the locale.
const currency = (locale) => {
  const sample = sampleOf(locale), format = (code, n, more) => new Intl.NumberFormat(locale, { style: 'currency', currency: code, currencyDisplay: 'name', minimumFractionDigits: 0, maximumFractionDigits: 1, ...more }).formatToParts(n);
  const alone = new Intl.DisplayNames(locale, { type: 'currency' }), out = [templateOf(format('USD', 5)), templateOf(format('USD', -5))];
  for (const n of Object.values(sample)) if (templateOf(format('EUR', n)) !== out[0]) console.error('another pattern:', locale, n);
  for (const code of money) {
    const names = [alone.of(code), ...categories(locale).map((category) => valueOf(format(code, sample[category] ?? 5e6), 'currency'))];
    out.push(names.every((name) => name === names[0]) ? names[0] : names);
  }
  return out;
};

const simple = Intl.supportedValuesOf('unit');
const pairs = ['kilometer meter mile foot inch liter gallon gram kilogram bit byte kilobit kilobyte megabit megabyte gigabyte degree'.split(' '), 'hour second minute day week month year kilometer meter mile liter gallon kilogram'.split(' ')];
// unit has for each unit its patterns in the styles short, narrow and long: one pattern, or one for each plural category; then for each unit
// what is around another (\u0003) that is divided by it, in the same styles. The last place has pairs that are not made so.
const unit = (locale) => {
  const sample = sampleOf(locale), names = categories(locale), all = ['short', 'narrow', 'long'];
  const read = (name, unitDisplay) => {
    const format = new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay });
    const texts = names.map((category) => {
      const parts = format.formatToParts(sample[category] ?? 5e6), text = templateOf(parts);
      const [before, after] = text.split(NUMBER), given = parts.filter((part) => part.type === 'unit' || part.type === 'percentSign').map((part) => part.value);
      if (JSON.stringify(given) !== JSON.stringify([before, after].map((each) => (each ?? '').trim()).filter((each) => each !== '')) && name !== 'percent') console.error('parts:', locale, name, JSON.stringify(parts));
      return text.replace(PERCENT, '%');
    });
    return texts.every((text) => text === texts[0]) ? texts[0] : texts;
  };
  const known = {}, styled = (name) => known[name] ??= all.map((style) => read(name, style));
  const one = simple.map(styled), rest = {};
  const at = (text, i) => typeof text === 'string' ? text : text[i];
  const per = simple.map((name) => styled(`${name === 'gram' ? 'byte' : 'gram'}-per-${name}`).map((text, style) => {
    const i = names.indexOf('other'), whole = at(text, i), inner = at(styled(name === 'gram' ? 'byte' : 'gram')[style], i);
    return whole.includes(inner) ? whole.replace(inner, NAME) : null;
  }));
  for (const above of pairs[0]) for (const below of pairs[1]) {
    if (above === below) continue;
    const name = `${above}-per-${below}`, made = per[simple.indexOf(below)].map((around, style) => {
      const inner = styled(above)[style];
      return around === null ? null : typeof inner === 'string' ? around.replace(NAME, inner) : inner.map((text) => around.replace(NAME, text));
    });
    if (JSON.stringify(made) !== JSON.stringify(styled(name))) rest[name] = styled(name);
  }
  return [...one, ...per, rest];
};

const zones = Intl.supportedValuesOf('timeZone'), when = [new Date(Date.UTC(2025, 0, 15)), new Date(Date.UTC(2025, 6, 15))];
const zoneText = (locale, timeZone, timeZoneName, date) => valueOf(new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }).formatToParts(date), 'timeZoneName');
// The English names of zones at a date, and those of the zones in general after a space, each with two of its zones.
const english = {};
for (const timeZone of zones) for (const [general, how] of [['', 'long'], [' ', 'longGeneric']]) for (const date of how === 'long' ? when : [when[0]]) {
  const name = zoneText('en', timeZone, how, date);
  const list = english[general + name] ??= [];
  if (!/^GMT[+-]/.test(name) && list.length < 2 && !list.some(([other]) => other === timeZone)) list.push([timeZone, how, date]);
}
for (const name of Object.keys(english)) if (english[name].length === 0) delete english[name];
const zoneName = (locale) => {
  const { calendar, numberingSystem } = new Intl.DateTimeFormat(locale).resolvedOptions();
  if (calendar !== 'gregory' || numberingSystem !== 'latn' || locale === 'en' || locale.startsWith('en-')) return undefined;
  const text = (options) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).formatToParts(when[0]).map(({ type, value }) => type === 'timeZoneName' ? '\u0015' : value).join('');
  const date = text({}), zoned = text({ timeZoneName: 'long' });
  return [zoned.includes(date) ? zoned.replace(date, '\u0014') : 0, ...Object.values(english).map((uses) => {
    const texts = uses.map(([timeZone, how, date]) => {
      const text = zoneText(locale, timeZone, how, date);
      return text === zoneText(locale, timeZone, 'longOffset', date) ? '' : text;
    });
    return texts.every((text) => text === texts[0]) ? texts[0] : 0;
  })];
};

// exponent has the sign between a number and its exponent, what is before a negative exponent, and its minus sign.
const exponent = (locale) => {
  const parts = new Intl.NumberFormat(locale, { notation: 'scientific' }).formatToParts(-1.5e-7), at = parts.findIndex((part) => part.type === 'exponentSeparator');
  return [parts[at].value, parts[at + 1].type === 'literal' ? parts[at + 1].value : '', valueOf(parts, 'exponentMinusSign')];
};

const field = (locale) => ['era', 'year', 'quarter', 'month', 'weekOfYear', 'weekday', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'timeZoneName'].map((name) => {
  const texts = ['long', 'short', 'narrow'].map((style) => new Intl.DisplayNames(locale, { type: 'dateTimeField', style }).of(name));
  return texts.every((text) => text === texts[0]) ? texts[0] : texts;
});

// In a range \u0017 is before what only the end has, \u0018 before what both share, and \u0019 before what only the start has. A range is
// keyed as rangeKey of intl_date.js does it, and has a pattern, by number, for the greatest difference: of years, months, days, halves of the day, hours and minutes.
const indexOf = (list, v) => list.indexOf(v);
const rangeKey = (o) => o.dateStyle ?? o.timeStyle ? `${o.dateStyle ?? ''}/${o.timeStyle ?? ''}` : [indexOf(weekdays, o.weekday), indexOf(years, o.year), indexOf(months, o.month), indexOf(days, o.day), indexOf(days, o.hour), indexOf(days, o.minute)].join('');
const wordy = (month) => [{ month, day: 'numeric' }, { year: 'numeric', month }, { year: 'numeric', month, day: 'numeric' }];
const rangeSets = [
  ...['full', 'long', 'medium', 'short'].flatMap((dateStyle) => [{ dateStyle }, { dateStyle, timeStyle: 'short' }]), { timeStyle: 'short' },
  ...wordy('long'), ...wordy('short'), ...wordy('numeric'), ...['long', 'short'].flatMap((weekday) => [...wordy('long'), ...wordy('short')].map((each) => ({ weekday, ...each }))),
  { month: 'long' }, { month: 'short' }, { year: 'numeric' }, { year: 'numeric', month: '2-digit', day: '2-digit' }, { month: '2-digit', day: '2-digit' },
  { hour: 'numeric' }, { hour: 'numeric', minute: 'numeric' }, { hour: 'numeric', minute: '2-digit' }, { hour: '2-digit', minute: '2-digit' },
  ...['2-digit', 'numeric'].flatMap((minute) => [{ month: 'short', day: 'numeric' }, { year: 'numeric', month: 'short', day: 'numeric' }, { year: 'numeric', month: 'numeric', day: 'numeric' }, { year: 'numeric', month: 'long', day: 'numeric' }].map((each) => ({ ...each, hour: 'numeric', minute }))),
];
const ends = [[2024, 2, 6, 16, 8], [2023, 2, 6, 16, 8], [2023, 1, 6, 16, 8], [2023, 1, 5, 16, 8], [2023, 1, 5, 6, 8], [2023, 1, 5, 5, 8]].map((fields) => new Date(Date.UTC(...fields)));
const range = (locale) => {
  const known = date(locale);
  if (known === undefined) return undefined;
  const out = { lists: [], patterns: [], sets: {} }, system = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9876543210)].reverse();
  const latin = (text) => [...text].map((ch) => system.includes(ch) ? system.indexOf(ch) : ch).join('');
  const find = (list) => {
    const at = known.lists.findIndex((each) => JSON.stringify(each) === JSON.stringify(list));
    if (at >= 0) return at;
    const own = out.lists.findIndex((each) => JSON.stringify(each) === JSON.stringify(list));
    return known.lists.length + (own >= 0 ? own : out.lists.push(list) - 1);
  };
  const marks = { startRange: '\u0019', shared: '\u0018', endRange: '\u0017' }, start = new Date(Date.UTC(2023, 1, 5, 5, 7));
  const lists = {}; // by name, type and the styles that a format has
  const listOf = (format, type, count, day) => JSON.stringify(Array.from({ length: count }, (_, i) => valueOf(format.formatToParts(day(i)), type)));
  for (const options of rangeSets) {
    const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options });
    const wide = (type, text) => { // the list that has the text at its place, of this format or of those with the month or the day alone
      const tries = [format, ...(type === 'month' ? months.slice(3).flatMap((month) => [{ month, day: 'numeric' }, { month }, { month, year: 'numeric' }]) : type === 'weekday' ? weekdays.slice(1).map((weekday) => ({ weekday })) : []).map((o) => lists[JSON.stringify(o)] ??= new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...o }))];
      for (const each of tries) {
        const list = Array.from({ length: type === 'month' ? 12 : 7 }, (_, i) => valueOf(each.formatToParts(type === 'month' ? new Date(Date.UTC(2023, i, 5)) : new Date(Date.UTC(2023, 0, 1 + i))), type));
        if (text.every(([i, shown]) => list[i] === shown)) return list;
      }
      return undefined;
    };
    const row = ends.map((end) => {
      let text = '', last = 'shared';
      const parts = format.formatRangeToParts(start, end);
      for (const { type, value, source } of parts) {
        const shown = latin(value), when = source === 'endRange' ? end : start;
        if (source !== last) text += marks[source];
        last = source;
        const figure = (n, one, two) => shown === String(n) ? one : shown === String(n).padStart(2, '0') ? two : '\u0000';
        if (type === 'literal') text += value;
        else if (type === 'day') text += figure(when.getUTCDate(), '\u0001', '\u0002');
        else if (type === 'year') text += shown === String(when.getUTCFullYear()) ? '\u0003' : shown === String(when.getUTCFullYear() % 100) ? '\u0004' : '\u0000';
        else if (type === 'month' && /^\d+$/.test(shown)) text += figure(when.getUTCMonth() + 1, '\u0005', '\u0006');
        else if (type === 'month' || type === 'weekday') {
          const list = wide(type, [[type === 'month' ? when.getUTCMonth() : when.getUTCDay(), value]]);
          text += list === undefined ? '\u0000' : (type === 'month' ? '\u0007' : '\u0008') + String.fromCharCode(32 + find(list));
        } else if (type === 'hour') { const h = when.getUTCHours(); text += h > 12 && shown !== String(h) ? figure(h - 12, '\u000e', '\u000f') : figure(h, '\u000e', '\u000f'); }
        else if (type === 'minute') text += figure(when.getUTCMinutes(), '\u0000', '\u0010');
        else if (type === 'dayPeriod') {
          const clock = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', hour: 'numeric' }), periods = Array.from({ length: 24 }, (_, hour) => valueOf(clock.formatToParts(new Date(Date.UTC(2023, 1, 5, hour))), type));
          if (periods[when.getUTCHours()] !== value) { text += '\u0000'; continue; }
          const two = new Set(periods.slice(0, 12)).size === 1 && new Set(periods.slice(12)).size === 1;
          text += '\u0012' + String.fromCharCode(32 + find(two ? [periods[0], periods[12]] : periods));
        } else text += '\u0000';
      }
      if (text.includes('\u000f')) text = text.replaceAll('\u000e', '\u000f'); // the end has 16 either way
      if (text.includes('\u0000')) return -1;
      if (!parts.some((part) => part.source !== 'shared')) return -2; // both ends are the same
      const at = out.patterns.indexOf(text);
      return at < 0 ? out.patterns.push(text) - 1 : at;
    });
    out.sets[rangeKey(options)] = row;
  }
  return out;
};

// local has what Intl.Locale says of a locale, and region, of a region, where the zones are those in use there.
const local = (locale) => { const l = new Intl.Locale(locale); return [l.hourCycles, l.numberingSystems, l.collations, l.textInfo.direction]; };
const region = (code) => { const l = new Intl.Locale(`und-${code}`), { firstDay, weekend, minimalDays } = l.weekInfo; return [firstDay, weekend, minimalDays, l.calendars, l.timeZones]; };
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'], codes = letters.flatMap((a) => letters.map((b) => a + b)).filter((code) => new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(code) !== undefined);

const parents = { currency: true, unit: true, zoneName: true, field: true };
const few = ['zoneName', 'range']; // they take long: other regions have none
const headings = { currency: money, unit: simple, zoneName: ['', ...Object.keys(english)] };
// what differs from a parent, by place
const differences = (list, parent, of) => {
  const out = { '<': of };
  list.forEach((v, i) => { if (JSON.stringify(v) !== JSON.stringify(parent[i])) out[i] = v; });
  return out;
};

const kinds = { plural, list, relative, number, date, zone, currency, unit, zoneName, exponent, field, range, local, region };
const files = { 'locales.txt': 'plural,list,relative,number,date,zone', 'currencies.txt': 'currency', 'names.txt': 'unit,zoneName,exponent,field,range,local,region' };
const only = (files[process.argv[3]] ?? process.argv[3] ?? files['locales.txt']).split(',');
for (const [kind, read] of Object.entries(kinds)) {
  if (!only.includes(kind)) continue;
  const seen = {}, first = {}, whole = {};
  const parentOf = (locale) => { // the chain that the reader follows: it removes subtags from the end
    for (let at = locale.lastIndexOf('-'); at > 0; at = locale.lastIndexOf('-', at - 1)) if (seen[locale.slice(0, at)] !== undefined) return locale.slice(0, at);
    return undefined;
  };
  if (headings[kind] !== undefined) console.log(`${kind} list ${JSON.stringify(headings[kind])}`);
  for (const locale of kind === 'region' ? codes : [...languages, ...variants, ...regions]) {
    if (kind !== 'region' && Intl.NumberFormat.supportedLocalesOf(locale).length === 0) { console.error('not supported:', locale); continue; }
    const value = few.includes(kind) && regions.includes(locale) ? undefined : read(locale), full = JSON.stringify(value) ?? 'null', parent = parentOf(locale);
    if (full === seen[parent]) continue;
    const text = parents[kind] && whole[parent] && value !== undefined ? JSON.stringify(differences(value, whole[parent], parent)) : full;
    seen[locale] = full;
    whole[locale] = value;
    console.log(`${kind} ${locale} ${first[text] === undefined ? text : `=${first[text]}`}`);
    first[text] ??= locale;
  }
}
