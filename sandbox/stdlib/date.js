// Date strings include the name of the time zone, as Node's do. A guest's time zone is always UTC.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const toString = p.uncurry(p.Date.prototype.toString), toTimeString = p.uncurry(p.Date.prototype.toTimeString);
  const zoned = (s) => p.endsWith(s, ' GMT+0000') ? `${s} (Coordinated Universal Time)` : s;

  define(p.Date.prototype, 'toString', { toString() { return zoned(toString(this)); } }.toString);
  define(p.Date.prototype, 'toTimeString', { toTimeString() { return zoned(toTimeString(this)); } }.toTimeString);

  // On quickjs-ng 0.10.1 a setter that gets a number that is not finite returns NaN and leaves the date as it was. The
  // host mends the other build.
  const whole = new p.Date(0);
  p.Date.prototype.setHours.call(whole, NaN);
  if (p.dateGetTime(whole) !== 0) return internal;
  const setTime = p.uncurry(p.Date.prototype.setTime);
  for (const { 0: key, 1: length } of [
    ['Milliseconds', 1], ['Seconds', 2], ['Minutes', 3], ['Hours', 4], ['Date', 1], ['Month', 2], ['FullYear', 3], ['Year', 1],
  ]) for (const name of key === 'Year' ? ['setYear'] : [`set${key}`, `setUTC${key}`]) {
    const native = p.Date.prototype[name];
    const set = { [name]() {
      const before = p.dateGetTime(this), after = p.apply(native, this, arguments);
      if (after !== after && (before === before || p.endsWith(key, 'Year'))) setTime(this, NaN);
      return after;
    } }[name];
    p.defineProperty(set, 'length', { __proto__: null, value: length });
    define(p.Date.prototype, name, set);
  }
  return internal;
}
