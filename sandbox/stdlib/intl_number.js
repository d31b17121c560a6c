// Intl.NumberFormat. Numbers are handled as decimal digits, so binary rounding loses nothing.
(host, internal) => {
  'use strict';
  const { p, intl } = internal;
  const { isFinite } = Number;

  // digitsOf returns {negative, int, frac} of a number or bigint: the digits before and after the decimal point.
  const digitsOf = intl.digitsOf = (v) => {
    if (typeof v === 'bigint') {
      const s = p.bigintToString(v);
      return s[0] === '-' ? { __proto__: null, negative: true, int: p.slice(s, 1), frac: '' } : { __proto__: null, negative: false, int: s, frac: '' };
    }
    // Use the shortest decimal text that identifies the number, not its binary value.
    const negative = v < 0 || p.is(v, -0), s = p.numberToString(p.abs(v)), e = p.indexOf(s, 'e');
    const mantissa = e < 0 ? s : p.slice(s, 0, e), dot = p.indexOf(mantissa, '.');
    const d = dot < 0 ? { __proto__: null, negative, int: mantissa, frac: '' } : { __proto__: null, negative, int: p.slice(mantissa, 0, dot), frac: p.slice(mantissa, dot + 1) };
    return e < 0 ? d : shift(d, +p.slice(s, e + 1));
  };
  const trimZeros = (s, least) => {
    let n = s.length;
    while (n > least && s[n - 1] === '0') n--;
    return p.slice(s, 0, n);
  };
  const leading = (s) => {
    let i = 0;
    while (i < s.length - 1 && s[i] === '0') i++;
    return p.slice(s, i);
  };
  // goesUp reports whether a mode rounds away from zero, given whether the dropped part is more than a half, exactly a
  // half, or less but not zero, and whether the remaining digit is even.
  const goesUp = (mode, negative, more, half, even) => {
    switch (mode) {
      case 'ceil': return !negative;
      case 'floor': return negative;
      case 'expand': return true;
      case 'trunc': return false;
      case 'halfCeil': return more || (half && !negative);
      case 'halfFloor': return more || (half && negative);
      case 'halfTrunc': return more;
      case 'halfEven': return more || (half && !even);
    }
    return more || half;
  };
  // round rounds to a number of decimal places (negative: before the point) according to mode.
  const round = (d, place, mode) => {
    const all = d.int + d.frac, keep = d.int.length + place;
    if (keep >= all.length) return d;
    const rest = keep < 0 ? '1' : p.slice(all, keep), kept = keep <= 0 ? '0' : p.slice(all, 0, keep);
    let up = false;
    const exact = p.regexpExec(/[1-9]/, rest) === null || (keep < 0 && p.regexpExec(/[1-9]/, all) === null);
    if (!exact) {
      const first = keep < 0 ? 0 : +rest[0], half = keep >= 0 && first === 5 && p.regexpExec(/[1-9]/, p.slice(rest, 1)) === null;
      up = goesUp(mode, d.negative, first > 5 || (first === 5 && !half), half, (+kept[kept.length - 1]) % 2 === 0);
    }
    let s = kept;
    if (up) s = p.bigintToString(p.BigInt(kept) + 1n);
    s = p.padStart(s, kept.length, '0');
    if (place < 0) return { __proto__: null, negative: d.negative, int: leading(s + p.repeat('0', -place)), frac: '' };
    s = p.padStart(s, place + 1, '0');
    return { __proto__: null, negative: d.negative, int: leading(p.slice(s, 0, s.length - place)), frac: p.slice(s, s.length - place) };
  };
  // magnitude returns the exponent of the first nonzero digit.
  const magnitude = (d) => {
    const int = leading(d.int);
    if (int !== '0') return int.length - 1;
    for (let i = 0; i < d.frac.length; i++) if (d.frac[i] !== '0') return -i - 1;
    return 0;
  };
  const isZero = (d) => p.regexpExec(/[1-9]/, d.int + d.frac) === null;
  // shift moves the decimal point n places to the right.
  const shift = (d, n) => {
    const all = d.int + d.frac, at = d.int.length + n;
    const padded = at <= 0 ? p.repeat('0', 1 - at) + all : p.padEnd(all, at, '0'), point = at <= 0 ? 1 : at;
    return { __proto__: null, negative: d.negative, int: leading(p.slice(padded, 0, point)), frac: trimZeros(p.slice(padded, point), 0) };
  };

  const symbols = { __proto__: null, USD: '$', EUR: '€', GBP: '£', JPY: '¥', CNY: 'CN¥', INR: '₹', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$', MXN: 'MX$', NZD: 'NZ$', HKD: 'HK$', TWD: 'NT$', ILS: '₪', VND: '₫', XAF: 'FCFA', XOF: 'F\u202fCFA', PHP: '₱' };
  const noCents = ['JPY', 'KRW', 'VND', 'CLP', 'ISK', 'PYG', 'UGX', 'XAF', 'XOF', 'XPF', 'RWF', 'KMF', 'GNF', 'DJF', 'BIF', 'VUV'];
  const mills = ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'];
  const narrowSymbols = { __proto__: null, CNY: '¥', CAD: '$', AUD: '$', MXN: '$', NZD: '$', SEK: 'kr', NOK: 'kr', DKK: 'kr', PLN: 'zł', CZK: 'Kč', RUB: '₽', TRY: '₺', ZAR: 'R', HKD: '$', SGD: '$', TWD: '$', THB: '฿', IDR: 'Rp', MYR: 'RM', HUF: 'Ft', RON: 'lei', UAH: '₴', EGP: 'E£', NGN: '₦', ARS: '$', CLP: '$', COP: '$', UYU: '$', PKR: 'Rs', BDT: '৳', KZT: '₸' };
  const simple = intl.split('acre bit byte celsius centimeter day degree fahrenheit fluid-ounce foot gallon gigabit gigabyte gram hectare hour inch kilobit kilobyte kilogram kilometer liter megabit megabyte meter microsecond mile mile-scandinavian milliliter millimeter millisecond minute month nanosecond ounce percent petabyte pound second stone terabit terabyte week yard year', ' ');
  const isUnit = (unit) => {
    const i = p.indexOf(unit, '-per-');
    return p.arrayIndexOf(simple, i < 0 ? unit : p.slice(unit, 0, i)) >= 0 && (i < 0 || p.arrayIndexOf(simple, p.slice(unit, i + 5)) >= 0);
  };
  const unitStyles = ['short', 'narrow', 'long'];
  // unitPattern returns the pattern of a number with the unit of s in a locale, or one for each plural category, or undefined.
  const unitPattern = (s, tag) => {
    const data = intl.dataOf('unit', tag), style = p.arrayIndexOf(unitStyles, s.unitDisplay), n = simple.length;
    if (data === undefined) return undefined;
    const whole = data[n + n][s.unit];
    if (whole !== undefined) return whole[style];
    const i = p.indexOf(s.unit, '-per-'), above = data[p.arrayIndexOf(simple, i < 0 ? s.unit : p.slice(s.unit, 0, i))][style];
    if (i < 0) return above;
    const around = data[n + p.arrayIndexOf(simple, p.slice(s.unit, i + 5))][style];
    if (around === null) return undefined;
    const at = p.indexOf(around, '\u0003'), put = (text) => p.slice(around, 0, at) + text + p.slice(around, at + 1), out = [];
    if (typeof above === 'string') return put(above);
    for (let j = 0; j < above.length; j++) p.arrayPush(out, put(above[j]));
    return out;
  };
  // currencyNames returns the names of a currency in a locale: one, or one alone and one for each plural category, or undefined.
  const currencyNames = intl.currencyNames = (code, tag) => {
    const data = intl.dataOf('currency', tag), at = data === undefined ? -1 : p.arrayIndexOf(intl.dataOf('currency', 'list'), code);
    return at < 0 ? undefined : data[at + 2];
  };
  // byPlural chooses from a text, or from one for each plural category after the first n.
  const byPlural = (s, texts, n, digits) => typeof texts === 'string' ? texts
    : texts[n + p.arrayIndexOf(intl.dataOf('plural', s.locale)[2], digits === undefined ? 'other' : intl.pluralOf(s.locale, 0, digits))] ?? texts[texts.length - 1];

  // settings reads the options in the order that the standard prescribes.
  const settings = (locales, options) => {
    intl.asking = 'Intl.NumberFormat';
    const asked = intl.list(locales), o = intl.options(options), s = { __proto__: null };
    intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
    intl.option(o, 'numberingSystem');
    s.style = intl.option(o, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal');
    const currency = intl.option(o, 'currency');
    if (currency !== undefined && p.regexpExec(/^[A-Za-z]{3}$/, currency) === null) throw new p.RangeError(`Invalid currency code : ${currency}`);
    if (s.style === 'currency' && currency === undefined) throw new p.TypeError('Currency code is required with currency style.');
    s.currencyDisplay = intl.option(o, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol');
    s.currencySign = intl.option(o, 'currencySign', ['standard', 'accounting'], 'standard');
    const unit = intl.option(o, 'unit');
    if (unit !== undefined && !isUnit(unit)) throw new p.RangeError(`Invalid unit argument for Intl.NumberFormat() '${unit}'`);
    if (s.style === 'unit' && unit === undefined) throw new p.TypeError('Unit is required with unit style.');
    s.unitDisplay = intl.option(o, 'unitDisplay', ['short', 'narrow', 'long'], 'short');
    if (s.style === 'currency') s.currency = p.toUpperCase(currency);
    if (s.style === 'unit') s.unit = unit;
    s.notation = intl.option(o, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
    const cents = s.style !== 'currency' ? 0 : p.arrayIndexOf(noCents, s.currency) >= 0 ? 0 : p.arrayIndexOf(mills, s.currency) >= 0 ? 3 : 2;
    const plain = s.style === 'currency' && s.notation === 'standard';
    digitOptions(s, o, plain ? cents : 0, plain ? cents : s.style === 'percent' ? 0 : 3);
    s.compactDisplay = intl.option(o, 'compactDisplay', ['short', 'long'], 'short');
    let grouping = o.useGrouping;
    if (grouping === true) grouping = 'always';
    else if (grouping !== undefined && !grouping) grouping = false;
    else {
      grouping = intl.option({ __proto__: null, useGrouping: grouping }, 'useGrouping', ['min2', 'auto', 'always', 'true', 'false'], 'true');
      if (grouping === 'true' || grouping === 'false') grouping = s.notation === 'compact' ? 'min2' : 'auto';
    }
    s.useGrouping = grouping;
    s.signDisplay = intl.option(o, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto');
    const { locale, entry } = intl.choose(asked, (tag) => patternsFor(s, tag));
    s.locale = locale;
    const row = s.row = typeof entry === 'string' ? intl.dataOf('number', 'en') : entry, money = s.style === 'currency';
    s.data = [money ? row.moneyPoint ?? row.point : row.point, money ? row.moneyGroup ?? row.group : row.group, row.min2 === true ? 2 : 1];
    if (s.style === 'unit') s.unitPattern = unitPattern(s, locale);
    if (money && s.currencyDisplay === 'name') s.names = currencyNames(s.currency, locale) ?? s.currency;
    return s;
  };
  // patternsFor returns the host's patterns for a locale, if they have what the settings need.
  const patternsFor = (s, tag) => {
    const row = intl.dataOf('number', tag);
    if (row === undefined || s.style === 'unit' && unitPattern(s, tag) === undefined) return undefined;
    // A compact percentage has spaces of its own, and the marks of a negative one are elsewhere in compact money.
    if (s.notation === 'compact' && (s.style === 'percent' && intl.language(tag) !== 'en' || s.style === 'currency' && row.negative !== '\u0002\u0001')) return undefined;
    if (s.style !== 'currency') return row;
    return s.currencyDisplay === 'symbol' && row.symbols[s.currency] === null || s.currencyDisplay === 'name' && currencyNames(s.currency, tag) === undefined ? undefined : row;
  };
  intl.numbering = (s) => s.row.system ?? 'latn';
  const modes = ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'];
  const increments = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];
  const digitOptions = intl.digitOptions = (s, o, leastFraction, mostFraction) => {
    readDigits(s, o, leastFraction, mostFraction);
    if (s.roundingIncrement === 1) return;
    if (s.roundingPriority !== 'auto' || s.maximumSignificantDigits !== undefined || s.compactRounding) throw new p.TypeError('RoundingType is not fractionDigits');
    if (s.maximumFractionDigits !== s.minimumFractionDigits) throw new p.RangeError('maximumFractionDigits not equal to minimumFractionDigits');
  };
  const readDigits = (s, o, leastFraction, mostFraction) => {
    s.minimumIntegerDigits = intl.intOption(o, 'minimumIntegerDigits', 1, 21, 1);
    const { minimumFractionDigits: mnfd, maximumFractionDigits: mxfd, minimumSignificantDigits: mnsd, maximumSignificantDigits: mxsd } = o;
    s.roundingIncrement = intl.intOption(o, 'roundingIncrement', 1, 5000, 1);
    if (p.arrayIndexOf(increments, s.roundingIncrement) < 0) throw new p.RangeError('roundingIncrement value is out of range.');
    s.roundingMode = intl.option(o, 'roundingMode', modes, 'halfExpand');
    s.roundingPriority = intl.option(o, 'roundingPriority', ['auto', 'morePrecision', 'lessPrecision'], 'auto');
    s.trailingZeroDisplay = intl.option(o, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto');
    if (mnsd !== undefined || mxsd !== undefined) {
      s.minimumSignificantDigits = intl.intOption(o, 'minimumSignificantDigits', 1, 21, 1);
      s.maximumSignificantDigits = intl.intOption(o, 'maximumSignificantDigits', s.minimumSignificantDigits, 21, 21);
      if (s.roundingPriority === 'auto') return;
    }
    if (mnfd === undefined && mxfd === undefined && s.notation === 'compact') {
      s.compactRounding = true;
      s.minimumFractionDigits = s.maximumFractionDigits = 0;
      return;
    }
    const least = intl.intOption(o, 'minimumFractionDigits', 0, 100, undefined), most = intl.intOption(o, 'maximumFractionDigits', 0, 100, undefined);
    if (least !== undefined && most !== undefined && least > most) throw new p.RangeError('maximumFractionDigits value is out of range.');
    s.minimumFractionDigits = least ?? p.min(leastFraction, most ?? leastFraction);
    s.maximumFractionDigits = most ?? (s.roundingIncrement === 1 ? p.max(mostFraction, s.minimumFractionDigits) : s.minimumFractionDigits);
  };

  // bySignificance reports whether roundingPriority lets the significant digits decide, not the fraction digits.
  const bySignificance = (s, d) => {
    const more = s.maximumSignificantDigits - 1 - magnitude(d) >= s.maximumFractionDigits;
    return s.roundingPriority === 'morePrecision' ? more : !more;
  };
  // apply rounds and pads digits according to the settings.
  const apply = intl.applyDigits = (s, d) => {
    let least = s.minimumFractionDigits;
    if (s.maximumSignificantDigits !== undefined && (s.maximumFractionDigits === undefined || bySignificance(s, d))) {
      d = round(d, s.maximumSignificantDigits - 1 - magnitude(d), s.roundingMode);
      least = p.max(s.minimumSignificantDigits - 1 - (isZero(d) ? 0 : magnitude(d)), 0);
    } else if (s.compactRounding) {
      d = round(d, p.max(1 - magnitude(d), 0), s.roundingMode);
      least = 0;
    } else if (s.roundingIncrement !== 1) {
      const scaled = shift(d, s.maximumFractionDigits), all = p.BigInt(scaled.int + scaled.frac), unit = p.BigInt(s.roundingIncrement);
      const step = p.BigInt(s.roundingIncrement + p.repeat('0', scaled.frac.length)), count = all / step, rest = all % step;
      const up = rest !== 0n && goesUp(s.roundingMode, d.negative, 2n * rest > step, 2n * rest === step, count % 2n === 0n);
      d = shift({ __proto__: null, negative: d.negative, int: p.bigintToString((up ? count + 1n : count) * unit), frac: '' }, -s.maximumFractionDigits);
    } else d = round(d, s.maximumFractionDigits, s.roundingMode);
    let frac = trimZeros(d.frac, least);
    frac = p.padEnd(frac, least, '0');
    if (s.trailingZeroDisplay === 'stripIfInteger' && p.regexpExec(/[1-9]/, frac) === null) frac = '';
    return { __proto__: null, negative: d.negative, int: p.padStart(leading(d.int), s.minimumIntegerDigits, '0'), frac };
  };

  const group = (s, parts, int) => {
    const sign = s.data[1], least = s.data[2];
    const indian = s.row.pair === true;
    const wanted = s.useGrouping !== false && int.length >= 4 + (s.useGrouping === 'min2' || (least === 2 && s.useGrouping !== 'always') ? 1 : 0);
    if (!wanted) {
      p.arrayPush(parts, intl.part('integer', int));
      return;
    }
    const cuts = [];
    for (let i = int.length - 3; i > 0; i -= indian ? 2 : 3) p.arrayPush(cuts, i);
    let from = 0;
    for (let i = cuts.length - 1; i >= -1; i--) {
      const to = i < 0 ? int.length : cuts[i];
      p.arrayPush(parts, intl.part('integer', p.slice(int, from, to)));
      if (i >= 0) p.arrayPush(parts, intl.part('group', sign));
      from = to;
    }
  };
  // compact returns the digits to show and the pattern around them, by the host's patterns for each power of ten.
  const compact = (s, d) => {
    const rows = s.row.compact[s.compactDisplay === 'long' && s.style !== 'currency' ? 1 : 0];
    let r = apply(s, d), row;
    for (let e = magnitude(r), last = 0; e >= 3 && e !== last;) {
      let at = p.min(e, 17) - 3;
      while (rows[at] === 0) at--; // the same as for the power before
      row = rows[at];
      r = apply(s, shift(d, -row[0]));
      last = e;
      e = p.max(e, magnitude(r) + row[0]); // it may have been rounded up to the next power
    }
    return { __proto__: null, digits: r, by: row === undefined ? 0 : row[0], pattern: row === undefined ? undefined : (r.int === '1' && r.frac === '' ? row[1][1] : undefined) ?? row[1][intl.pluralOf(s.locale, 0, r)] ?? row[1].other };
  };
  // patternParts puts a number into the host's patterns, which are indexed by style and sign. In them \u0001 is the number,
  // \u0002 the sign, \u0003 the currency and \u0004 the percent sign; \u0005 is around the word of a compact number.
  const patternParts = (s, number, sign, compacted, digits) => {
    const { row } = s, values = { __proto__: null };
    let pattern = sign === '' ? '\u0001' : row.negative, inner = '\u0001';
    if (row.digits !== undefined) {
      for (let i = 0; i < number.length; i++) {
        const { type, value } = number[i];
        if (type !== 'integer' && type !== 'fraction' && type !== 'exponentInteger') continue;
        let text = '';
        for (let j = 0; j < value.length; j++) text += row.digits[value[j]];
        number[i].value = text;
      }
    }
    if (compacted !== undefined) {
      const pieces = intl.split(compacted, '\u0005'), before = pieces[0], word = pieces[1] ?? '', after = pieces[2] ?? '';
      values['\u0005'] = [intl.part('compact', word)];
      inner = `${before}${word === '' ? '' : '\u0005'}${after}`;
    }
    if (s.style === 'percent') pattern = row.percent[sign === '' ? 0 : 1];
    else if (s.style === 'unit') {
      const pieces = intl.split(byPlural(s, s.unitPattern, 0, digits), '\u0001');
      const beside = (text, mark) => { // spaces around the name of a unit are not part of it
        const found = p.regexpExec(/^([\s\u200e\u200f]*)(.*?)([\s\u200e\u200f]*)$/, text);
        if (found[2] === '') return text;
        values[mark] = [intl.part('unit', found[2])];
        return found[1] + mark + found[3];
      };
      pattern = beside(pieces[0], '\u0006') + (pieces.length < 2 ? '' : pattern + beside(pieces[1], '\u0007'));
    } else if (s.names !== undefined) {
      pattern = intl.dataOf('currency', s.locale)[sign === '' ? 0 : 1];
      values['\u0003'] = [intl.part('currency', byPlural(s, s.names, 1, digits))];
    } else if (s.currency !== undefined) {
      const symbol = s.currencyDisplay === 'code' ? s.currency : (s.currencyDisplay === 'symbol' ? row.symbols[s.currency] ?? symbols[s.currency] : row.narrow[s.currency] ?? narrowSymbols[s.currency] ?? symbols[s.currency]) ?? s.currency;
      const text = typeof symbol === 'string' ? symbol : symbol[0], after = p.indexOf(row.money[0], '\u0003') > p.indexOf(row.money[0], '\u0001');
      const spaced = p.regexpExec(/^\p{L}$/u, after ? text[0] : text[text.length - 1]) === null ? 0 : 3;
      pattern = row.money[(typeof symbol === 'string' ? spaced : symbol[1]) + (sign === '' ? 0 : sign === '-' && s.currencySign === 'accounting' ? 2 : 1)];
      values['\u0003'] = [intl.part('currency', text)];
    }
    values['\u0001'] = number;
    values['\u0002'] = [sign === '+' ? intl.part('plusSign', row.plus) : intl.part('minusSign', row.minus)];
    values['\u0004'] = [intl.part('percentSign', row.percentSign)];
    return intl.fill(inner === '\u0001' ? pattern : replaced(pattern, inner), values);
  };
  const replaced = (pattern, inner) => {
    const at = p.indexOf(pattern, '\u0001');
    return p.slice(pattern, 0, at) + inner + p.slice(pattern, at + 1);
  };

  // parts formats a number as a list of parts.
  const parts = (s, v) => {
    const notNumber = typeof v === 'number' && v !== v, infinite = typeof v === 'number' && !notNumber && !isFinite(v);
    let d = notNumber || infinite ? { __proto__: null, negative: v < 0, int: '0', frac: '' } : typeof v === 'object' ? v : digitsOf(v);
    let suffix, exponent, by = 0;
    if (s.style === 'percent') d = shift(d, 2);
    if (!notNumber && !infinite) {
      if (s.notation === 'scientific' || s.notation === 'engineering') {
        exponent = isZero(d) ? 0 : magnitude(d);
        const step = (n) => s.notation === 'engineering' ? p.floor(n / 3) * 3 : n;
        let r = apply(s, shift(d, -step(exponent)));
        if (magnitude(r) > exponent - step(exponent)) r = apply(s, shift(d, -step(++exponent)));
        exponent = step(exponent);
        d = r;
        by = exponent;
      } else if (s.notation === 'compact') {
        const found = compact(s, d);
        d = found.digits;
        by = found.by;
        suffix = found.pattern;
      } else d = apply(s, d);
    }
    const zero = !infinite && (notNumber || isZero(d));
    let sign = '';
    if (d.negative && !notNumber) {
      if (s.signDisplay === 'auto' || s.signDisplay === 'always' || !zero) sign = '-';
      if (s.signDisplay === 'never') sign = '';
    } else if (s.signDisplay === 'always' || (s.signDisplay === 'exceptZero' && !zero)) sign = '+';
    const number = [];
    if (notNumber) p.arrayPush(number, intl.part('nan', s.row.nan));
    else if (infinite) p.arrayPush(number, intl.part('infinity', '∞'));
    else {
      group(s, number, d.int);
      if (d.frac !== '') {
        p.arrayPush(number, intl.part('decimal', s.data[0]));
        p.arrayPush(number, intl.part('fraction', d.frac));
      }
      if (exponent !== undefined) {
        const [separator, before, minus] = intl.dataOf('exponent', s.locale);
        p.arrayPush(number, intl.part('exponentSeparator', separator));
        if (exponent < 0 && before !== '') p.arrayPush(number, intl.part('literal', before));
        if (exponent < 0) p.arrayPush(number, intl.part('exponentMinusSign', minus));
        p.arrayPush(number, intl.part('exponentInteger', `${p.abs(exponent)}`));
      }
    }
    return patternParts(s, number, sign, suffix, notNumber || infinite ? undefined : by === 0 ? d : shift(d, by));
  };
  // valueOf is ToIntlMathematicalValue: decimal strings keep all of their digits.
  const valueOf = (v) => {
    if (typeof v === 'object' && v !== null) v = internal.primitive(v);
    if (typeof v === 'bigint') return v;
    if (typeof v !== 'string') return +v;
    const match = p.regexpExec(/^\s*([+-]?)(\d+)(?:\.(\d*))?\s*$/, v);
    if (match === null || match[2].length + (match[3] ?? '').length < 16) return p.Number(v);
    return { __proto__: null, negative: match[1] === '-', int: leading(match[2]), frac: match[3] ?? '' };
  };
  internal.primitive = (v) => {
    const f = v[Symbol.toPrimitive];
    if (f === undefined || f === null) return p.apply(toNumeric, v, []);
    return p.apply(f, v, ['number']);
  };
  const toNumeric = function () {
    const first = this.valueOf();
    return internal.isObject(first) ? `${this}` : first;
  };

  // range returns the parts of a range. A unit or currency of more than one character is said once, and there are spaces
  // around the dash if something else stands beside the figures.
  const range = (s, start, end) => {
    if (start === undefined) throw new p.TypeError('Invalid start : undefined');
    if (end === undefined) throw new p.TypeError('Invalid end : undefined');
    const from = valueOf(start), to = valueOf(end);
    if (from !== from) throw new p.RangeError('Invalid start : NaN');
    if (to !== to) throw new p.RangeError('Invalid end : NaN');
    const a = parts(s, from), b = parts(s, to), shared = { __proto__: null };
    const beside = (list, atEnd) => {
      let text = '';
      for (let i = 0; i < list.length; i++) {
        const { type, value } = list[atEnd ? list.length - 1 - i : i];
        if (type === 'integer' || type === 'fraction' || type === 'infinity') break;
        text = atEnd ? value + text : text + value;
      }
      return text;
    };
    let apart = false;
    for (let i = 0; i < 2; i++) {
      const x = beside(a, i === 1), y = beside(b, i === 1);
      if (x === y && x.length > 1) shared.literal = shared.currency = shared.unit = shared.compact = shared.minusSign = true;
      else if (x !== '' || y !== '') apart = true;
    }
    return intl.rangeParts(a, b, apart ? ' – ' : '–', { __proto__: null, type: 'approximatelySign', value: '~' }, shared);
  };

  class NumberFormat {
    #s; #bound;
    constructor(locales = undefined, options = undefined) { this.#s = settings(locales, options); }
    get format() {
      const s = this.#s;
      return this.#bound ??= ({ '': (v) => intl.text(parts(s, valueOf(v))) })[''];
    }
    formatToParts(value) { return parts(this.#s, valueOf(value)); }
    formatRange(start, end) { return intl.text(range(this.#s, start, end)); }
    formatRangeToParts(start, end) { return range(this.#s, start, end); }
    resolvedOptions() {
      const s = this.#s;
      return intl.object({ __proto__: null, locale: s.locale, numberingSystem: intl.numbering(s), style: s.style, currency: s.currency, currencyDisplay: s.currency && s.currencyDisplay, currencySign: s.currency && s.currencySign,
        unit: s.unit, unitDisplay: s.unit && s.unitDisplay, minimumIntegerDigits: s.minimumIntegerDigits, minimumFractionDigits: s.minimumFractionDigits, maximumFractionDigits: s.maximumFractionDigits,
        minimumSignificantDigits: s.compactRounding ? 1 : s.minimumSignificantDigits, maximumSignificantDigits: s.compactRounding ? 2 : s.maximumSignificantDigits, useGrouping: s.useGrouping, notation: s.notation,
        compactDisplay: s.notation === 'compact' ? s.compactDisplay : undefined, signDisplay: s.signDisplay, roundingMode: s.roundingMode, roundingIncrement: s.roundingIncrement, trailingZeroDisplay: s.trailingZeroDisplay, roundingPriority: s.compactRounding ? 'morePrecision' : s.roundingPriority });
    }
  }
  intl.service(NumberFormat, true, (tag) => intl.find(tag) ?? intl.dataOf('number', tag));
  const lastSettings = intl.remembered(settings);
  const formatNumber = intl.formatNumber = (locales, options, v) => intl.text(parts(lastSettings(locales, options), v));
  intl.numberParts = (s, v) => parts(s, v);
  intl.numberSettings = settings;

  const thisNumber = p.numberValueOf, thisBigint = p.uncurry(BigInt.prototype.valueOf);
  internal.define(Number.prototype, 'toLocaleString', { toLocaleString(locales = undefined, options = undefined) { return formatNumber(locales, options, thisNumber(this)); } }.toLocaleString);
  internal.define(BigInt.prototype, 'toLocaleString', { toLocaleString(locales = undefined, options = undefined) { return formatNumber(locales, options, thisBigint(this)); } }.toLocaleString);

  // joined formats the elements of an array; toLocaleString passes locales and options to each of them.
  const joined = (list, length, locales, options) => {
    let text = '';
    for (let i = 0; i < length; i++) {
      const v = list[i];
      text += (i === 0 ? '' : ',') + (v === undefined || v === null ? '' : `${v.toLocaleString(locales, options)}`);
    }
    return text;
  };
  const typed = p.getPrototypeOf(p.Uint8Array.prototype), valid = p.uncurry(typed.keys);
  internal.define(p.ArrayPrototype, 'toLocaleString', { toLocaleString(...args) {
    if (this === undefined || this === null) throw new p.TypeError('Array.prototype.toLocaleString called on null or undefined');
    const o = p.Object(this);
    return joined(o, p.min(p.max(p.trunc(+o.length) || 0, 0), 2 ** 53 - 1), args[0], args[1]);
  } }.toLocaleString);
  internal.define(typed, 'toLocaleString', { toLocaleString(...args) {
    valid(this); // throws if this is not a typed array, or is detached
    return joined(this, p.typedLength(this), args[0], args[1]);
  } }.toLocaleString);
  return internal;
}
