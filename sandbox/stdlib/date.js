// Date strings include the name of the time zone, as Node's do. A guest's time zone is always UTC.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const toString = p.uncurry(p.Date.prototype.toString), toTimeString = p.uncurry(p.Date.prototype.toTimeString);
  const zoned = (s) => p.endsWith(s, ' GMT+0000') ? `${s} (Coordinated Universal Time)` : s;

  define(p.Date.prototype, 'toString', { toString() { return zoned(toString(this)); } }.toString);
  define(p.Date.prototype, 'toTimeString', { toTimeString() { return zoned(toTimeString(this)); } }.toTimeString);
  return internal;
}
