// Intl in many locales. locales.txt is what Node.js 20 prints.
const locales = 'ar cs da de de-AT de-CH el en en-AU en-BE en-CA en-CH en-DE en-GB en-IN en-NG es es-419 es-MX fi fr fr-CA fr-LU he hi hu id it ja ko lv nb nl pl pt pt-AO pt-PT ro ru sl sr-Latn sv sv-FI tr uk vi zh zh-SG zh-TW'.split(' ');
const times = [Date.UTC(2024, 0, 5, 3, 4, 5), Date.UTC(2023, 10, 23, 14, 7, 9), Date.UTC(2024, 5, 9)];
const numbers = [0, 1, 2, 3, 5, 11, 21, 100, 1000, 1234, 9999, 12345, 999999, 1e6, 1234567, 2e6, 5e10, 1e12, 0.5, 1.5, 1234.56, -1234.5, -5e6, NaN, Infinity];
const timeZone = 'UTC';
for (const locale of locales) {
  const print = (name, texts) => console.log(`${locale} ${name}: ${texts.join(' | ')}`);
  const each = (list, format) => list.map((v) => format.format(v));
  print('dates', times.map((time) => new Date(time).toLocaleString(locale)));
  for (const dateStyle of ['full', 'long', 'medium', 'short']) print(dateStyle, each(times, new Intl.DateTimeFormat(locale, { dateStyle, timeZone })));
  print('styles', each(times, new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone })));
  print('fields', each(times, new Intl.DateTimeFormat(locale, { weekday: 'short', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZone })));
  print('month', each(times, new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone })));
  print('hours', each(times, new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit', hour12: false, timeZone })));
  print('parts', [JSON.stringify(new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone }).formatToParts(times[1]))]);
  print('decimal', each(numbers, new Intl.NumberFormat(locale)));
  print('percent', each([0.256, -0.5], new Intl.NumberFormat(locale, { style: 'percent' })));
  for (const currency of ['EUR', 'USD', 'JPY']) print(currency, each([1234.5, -1234.5], new Intl.NumberFormat(locale, { style: 'currency', currency })));
  print('code', each([1234.5, -1234.5], new Intl.NumberFormat(locale, { style: 'currency', currency: 'CHF', currencyDisplay: 'code' })));
  print('money', [JSON.stringify(new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' }).formatToParts(-12345.6))]);
  print('compact', each(numbers, new Intl.NumberFormat(locale, { notation: 'compact' })));
  print('long', each([1000, 1234, 1e6, 1234567, 2e6, 5e9], new Intl.NumberFormat(locale, { notation: 'compact', compactDisplay: 'long' })));
  print('plural', numbers.map((n) => new Intl.PluralRules(locale).select(n)));
  print('ordinal', numbers.map((n) => new Intl.PluralRules(locale, { type: 'ordinal' }).select(n)));
  print('categories', [new Intl.PluralRules(locale).resolvedOptions().pluralCategories]);
  for (const type of ['conjunction', 'disjunction', 'unit']) print(type, [['a'], ['a', 'b'], ['siete', 'ocho'], ['a', 'b', 'c', 'hijo']].map((list) => new Intl.ListFormat(locale, { type }).format(list)));
  for (const unit of ['second', 'hour', 'day', 'month', 'year']) {
    for (const style of ['long', 'narrow']) print(`${style} ${unit}`, [-5, -2, -1, 0, 1, 2, 21, 1.5].map((n) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style }).format(n, unit)));
  }
  print('regions', ['DE', 'IT', 'JP'].map((code) => new Intl.DisplayNames(locale, { type: 'region' }).of(code)));
}
