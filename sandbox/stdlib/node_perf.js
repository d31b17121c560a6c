// Node's perf_hooks: observers, histograms and timed functions.
(host, internal) => {
  'use strict';
  const { define, modules } = internal;
  const { performance, PerformanceEntry, PerformanceMark, PerformanceMeasure } = globalThis;
  const { mark, measure } = performance;

  const observers = new Set(), types = ['function', 'mark', 'measure'];
  const told = (entry) => {
    for (const o of observers) if (o.types.has(entry.entryType)) o.add(entry);
  };
  class PerformanceObserverEntryList {
    #entries;
    constructor(entries) { this.#entries = entries; }
    getEntries() { return this.#entries.slice(); }
    getEntriesByType(type) { return this.#entries.filter((e) => e.entryType === String(type)); }
    getEntriesByName(name, type) { return this.#entries.filter((e) => e.name === String(name) && (type === undefined || e.entryType === String(type))); }
  }
  class PerformanceObserver {
    #callback; #entries = []; #state = { types: new Set(), add: (entry) => this.#add(entry) };
    constructor(callback) {
      if (typeof callback !== 'function') throw internal.nodeWrongType('callback', 'of type function', callback);
      this.#callback = callback;
    }
    #add(entry) {
      if (this.#entries.push(entry) > 1) return;
      setImmediate(() => {
        if (this.#entries.length > 0) this.#callback.call(this, new PerformanceObserverEntryList(this.takeRecords()), this);
      });
    }
    observe(options = {}) {
      if (typeof options !== 'object' || options === null) throw internal.nodeWrongType('options', 'of type object', options);
      const { entryTypes, type, buffered } = options;
      if (entryTypes === undefined && type === undefined) throw internal.nodeError(TypeError, 'ERR_MISSING_ARGS', 'The "options.entryTypes" and "options.type" arguments must be specified');
      if (entryTypes !== undefined && type !== undefined) throw internal.nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.entryTypes' options.entryTypes can not set with options.type together. Received ${internal.inspect(entryTypes)}`);
      if (entryTypes !== undefined && !Array.isArray(entryTypes)) throw internal.nodeWrongType('options.entryTypes', 'string[]', entryTypes);
      for (const name of entryTypes ?? [type]) if (types.includes(name)) this.#state.types.add(name);
      if (this.#state.types.size > 0) observers.add(this.#state);
      if (type !== undefined && buffered) for (const entry of performance.getEntriesByType(type)) this.#add(entry);
    }
    disconnect() {
      observers.delete(this.#state);
      this.#state.types.clear();
      this.#entries = [];
    }
    takeRecords() { return this.#entries.splice(0); }
    static get supportedEntryTypes() { return types.slice(); }
  }
  for (const [name, f] of [['mark', mark], ['measure', measure]]) {
    define(Object.getPrototypeOf(performance), name, { [name](...args) {
      const entry = f.apply(this, args);
      if (observers.size > 0) told(entry);
      return entry;
    } }[name]);
  }

  // A RecordableHistogram keeps the values that it has recorded.
  class RecordableHistogram {
    #values = []; #sorted = true; #exceeds = 0;
    record(value) {
      if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) throw internal.nodeWrongType('val', 'of type number', value);
      if (value < 1) throw internal.nodeOutOfRange('val', '>= 1 && <= 9007199254740991', value);
      if (this.#values.length >= 100000) this.#exceeds++;
      else this.#values.push(Number(value));
      this.#sorted = false;
    }
    recordDelta() {
      const now = performance.now(), before = this.last;
      define(this, 'last', now);
      if (before !== undefined) this.record(Math.max(Math.round((now - before) * 1e6), 1));
    }
    add(other) { for (const value of other.#values) this.record(value); }
    reset() {
      this.#values = [];
      this.#exceeds = 0;
    }
    #all() {
      if (!this.#sorted) this.#values.sort((a, b) => a - b);
      this.#sorted = true;
      return this.#values;
    }
    get count() { return this.#values.length; }
    get countBigInt() { return BigInt(this.count); }
    get exceeds() { return this.#exceeds; }
    get min() { return this.#all()[0] ?? 9223372036854776000; }
    get max() { return this.#all().at(-1) ?? 0; }
    get mean() { return this.#values.reduce((a, b) => a + b, 0) / this.#values.length; }
    get stddev() {
      const { mean } = this;
      return Math.sqrt(this.#values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / this.#values.length);
    }
    percentile(percent) {
      if (typeof percent !== 'number') throw internal.nodeWrongType('percentile', 'of type number', percent);
      if (!(percent > 0 && percent <= 100)) throw internal.nodeOutOfRange('percentile', '> 0 && <= 100', percent);
      const all = this.#all();
      return all[Math.ceil(percent / 100 * all.length) - 1] ?? 0;
    }
    get percentiles() {
      const out = new Map();
      if (this.count > 0) for (let left = 100; ; left /= 2) {
        out.set(100 - left, left === 100 ? this.min : this.percentile(100 - left));
        if (this.count * left / 100 < 1) break;
      }
      return out.set(100, this.max);
    }
    get minBigInt() { return BigInt(this.min); }
    get maxBigInt() { return BigInt(this.max); }
    get exceedsBigInt() { return BigInt(this.exceeds); }
    percentileBigInt(percent) { return BigInt(this.percentile(percent)); }
    get percentilesBigInt() {
      const out = new Map();
      for (const [k, v] of this.percentiles) out.set(k, BigInt(v));
      return out;
    }
    toJSON() {
      const { count, min, max, mean, exceeds, stddev } = this;
      return { count, min, max, mean, exceeds, stddev, percentiles: Object.fromEntries(this.percentiles) };
    }
    [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
      const { min, max, mean, exceeds, stddev, count, percentiles } = this;
      return `Histogram ${inspect({ min, max, mean, exceeds, stddev, count, percentiles }, options)}`;
    }
  }
  // An ELDHistogram has no values: only the guest itself delays its loop.
  class ELDHistogram extends RecordableHistogram {
    #enabled = false;
    #enable(on) {
      const changed = this.#enabled !== on;
      this.#enabled = on;
      return changed;
    }
    enable() { return this.#enable(true); }
    disable() { return this.#enable(false); }
  }

  const object = (v, name) => {
    if (v === null || typeof v !== 'object') throw internal.nodeWrongType(name, 'of type object', v);
    return v;
  };
  const { integer } = internal.check;
  const { MAX_SAFE_INTEGER } = Number;
  const createHistogram = function createHistogram(options = {}) {
    const { lowest = 1, highest = MAX_SAFE_INTEGER, figures = 3 } = object(options, 'options');
    if (typeof lowest !== 'bigint') integer(lowest, 'options.lowest', 1, MAX_SAFE_INTEGER);
    if (typeof highest !== 'bigint') integer(highest, 'options.highest', 2 * Number(lowest), MAX_SAFE_INTEGER);
    else if (highest < 2n * BigInt(lowest)) throw internal.nodeError(RangeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.highest' is invalid. Received ${highest}n`);
    integer(figures, 'options.figures', 1, 5);
    return new RecordableHistogram();
  };
  const monitorEventLoopDelay = function monitorEventLoopDelay(options = {}) {
    const { resolution = 10 } = object(options, 'options');
    integer(resolution, 'options.resolution', 1, MAX_SAFE_INTEGER);
    return new ELDHistogram();
  };

  const timed = (f, options = {}) => {
    if (typeof f !== 'function') throw internal.nodeWrongType('fn', 'of type function', f);
    const { histogram } = object(options, 'options');
    if (histogram !== undefined && !(histogram instanceof RecordableHistogram)) throw internal.nodeWrongType('options.histogram', 'an instance of RecordableHistogram', histogram);
    const done = (start, args) => {
      const end = performance.now();
      histogram?.record(Math.max(Math.ceil((end - start) * 1e6), 1));
      if (observers.size > 0) told({ name: f.name, entryType: 'function', startTime: start, duration: end - start, detail: args });
    };
    const timerified = function (...args) {
      const start = performance.now();
      const result = new.target === undefined ? Reflect.apply(f, this, args) : Reflect.construct(f, args, f);
      if (typeof result?.finally === 'function') return result.finally(() => done(start, args));
      done(start, args);
      return result;
    };
    Object.defineProperties(timerified, { length: { value: f.length, configurable: true }, name: { value: `timerified ${f.name}`, configurable: true } });
    return timerified;
  };
  const toJSON = function () { return { ...this }; };
  const own = {
    toJSON: function toJSON() { return { nodeTiming: this.nodeTiming, timeOrigin: this.timeOrigin, eventLoopUtilization: this.eventLoopUtilization() }; },
    clearResourceTimings: function clearResourceTimings() {}, setResourceTimingBufferSize: function setResourceTimingBufferSize() {},
    timerify: function timerify(fn, options) { return timed(fn, options); },
    eventLoopUtilization: function eventLoopUtilization() { return { idle: 0, active: 0, utilization: 0 }; },
    nodeTiming: { name: 'node', entryType: 'node', startTime: 0, duration: 0, nodeStart: 0, v8Start: 0, bootstrapComplete: 0, environment: 0, loopStart: 0, loopExit: -1, idleTime: 0 },
  };
  define(own.nodeTiming, 'toJSON', toJSON);
  for (const name of Object.keys(own)) define(Object.getPrototypeOf(performance), name, own[name]);
  define(globalThis, 'PerformanceObserver', PerformanceObserver);
  define(globalThis, 'PerformanceObserverEntryList', PerformanceObserverEntryList);
  modules.perf_hooks = {
    PerformanceEntry, PerformanceMark, PerformanceMeasure, PerformanceObserver, PerformanceObserverEntryList, Performance: performance.constructor,
    monitorEventLoopDelay, createHistogram,
    performance, constants: { NODE_PERFORMANCE_GC_MAJOR: 4, NODE_PERFORMANCE_GC_MINOR: 1, NODE_PERFORMANCE_GC_INCREMENTAL: 8, NODE_PERFORMANCE_GC_WEAKCB: 16 },
  };
  return internal;
}
