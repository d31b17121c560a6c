// Temporal, which temporal_bundle.js implements. Few programs use it, so it is evaluated when code first reads the global:
// the image holds only its code.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const kinds = ['PlainDate', 'PlainTime', 'PlainDateTime', 'PlainYearMonth', 'PlainMonthDay', 'ZonedDateTime', 'Instant', 'Duration'];

  let bundle, loading = false;
  // load evaluates the bundle once. It returns undefined to the bundle itself, which may read the global.
  const load = () => {
    if (bundle !== undefined || loading) return bundle;
    loading = true;
    try {
      const made = internal.makeTemporal(), { Temporal, Intl: extended } = made;
      const texts = new p.Map(); // prototype → toString
      for (let i = 0; i < kinds.length; i++) {
        const { prototype } = Temporal[kinds[i]];
        p.mapSet(texts, prototype, { __proto__: null, name: `Temporal.${kinds[i]}`, toString: p.uncurry(prototype.toString) });
      }
      // temporalFormat returns a DateTimeFormat that formats values of Temporal.
      internal.temporalFormat = (locale, options) => new extended.DateTimeFormat(locale, options);
      // temporalText returns a value of Temporal as inspect prints it, and undefined for any other object.
      internal.temporalText = (v) => {
        for (let o = p.getPrototypeOf(v); o !== null; o = p.getPrototypeOf(o)) {
          const kind = p.mapGet(texts, o);
          if (kind === undefined) continue;
          try { return `${kind.name} ${kind.toString(v)}`; } catch { return undefined; }
        }
        return undefined;
      };
      return bundle = made;
    } finally { loading = false; }
  };

  p.defineProperty(globalThis, 'Temporal', {
    __proto__: null, enumerable: false, configurable: true,
    get: { Temporal() {
      const made = load();
      if (made === undefined) return undefined;
      define(globalThis, 'Temporal', made.Temporal);
      return made.Temporal;
    } }.Temporal,
    set: { Temporal(value) { define(globalThis, 'Temporal', value); } }.Temporal,
  });
  const { toTemporalInstant } = { toTemporalInstant() { return p.apply(load().toTemporalInstant, this, []); } };
  define(p.Date.prototype, 'toTemporalInstant', toTemporalInstant);
  return internal;
}
