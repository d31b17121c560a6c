// performance: now, timeOrigin, marks and measures. The engine reads the run's clock, which the host coarsens. The clock
// of a seeded run advances only with timers. Reading the clock marks the run impure.
(host, internal) => {
  'use strict';
  const { p, define } = internal;
  const native = globalThis.performance;
  const { now } = native;
  const { EventTarget } = globalThis;
  internal.now = () => p.apply(now, native, []);
  let origin;
  const timeOrigin = () => origin ??= internal.sync('timeOrigin');

  class PerformanceEntry {
    #name; #type; #start; #duration;
    constructor(key = undefined, name = undefined, type = undefined, start = undefined, duration = undefined) {
      internal.illegal(key);
      this.#name = name;
      this.#type = type;
      this.#start = start;
      this.#duration = duration;
    }
    get name() { return this.#name; }
    get entryType() { return this.#type; }
    get startTime() { return this.#start; }
    get duration() { return this.#duration; }
    toJSON() { return { name: this.#name, entryType: this.#type, startTime: this.#start, duration: this.#duration }; }
  }
  internal.expose(PerformanceEntry);
  const invalidTime = (v) => internal.nodeError(p.TypeError, 'ERR_PERFORMANCE_INVALID_TIMESTAMP', `${v} is not a valid timestamp`);
  const invalidMeasure = (message) => internal.nodeError(p.TypeError, 'ERR_PERFORMANCE_MEASURE_INVALID_OPTIONS', message);
  const milestones = ['nodeStart', 'v8Start', 'environment', 'loopStart', 'loopExit', 'bootstrapComplete']; // no mark may have these names
  const detailOf = (options) => options.detail === undefined || options.detail === null ? null : internal.clone(options.detail);
  const PerformanceMark = internal.expose(class PerformanceMark extends PerformanceEntry {
    #detail;
    constructor(name, options = undefined) {
      internal.need(arguments.length, 1, 'PerformanceMark', ['name']);
      name = internal.text(name);
      if (p.arrayIndexOf(milestones, name) >= 0) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'name' is invalid. Received '${name}'`);
      const init = internal.dictionary(options, 'PerformanceMark: the second argument', 'options');
      const at = init.startTime === undefined ? internal.now() : +init.startTime;
      if (!(at >= 0)) throw invalidTime(at);
      super(internal.key, name, 'mark', at, 0);
      this.#detail = detailOf(init);
    }
    get detail() { return this.#detail; }
  });
  const PerformanceMeasure = internal.expose(class PerformanceMeasure extends PerformanceEntry {
    #detail;
    constructor(key = undefined, name = undefined, start = undefined, duration = undefined, detail = undefined) {
      super(key, name, 'measure', start, duration);
      this.#detail = detail;
    }
    get detail() { return this.#detail; }
  });

  let entries = [];
  const maxEntries = 10000;
  const keep = (entry) => {
    if (entries.length >= maxEntries) throw new p.RangeError(`too many performance entries (${maxEntries})`);
    p.arrayPush(entries, entry);
    return entry;
  };
  const select = (test) => {
    const out = [];
    for (let i = 0; i < entries.length; i++) if (test(entries[i])) p.arrayPush(out, entries[i]);
    return p.arraySort(out, (a, b) => a.startTime - b.startTime);
  };
  const timeOf = (mark) => {
    if (typeof mark === 'number') {
      if (!(mark >= 0)) throw invalidTime(mark);
      return mark;
    }
    const name = internal.text(mark);
    for (let i = entries.length - 1; i >= 0; i--) if (entries[i].name === name && entries[i].entryType === 'mark') return entries[i].startTime;
    throw internal.domError('SyntaxError', `The "${name}" performance mark has not been set`);
  };
  const clear = (type, name) => { entries = select((e) => e.entryType !== type || (name !== undefined && e.name !== internal.text(name))); };

  class Performance extends EventTarget {
    #brand;
    constructor(key = undefined) {
      internal.illegal(key);
      super();
    }
    now() {
      this.#brand;
      return internal.now();
    }
    get timeOrigin() {
      this.#brand;
      return timeOrigin();
    }
    mark(name, options = undefined) {
      internal.need(arguments.length, 1, 'Performance.mark', ['name']);
      return keep(new PerformanceMark(name, options));
    }
    measure(name, startOrOptions = undefined, endMark = undefined) {
      internal.need(arguments.length, 1, 'Performance.measure', ['name']);
      name = internal.text(name);
      const options = internal.isObject(startOrOptions) ? startOrOptions : { __proto__: null, start: startOrOptions };
      const { start, duration } = options;
      let { end } = options;
      if (internal.isObject(startOrOptions) && endMark !== undefined) throw invalidMeasure('endMark must not be specified');
      if (internal.isObject(startOrOptions) && start !== undefined && end !== undefined && duration !== undefined) throw invalidMeasure('Must not have options.start, options.end, and options.duration specified');
      end ??= endMark;
      const to = end !== undefined ? timeOf(end) : start !== undefined && duration !== undefined ? timeOf(start) + +duration : internal.now();
      const from = start !== undefined ? timeOf(start) : duration !== undefined ? to - +duration : 0;
      return keep(new PerformanceMeasure(internal.key, name, from, to - from, detailOf(options)));
    }
    clearMarks(name = undefined) { clear('mark', name); }
    clearMeasures(name = undefined) { clear('measure', name); }
    getEntries() { return select(() => true); }
    getEntriesByName(name, type = undefined) {
      internal.need(arguments.length, 1, 'Performance.getEntriesByName', ['name']);
      name = internal.text(name);
      return select((e) => e.name === name && (type === undefined || e.entryType === type));
    }
    getEntriesByType(type) {
      internal.need(arguments.length, 1, 'Performance.getEntriesByType', ['type']);
      type = internal.text(type);
      return select((e) => e.entryType === type);
    }
    toJSON() {
      this.#brand;
      return { timeOrigin: timeOrigin() };
    }
  }
  internal.expose(Performance);
  define(globalThis, 'performance', new Performance(internal.key));
  return internal;
}
