// Intl.DateTimeFormat, and the functions behind Date.prototype.toLocaleString and its variants. The host has the time zone
// database. The calendar is always Gregorian.
(host, internal) => {
  'use strict';
  const { p, intl } = internal;
  const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const getUTC = (name) => p.uncurry(p.Date.prototype[`getUTC${name}`]);
  const utc = { __proto__: null, year: getUTC('FullYear'), month: getUTC('Month'), day: getUTC('Date'), weekday: getUTC('Day'), hour: getUTC('Hours'), minute: getUTC('Minutes'), second: getUTC('Seconds'), ms: getUTC('Milliseconds') };

  const names = ['weekday', 'era', 'year', 'month', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName'];
  const values = {
    __proto__: null, weekday: ['narrow', 'short', 'long'], era: ['narrow', 'short', 'long'], year: ['2-digit', 'numeric'], month: ['2-digit', 'numeric', 'narrow', 'short', 'long'], day: ['2-digit', 'numeric'],
    dayPeriod: ['narrow', 'short', 'long'], hour: ['2-digit', 'numeric'], minute: ['2-digit', 'numeric'], second: ['2-digit', 'numeric'],
    timeZoneName: ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'],
  };
  const styles = ['full', 'long', 'medium', 'short'];
  const dateStyles = {
    __proto__: null, full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' },
    medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' },
  };
  const timeStyles = {
    __proto__: null, full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' }, long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' }, short: { hour: 'numeric', minute: '2-digit' },
  };

  const zoneAt = (zone, ms) => internal.sync('intl.zone', zone, `${ms}`);
  const zoneName = (given) => {
    const offset = p.regexpExec(/^([+-])(\d\d):?(\d\d)?$/, given);
    if (offset !== null && +offset[2] < 24 && +(offset[3] ?? 0) < 60) return `${offset[1]}${offset[2]}:${offset[3] ?? '00'}`;
    const upper = p.toUpperCase(given);
    if (upper === 'UTC' || upper === 'GMT' || upper === 'ETC/UTC' || upper === 'ETC/GMT') return 'UTC';
    let name = given, found = zoneAt(name, 0);
    if (found === null) {
      name = '';
      for (let i = 0; i < given.length; i++) name += i === 0 || given[i - 1] === '/' || given[i - 1] === '_' || given[i - 1] === '-' ? p.toUpperCase(given[i]) : p.toLowerCase(given[i]);
      found = zoneAt(name, 0);
    }
    if (found === null) throw new p.RangeError(`Invalid time zone specified: ${given}`);
    return name;
  };

  // claimOf returns the word that a locale's entry in intl_claims.js must contain: the styles or the fields of a format.
  // A month is M (long), S (short), N (narrow) or m (numeric); 2 means two digits, h an hour alone, t any other time.
  const monthWords = { __proto__: null, long: 'M', short: 'S', narrow: 'N' };
  const claimOf = (s, f, cycle) => {
    const hour = f.hour !== undefined, time = hour || f.minute !== undefined || f.second !== undefined;
    const t = !time ? '' : cycle !== undefined && hour ? 'c' : hour && f.minute === undefined ? 'h' : 't';
    const more = (f.era === undefined ? '' : 'e') + (f.dayPeriod === undefined ? '' : 'p') + (f.timeZoneName === undefined ? '' : 'z');
    if (s.dateStyle !== undefined) return s.dateStyle + t + more;
    const two = f.month === '2-digit' || (monthWords[f.month] === undefined && f.day === '2-digit') ? '2' : '';
    const month = f.month === undefined ? '' : monthWords[f.month] ?? 'm';
    return (f.weekday === undefined ? '' : 'W') + (f.year === undefined ? '' : 'y') + month + (f.day === undefined ? '' : 'd') + two + t + more;
  };

  const cycles = ['h11', 'h12', 'h23', 'h24'];
  // hourCycleOf returns the cycle that hour12 chooses, as Node 20 does: midnight is 24:00 where the usual day has 12 hours,
  // and 0:00 AM where it has 24.
  const hourCycleOf = (usual, hour12) => usual === 'h11' || usual === 'h23' ? (hour12 ? 'h11' : 'h23') : hour12 ? 'h12' : 'h24';
  // settings reads the options. required and defaults name the fields of a format without options: date, time or any.
  const settings = (locales, options, required, defaults) => {
    intl.asking = 'Intl.DateTimeFormat';
    const o = intl.options(options), s = { __proto__: null };
    intl.option(o, 'localeMatcher', ['lookup', 'best fit']);
    intl.option(o, 'calendar');
    intl.option(o, 'numberingSystem');
    const { hour12 } = o;
    let cycle = intl.option(o, 'hourCycle', cycles);
    if (hour12 !== undefined) cycle = undefined;
    s.timeZone = o.timeZone === undefined ? 'UTC' : zoneName(internal.text(o.timeZone));
    const f = { __proto__: null };
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      f[name] = name === 'fractionalSecondDigits' ? intl.intOption(o, name, 1, 3, undefined) : intl.option(o, name, values[name]);
    }
    intl.option(o, 'formatMatcher', ['basic', 'best fit']);
    const asked = f.hour !== undefined;
    s.dateStyle = intl.option(o, 'dateStyle', styles);
    s.timeStyle = intl.option(o, 'timeStyle', styles);
    if (s.dateStyle !== undefined || s.timeStyle !== undefined) {
      for (let i = 0; i < names.length; i++) if (f[names[i]] !== undefined) throw new p.TypeError(`Can't set option ${names[i]} when ${s.dateStyle !== undefined ? 'dateStyle' : 'timeStyle'} is used`);
      if (required === 'date' && s.timeStyle !== undefined) throw new p.TypeError('Invalid option : timeStyle');
      if (required === 'time' && s.dateStyle !== undefined) throw new p.TypeError('Invalid option : dateStyle');
      const date = dateStyles[s.dateStyle], time = timeStyles[s.timeStyle];
      for (const name in date) f[name] = date[name];
      for (const name in time) f[name] = time[name];
    } else {
      let needed = true;
      if ((required === 'date' || required === 'any') && (f.weekday ?? f.year ?? f.month ?? f.day) !== undefined) needed = false;
      if ((required === 'time' || required === 'any') && (f.dayPeriod ?? f.hour ?? f.minute ?? f.second ?? f.fractionalSecondDigits) !== undefined) needed = false;
      s.byDefault = needed;
      if (needed && (defaults === 'date' || defaults === 'all')) f.year = f.month = f.day = 'numeric';
      if (needed && (defaults === 'time' || defaults === 'all')) f.hour = f.minute = f.second = 'numeric';
    }
    s.fields = f;
    // A 24-hour time without a date has a one-digit hour if the guest requests a numeric hour.
    const cycleOf = (tag) => hour12 !== undefined ? undefined : cycle ?? (({ hc }) => p.arrayIndexOf(cycles, hc) < 0 ? undefined : hc)(intl.keywords(tag));
    const found = intl.resolve(locales, (tag) => patternsFor(s, tag, hour12 ?? cycleOf(tag)) ?? intl.claims(intl.dateClaims, claimOf(s, f, hour12 ?? cycleOf(tag)))(tag));
    if (found.entry === intl.fallback) found.entry = patternsFor(s, intl.fallback, hour12 ?? cycleOf(found.asked)) ?? found.entry;
    const { ca, hc, nu } = intl.keywords(found.asked);
    cycle = cycleOf(found.asked);
    s.bareHour = asked && hour12 === undefined && cycle === undefined && f.hour === 'numeric' && (f.weekday ?? f.year ?? f.month ?? f.day) === undefined;
    s.locale = intl.extended(found.locale, { __proto__: null, ca: ca === 'gregory' ? ca : undefined, hc: hc === cycle ? hc : undefined, nu: nu === 'latn' ? nu : undefined });
    s.base = found.locale;
    if (typeof found.entry === 'string') {
      s.data = intl.data[found.entry];
    } else {
      s.patterns = found.entry;
      s.abbreviations = intl.zoneAbbreviations[intl.base(found.asked)];
      s.zones = s.abbreviations === undefined ? intl.dataOf('zone', found.asked) ?? undefined : undefined;
      s.dated = s.zones !== undefined && f.timeZoneName !== undefined ? datedOf(f, found.asked) : undefined;
      s.cycle = hour12 ?? cycle;
      s.number = intl.dataOf('number', found.asked);
    }
    if (f.hour !== undefined) {
      const usual = s.patterns !== undefined ? s.patterns.cycle : s.data[8] === 12 ? 'h12' : 'h23';
      s.hourCycle = hour12 !== undefined ? hourCycleOf(usual, hour12) : cycle ?? usual;
    }
    return s;
  };

  // The host's patterns of dates are indexed by weekday, year, month and day, in these orders.
  const weekdays = [undefined, 'long', 'short'], years = [undefined, 'numeric', '2-digit'], months_ = [undefined, 'numeric', '2-digit', 'long', 'short'];
  const fieldIndex = (f) => ((p.arrayIndexOf(weekdays, f.weekday) * 3 + p.arrayIndexOf(years, f.year)) * 5 + p.arrayIndexOf(months_, f.month)) * 3 + p.arrayIndexOf(years, f.day);
  // patternOf returns the pattern of a format, or undefined if the locale's patterns have none. cycle is what the guest asked
  // for: hour12 or hourCycle.
  const patternOf = (s, data, cycle, point, zones, beside) => {
    const f = s.fields, dated = (f.weekday ?? f.year ?? f.month ?? f.day) !== undefined, timed = (f.hour ?? f.minute ?? f.second) !== undefined;
    const fraction = f.fractionalSecondDigits !== undefined;
    if ((f.era ?? f.dayPeriod) !== undefined || fraction && (f.hour === undefined || f.second === undefined) || f.weekday === 'narrow' || f.month === 'narrow') return undefined;
    const zone = f.timeZoneName === undefined ? '' : timed ? ' \u0015' : ', \u0015'; // as English has it
    const own = zones?.patterns[s.timeStyle === 'full' ? 3 : s.timeStyle !== undefined ? 2 : f.second !== undefined ? 1 : 0];
    if (zone !== '' && zones !== undefined && (timed ? own === null : beside === undefined)) return undefined;
    let day = -1, join = -1, time = -1;
    if (s.dateStyle !== undefined) {
      day = data.styles[p.arrayIndexOf(styles, s.dateStyle)];
      join = data.stylesJoined[p.arrayIndexOf(styles, s.dateStyle)];
    } else if (dated) {
      day = data.dates[fieldIndex(f)];
      join = data.datesJoined[fieldIndex(f)];
    }
    if (s.timeStyle !== undefined && cycle === undefined) time = data.timeStyles[s.timeStyle === 'short' ? 1 : 0];
    else if (timed && f.hour !== undefined && (f.second === undefined || f.minute !== undefined)) {
      const more = f.minute === undefined ? 0 : (f.second === undefined ? 1 : 2) + (f.minute === '2-digit' ? 2 : 0);
      const clock = cycle === undefined ? 0 : cycle === true || cycle === 'h11' || cycle === 'h12' ? 1 : 2;
      const two = f.hour === '2-digit' || zone !== '' && zones === undefined && data.cycle === 'h23' && clock === 0 && f.second === undefined;
      if (two && zone !== '' && more === 0) return undefined; // "15h GMT", and other forms of its own
      time = data.times[(two ? 15 : 0) + more * 3 + clock];
    }
    if (zone !== '' && timed && f.weekday !== undefined && (f.year ?? f.month ?? f.day) === undefined) return undefined;
    if (dated && day < 0 || timed && time < 0 || dated && timed && join < 0) return undefined;
    let t = timed ? data.patterns[time] : '';
    if (zone !== '' && zones !== undefined && f.hour === 'numeric' && s.timeStyle === undefined) {
      const wide = zones.hours[(f.second === undefined ? 0 : 2) + (cycle === false || cycle === 'h23' ? 1 : 0)];
      t = swap(t, wide ? '\u000e' : '\u000f', wide ? '\u000f' : '\u000e');
    }
    if (fraction) t = swap(t, '\u0011', `\u0011${point}\u0016`);
    if (zone !== '') t = zones !== undefined ? (timed ? swap(own, '\u0014', t) : '') : dated && timed ? t : t + zone;
    if (dated && !timed && zone !== '' && zones !== undefined) return swap(beside, '\u0014', data.patterns[day]);
    if (!dated || !timed) return dated ? data.patterns[day] + t : t;
    const pieces = data.joins[join], at = p.indexOf(pieces, '\u0013'), d = data.patterns[day];
    const other = p.indexOf(pieces, '\u0014');
    return (at < other ? p.slice(pieces, 0, at) + d + p.slice(pieces, at + 1, other) + t + p.slice(pieces, other + 1)
      : p.slice(pieces, 0, other) + t + p.slice(pieces, other + 1, at) + d + p.slice(pieces, at + 1)) + (zones === undefined ? zone : '');
  };
  // swap returns text with by in the place of old, if it has that.
  const swap = (text, old, by) => {
    const at = p.indexOf(text, old);
    return at < 0 ? text : p.slice(text, 0, at) + by + p.slice(text, at + 1);
  };
  // datedOf returns the pattern of a date with a zone and without a time in a locale, or undefined.
  const datedOf = (f, tag) => f.hour === undefined && f.weekday === undefined && f.month === 'numeric' && f.year === 'numeric' && f.day === 'numeric' ? intl.dataOf('zoneName', tag)?.[0] || undefined : undefined;
  // longName returns the long name of a zone in a locale, '' if that is its offset, or 0 if the host does not know. how is long or
  // longGeneric; it returns undefined for others.
  const longName = (tag, timeZone, how, daylight) => {
    if (how !== 'long' && how !== 'longGeneric') return undefined;
    const known = intl.zoneNames[timeZone], data = intl.dataOf('zoneName', tag);
    if (known === undefined) return '';
    const at = p.arrayIndexOf(intl.dataOf('zoneName', 'list'), how === 'long' ? known[daylight ? 'longDaylight' : 'long'] : ` ${known.longGeneric}`);
    return !data ? 0 : at < 0 ? '' : data[at];
  };
  // These have another time in the style full than in medium.
  const ownFull = ['ja', 'ko', 'lo', 'th', 'uz'];
  const patternsFor = (s, tag, cycle) => {
    const zone = s.fields.timeZoneName, english = intl.zoneAbbreviations[intl.base(tag)] !== undefined;
    const zones = zone === undefined || english ? undefined : intl.dataOf('zone', tag);
    if (zone !== undefined && !english && (!zones || zone === 'shortGeneric' || longName(tag, s.timeZone, zone, false) === 0 || longName(tag, s.timeZone, zone, true) === 0)) return undefined;
    if (zone === 'shortGeneric' && english) return undefined;
    if (s.timeStyle === 'full' && p.arrayIndexOf(ownFull, intl.language(tag)) >= 0) return undefined;
    const data = intl.dataOf('date', tag), { point } = intl.dataOf('number', tag) ?? { __proto__: null };
    if (s.fields.fractionalSecondDigits !== undefined && point === undefined) return undefined;
    return data !== undefined && data !== null && patternOf(s, data, cycle, point, zones, zones ? datedOf(s.fields, tag) : undefined) !== undefined ? data : undefined;
  };
  // patternParts formats a time by the host's patterns: see locales.mjs. A range may need a pattern that the locale lacks; it
  // then has the date alone in figures.
  const hourOf = ({ hourCycle }, { hour }) => {
    if (hourCycle === 'h12') return hour % 12 === 0 ? 12 : hour % 12;
    return hourCycle === 'h11' ? hour % 12 : hourCycle === 'h24' && hour === 0 ? 24 : hour;
  };
  const listed = { __proto__: null, '\u0007': 'month', '\u0008': 'weekday', '\u0012': 'dayPeriod' };
  const patternParts = (s, c) => {
    const data = s.patterns;
    return filled(s, c, patternOf(s, data, s.cycle, s.number?.point, s.zones, s.dated) ?? data.patterns[data.styles[3]]);
  };
  // filled returns the parts of a pattern. more has the lists after those of s.
  const filled = (s, c, pattern, more) => {
    const data = s.patterns, values = { __proto__: null }, digits = s.number?.digits;
    const figure = (type, value) => {
      let text = value;
      if (digits !== undefined) {
        text = '';
        for (let i = 0; i < value.length; i++) text += digits[value[i]] ?? value[i];
      }
      return [intl.part(type, text)];
    };
    const h = hourOf(s, c);
    values['\u0001'] = figure('day', `${c.day}`);
    values['\u0002'] = figure('day', two(c.day));
    values['\u0003'] = figure('year', `${c.year}`);
    values['\u0004'] = figure('year', two(((c.year % 100) + 100) % 100));
    values['\u0005'] = figure('month', `${c.month + 1}`);
    values['\u0006'] = figure('month', two(c.month + 1));
    values['\u000e'] = figure('hour', `${h}`);
    values['\u000f'] = figure('hour', two(h));
    values['\u0010'] = figure('minute', two(c.minute));
    values['\u0011'] = figure('second', two(c.second));
    if (s.fields.fractionalSecondDigits !== undefined) values['\u0016'] = figure('fractionalSecond', fractionText(s, c));
    if (s.fields.timeZoneName !== undefined) values['\u0015'] = [intl.part('timeZoneName', zoneText(s, c))];
    let rest = '';
    for (let i = 0; i < pattern.length; i++) { // the character of a list goes, that of its name stays
      const ch = pattern[i], type = listed[ch];
      rest += ch;
      if (type === undefined) continue;
      const at = p.charCodeAt(pattern[++i], 0) - 32, list = at < data.lists.length ? data.lists[at] : more[at - data.lists.length];
      values[ch] = [intl.part(type, list[type === 'month' ? c.month : type === 'weekday' ? c.weekday : list.length === 24 ? c.hour : c.hour < 12 ? 0 : 1])];
    }
    return intl.fill(rest, values);
  };

  // clock converts a time to calendar fields in the format's time zone.
  const clock = (s, time) => {
    let offset = 0, daylight = false;
    const fixed = p.regexpExec(/^([+-])(\d\d):(\d\d)$/, s.timeZone);
    if (fixed !== null) {
      offset = (fixed[1] === '-' ? -60 : 60) * (+fixed[2] * 60 + +fixed[3]);
    } else if (s.timeZone !== 'UTC') {
      const z = zoneAt(s.timeZone, time);
      offset = z[0];
      daylight = z[2];
    }
    const d = new p.Date(time + offset * 1000), c = { __proto__: null, offset, daylight };
    for (const name in utc) c[name] = utc[name](d);
    return c;
  };
  const fractionText = (s, c) => p.slice(p.padStart(`${c.ms}`, 3, '0'), 0, s.fields.fractionalSecondDigits);
  const two = (n) => p.padStart(`${n}`, 2, '0');
  const offsetText = (seconds, long) => {
    const a = p.abs(seconds), h = p.floor(a / 3600), m = p.floor(a % 3600 / 60);
    return `GMT${seconds < 0 ? '-' : '+'}${long ? `${two(h)}:${two(m)}` : `${h}${m > 0 ? `:${two(m)}` : ''}`}`;
  };
  // Ireland's winter is daylight saving time in the time zone database, and standard time in English.
  const inverse = { __proto__: null, 'Europe/Dublin': true, Eire: true };
  // foreignZone names a zone by the locale's patterns.
  const foreignZone = ({ zones, timeZone, base }, c, how) => {
    if (timeZone === 'UTC' && (how === 'short' || how === 'long')) return zones.utc[how === 'long' ? 0 : 1];
    const known = how === 'short' ? intl.zoneNames[timeZone] : undefined, daylight = c.daylight !== (inverse[timeZone] === true);
    const name = known === undefined ? longName(base, timeZone, how, daylight) : zones.names[known[daylight ? 'longDaylight' : 'long']];
    if (name !== undefined && name !== '') return name;
    const long = p.startsWith(how, 'long'), [none, ahead, aheadEnd, behind, behindEnd, point] = zones.offsets[long ? 1 : 0];
    const a = p.abs(c.offset), h = p.floor(a / 3600), m = p.floor(a % 3600 / 60), hours = long ? two(h) : `${h}`;
    if (a === 0) return none;
    return (c.offset < 0 ? behind : ahead) + hours + (long || m > 0 ? point + two(m) : '') + (c.offset < 0 ? behindEnd : aheadEnd);
  };
  const zoneText = (s, c) => {
    const how = s.fields.timeZoneName, long = p.startsWith(how, 'long');
    if (s.zones !== undefined) return foreignZone(s, c, how);
    const generic = how === 'shortGeneric' || how === 'longGeneric';
    if (s.timeZone === 'UTC' && (how === 'short' || how === 'long')) return long ? 'Coordinated Universal Time' : 'UTC';
    const known = how === 'shortOffset' || how === 'longOffset' ? undefined : intl.zoneNames[s.timeZone];
    if (known === undefined) return c.offset === 0 && (s.timeZone[0] === '+' || s.timeZone[0] === '-') ? 'GMT' : offsetText(c.offset, long);
    const daylight = !generic && c.daylight !== (inverse[s.timeZone] === true), own = how === 'short' ? s.abbreviations : undefined;
    const name = own !== undefined ? own[known[daylight ? 'longDaylight' : 'long']] : known[daylight ? `${how}Daylight` : how];
    return name ?? (c.offset === 0 && known.long === 'Greenwich Mean Time' ? 'GMT' : offsetText(c.offset, long));
  };
  const periodText = (f, { hour, minute }) => hour === 12 && (minute === 0 || f.minute === undefined) ? 'noon' : hour < 12 ? 'in the morning' : hour < 18 ? 'in the afternoon' : hour < 21 ? 'in the evening' : 'at night';

  const yearText = (s, c) => {
    const y = s.fields.era !== undefined && c.year <= 0 ? 1 - c.year : c.year;
    return s.fields.year === '2-digit' ? two(((y % 100) + 100) % 100) : `${y}`;
  };
  const monthText = (s, c, wide) => {
    const m = s.fields.month;
    if (m === 'long') return months[c.month];
    if (m === 'short') return p.slice(months[c.month], 0, 3);
    if (m === 'narrow') return months[c.month][0];
    return m === '2-digit' || wide ? two(c.month + 1) : `${c.month + 1}`;
  };
  const dayText = (s, c, wide) => s.fields.day === '2-digit' || wide ? two(c.day) : `${c.day}`;

  const add = (parts, type, value) => { p.arrayPush(parts, intl.part(type, value)); };
  const join = (parts, text) => { if (parts.length > 0 && text !== '') add(parts, 'literal', text); };
  const dateParts = (s, c) => {
    const f = s.fields, out = [], has = (name) => f[name] !== undefined;
    if (!has('year') && !has('month') && !has('day') && !has('weekday') && !has('era')) return out;
    const numeric = f.month === 'numeric' || f.month === '2-digit';
    if (has('weekday')) add(out, 'weekday', f.weekday === 'long' ? days[c.weekday] : f.weekday === 'short' ? p.slice(days[c.weekday], 0, 3) : days[c.weekday][0]);
    if (numeric || !has('month')) {
      if (has('month') && (has('day') || has('year'))) {
        join(out, ', ');
        figures(s, c, out);
      } else {
        if (has('month')) {
          join(out, ', ');
          add(out, 'month', monthText(s, c));
        }
        if (has('day')) {
          // A weekday without a month follows the day.
          if (has('weekday')) {
            const w = out[0];
            out.length = 0;
            add(out, 'day', dayText(s, c));
            add(out, 'literal', ' ');
            p.arrayPush(out, w);
          } else add(out, 'day', dayText(s, c));
        }
        if (has('year')) {
          join(out, ' ');
          add(out, 'year', yearText(s, c));
        }
      }
    } else words(s, c, out);
    if (has('era')) {
      join(out, ' ');
      const era = c.year > 0 ? ['Anno Domini', 'AD', 'A'] : ['Before Christ', 'BC', 'B'];
      add(out, 'era', f.era === 'long' ? era[0] : f.era === 'short' ? era[1] : era[2]);
    }
    return out;
  };
  // figures formats a numeric date in the locale's order. It omits a field that is not requested, and the separator before
  // it.
  const figures = (s, c, out) => {
    const f = s.fields, pattern = s.data[6], part = [];
    let wide = false, literal = '', first = true;
    for (let i = 0; i < pattern.length; i++) {
      const ch = pattern[i], name = ch === 'y' ? 'year' : ch === 'M' ? 'month' : ch === 'd' ? 'day' : undefined;
      if (ch === '0') wide = true;
      else if (name === undefined) literal += ch;
      else {
        if (f[name] !== undefined) {
          if (!first) p.arrayPush(part, intl.part('literal', literal));
          p.arrayPush(part, intl.part(name, name === 'year' ? yearText(s, c) : name === 'month' ? monthText(s, c, wide) : dayText(s, c, wide)));
          first = false;
        }
        wide = false;
        literal = '';
      }
    }
    for (let i = 0; i < part.length; i++) p.arrayPush(out, part[i]);
  };
  // words formats a date in English: "Friday, January 5, 2024", or with the day before the month outside America.
  const words = (s, c, out) => {
    const f = s.fields, american = s.data === intl.data['en-US'] || s.base === 'en-CA';
    if (american) {
      join(out, ', ');
      add(out, 'month', monthText(s, c));
      if (f.day !== undefined) {
        add(out, 'literal', ' ');
        add(out, 'day', dayText(s, c));
      }
      if (f.year !== undefined) {
        add(out, 'literal', f.day !== undefined ? ', ' : ' ');
        add(out, 'year', yearText(s, c));
      }
      return;
    }
    join(out, f.weekday === 'long' ? ' ' : ', ');
    if (f.day !== undefined) {
      add(out, 'day', dayText(s, c));
      add(out, 'literal', ' ');
    }
    add(out, 'month', monthText(s, c));
    if (f.year !== undefined) {
      add(out, 'literal', ' ');
      add(out, 'year', yearText(s, c));
    }
  };
  const timeParts = (s, c) => {
    const f = s.fields, out = [], half = s.hourCycle === 'h12' || s.hourCycle === 'h11';
    if (f.hour !== undefined) {
      const h = hourOf(s, c);
      add(out, 'hour', f.hour === '2-digit' || !half && !s.bareHour ? two(h) : `${h}`);
    }
    if (f.minute !== undefined) {
      join(out, ':');
      add(out, 'minute', f.hour !== undefined || f.second !== undefined ? two(c.minute) : `${c.minute}`);
    }
    if (f.second !== undefined) {
      join(out, ':');
      add(out, 'second', f.minute !== undefined ? two(c.second) : f.second === '2-digit' && f.minute !== undefined ? two(c.second) : `${c.second}`);
    }
    if (f.fractionalSecondDigits !== undefined) {
      join(out, '.');
      add(out, 'fractionalSecond', fractionText(s, c));
    }
    if (f.hour === undefined && f.dayPeriod !== undefined) {
      join(out, ' ');
      add(out, 'dayPeriod', periodText(f, c));
    } else if (f.hour !== undefined && half) {
      add(out, 'literal', '\u202f');
      const upper = s.data === intl.data['en-US'];
      add(out, 'dayPeriod', f.dayPeriod !== undefined ? periodText(f, c) : c.hour < 12 ? (upper ? 'AM' : 'am') : upper ? 'PM' : 'pm');
    }
    if (f.timeZoneName !== undefined) {
      join(out, ' ');
      add(out, 'timeZoneName', zoneText(s, c));
    }
    return out;
  };
  const parts = (s, time) => {
    if (time !== time || p.abs(time) > 8.64e15) throw new p.RangeError('Invalid time value');
    const c = clock(s, p.trunc(time));
    if (s.patterns !== undefined) return patternParts(s, c);
    const date = dateParts(s, c), time_ = timeParts(s, c), f = s.fields;
    if (date.length === 0) return time_;
    if (time_.length === 0) return date;
    const worded = f.month === 'long' || s.dateStyle === 'full' || s.dateStyle === 'long';
    add(date, 'literal', worded && f.hour !== undefined ? ' at ' : f.weekday !== undefined && f.month === undefined && f.year === undefined && f.hour !== undefined ? ' ' : f.hour === undefined ? ', ' : f.month === undefined || s.data === intl.data['en-US'] ? ', ' : s.data[7]);
    for (let i = 0; i < time_.length; i++) p.arrayPush(date, time_[i]);
    return date;
  };
  // plain returns the text of parts as format does: without the narrow spaces that formatToParts and ranges have.
  const plain = (list) => {
    const pieces = intl.split(intl.text(list), '\u202f');
    let text = pieces[0];
    for (let i = 1; i < pieces.length; i++) text += ` ${pieces[i]}`;
    return text;
  };
  // joinTimes puts a comma between a long date and a time, as ranges within a day have it.
  const joinTimes = (list) => {
    for (let i = 0; i < list.length; i++) if (list[i].type === 'literal' && list[i].value === ' at ') list[i] = intl.part('literal', ', ');
  };
  // rangeKey returns the key of a format in the host's patterns of ranges: see locales.mjs.
  const rangeKey = ({ dateStyle, timeStyle, fields: f }) => dateStyle !== undefined || timeStyle !== undefined ? `${dateStyle ?? ''}/${timeStyle ?? ''}`
    : `${p.arrayIndexOf(weekdays, f.weekday)}${p.arrayIndexOf(years, f.year)}${p.arrayIndexOf(months_, f.month)}${p.arrayIndexOf(years, f.day)}${p.arrayIndexOf(years, f.hour)}${p.arrayIndexOf(years, f.minute)}`;
  // patternRange returns the parts of a range by the host's patterns, null if both ends are the same, or undefined if it has none.
  const patternRange = (s, x, y) => {
    const f = s.fields;
    if (s.patterns === undefined || s.cycle !== undefined || (f.era ?? f.dayPeriod ?? f.fractionalSecondDigits ?? f.timeZoneName ?? f.second) !== undefined) return undefined;
    const data = intl.dataOf('range', s.base) ?? undefined, row = data?.sets[rangeKey(s)];
    if (row === undefined || x.year < 1 || y.year < 1) return undefined;
    const at = x.year !== y.year ? 0 : x.month !== y.month ? 1 : x.day !== y.day ? 2 : x.hour < 12 !== y.hour < 12 ? 3 : x.hour !== y.hour ? 4 : x.minute !== y.minute ? 5 : -1;
    if (at < 0 || row[at] === -2) return null;
    if (row[at] < 0) return undefined;
    const pattern = data.patterns[row[at]], out = [];
    let source = 'shared', from = 0;
    for (let i = 0; i <= pattern.length; i++) {
      const next = i === pattern.length ? 'shared' : pattern[i] === '\u0017' ? 'endRange' : pattern[i] === '\u0018' ? 'shared' : pattern[i] === '\u0019' ? 'startRange' : undefined;
      if (next === undefined) continue;
      const list = filled(s, source === 'endRange' ? y : x, p.slice(pattern, from, i), data.lists);
      for (let j = 0; j < list.length; j++) p.arrayPush(out, { type: list[j].type, value: list[j].value, source });
      source = next;
      from = i + 1;
    }
    return out;
  };
  // range returns the parts of a range, and whether both ends have the same text. In English it says once what both ends
  // share: "Jan 10 – 20, 2024".
  const range = (s, from, to) => {
    if (from === undefined || to === undefined) throw new p.TypeError('Invalid time value');
    const start = timeOf(from), end = timeOf(to);
    let a = parts(s, start), b = parts(s, end);
    const f = s.fields, x = clock(s, p.trunc(start)), y = clock(s, p.trunc(end)), timed = f.hour !== undefined, made = patternRange(s, x, y);
    if (made !== undefined) return { __proto__: null, same: made === null, parts: made ?? intl.rangeParts(a, a) };
    const sameYear = x.year === y.year, sameMonth = sameYear && x.month === y.month, sameDay = sameMonth && x.day === y.day;
    const fields = { __proto__: null, ...f };
    if (timed && !sameDay) {
      fields.year ??= 'numeric';
      fields.month ??= 'numeric';
      fields.day ??= 'numeric';
    } else if (f.day !== undefined && !sameMonth) {
      fields.month ??= 'numeric';
      if (!sameYear) fields.year ??= 'numeric';
    }
    const worded = f.month === 'long' || f.month === 'short' || f.month === 'narrow';
    if ((s.base === 'en-US' || s.base === 'en') && !sameDay && !worded) { // as the patterns of ranges have them
      if (fields.month !== undefined) fields.month = 'numeric';
      if (fields.day !== undefined) fields.day = 'numeric';
    }
    if (fields.year !== f.year || fields.month !== f.month || fields.day !== f.day) {
      const wider = { __proto__: null, ...s, fields };
      a = parts(wider, start);
      b = parts(wider, end);
    }
    const shared = { __proto__: null };
    if (p.startsWith(s.locale, 'en') && (timed ? sameDay : worded)) {
      shared.literal = shared.timeZoneName = true;
      shared.dayPeriod = f.second === undefined && x.hour < 12 === y.hour < 12;
      shared.era = shared.year = sameYear;
      shared.month = timed || sameMonth && f.day !== undefined && f.weekday === undefined;
      shared.day = shared.weekday = timed;
    }
    if (intl.text(a) === intl.text(b)) return { __proto__: null, same: true, parts: intl.rangeParts(a, b) };
    if (timed && sameDay) for (let i = 0; i < 2; i++) joinTimes(i === 0 ? a : b);
    const close = timed && sameDay && f.second === undefined && s.base === 'en-GB' && p.startsWith(s.hourCycle, 'h2');
    return { __proto__: null, same: false, parts: intl.rangeParts(a, b, close ? '–' : '\u2009–\u2009', undefined, shared) };
  };
  const rangeText = (r) => r.same ? plain(r.parts) : intl.text(r.parts);
  const timeOf = (v) => {
    if (v === undefined) return p.dateNow();
    try { return p.dateGetTime(v); } catch { return p.trunc(+v); }
  };

  // temporal returns the format of package Temporal that is like s if one of two values is of Temporal; otherwise undefined.
  const temporal = (s, a, b) => {
    if (internal.temporalText === undefined || !(isTemporal(a) || isTemporal(b))) return undefined;
    const options = { __proto__: null, timeZone: s.timeZone, hourCycle: s.hourCycle };
    if (s.dateStyle !== undefined || s.timeStyle !== undefined) {
      options.dateStyle = s.dateStyle;
      options.timeStyle = s.timeStyle;
    } else if (!s.byDefault) for (let i = 0; i < names.length; i++) options[names[i]] = s.fields[names[i]];
    return internal.temporalFormat(s.locale, options);
  };
  const isTemporal = (v) => typeof v === 'object' && v !== null && internal.temporalText(v) !== undefined;

  class DateTimeFormat {
    #s; #bound;
    constructor(locales = undefined, options = undefined) { this.#s = settings(locales, options, 'any', 'date'); }
    get format() {
      const s = this.#s;
      return this.#bound ??= ({ '': (date) => temporal(s, date)?.format(date) ?? plain(parts(s, timeOf(date))) })[''];
    }
    formatToParts(date) { return temporal(this.#s, date)?.formatToParts(date) ?? parts(this.#s, timeOf(date)); }
    formatRange(startDate, endDate) {
      return temporal(this.#s, startDate, endDate)?.formatRange(startDate, endDate) ?? rangeText(range(this.#s, startDate, endDate));
    }
    formatRangeToParts(startDate, endDate) {
      return temporal(this.#s, startDate, endDate)?.formatRangeToParts(startDate, endDate) ?? range(this.#s, startDate, endDate).parts;
    }
    resolvedOptions() {
      const s = this.#s, o = { __proto__: null, locale: s.locale, calendar: 'gregory', numberingSystem: s.number?.system ?? 'latn', timeZone: s.timeZone, hourCycle: s.hourCycle, hour12: s.hourCycle && (s.hourCycle === 'h12' || s.hourCycle === 'h11') };
      if (s.dateStyle !== undefined || s.timeStyle !== undefined) {
        o.dateStyle = s.dateStyle;
        o.timeStyle = s.timeStyle;
      } else for (let i = 0; i < names.length; i++) o[names[i]] = (names[i] === 'minute' || names[i] === 'second') && s.fields[names[i]] !== undefined ? '2-digit' : s.fields[names[i]];
      return intl.object(o);
    }
  }
  intl.service(DateTimeFormat, true, (tag) => intl.find(tag) ?? intl.dataOf('date', tag) ?? undefined);

  const method = (name, required, defaults) => {
    const lastSettings = intl.remembered((locales, options) => settings(locales, options, required, defaults));
    internal.define(p.Date.prototype, name, { [name](locales = undefined, options = undefined) {
      const time = p.dateGetTime(this), s = lastSettings(locales, options);
      return time !== time ? 'Invalid Date' : plain(parts(s, time));
    } }[name]);
  };
  method('toLocaleString', 'any', 'all');
  method('toLocaleDateString', 'date', 'date');
  method('toLocaleTimeString', 'time', 'time');
  return internal;
}
