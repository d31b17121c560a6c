// console, as specified by the Console standard and by Node. Each call is one log entry on the host.
(host, internal) => {
  'use strict';
  const { p, op, define, inspecting } = internal;
  const LOG = 0, INFO = 1, WARN = 2, ERROR = 3, DEBUG = 4;
  const { toFixed } = Number.prototype;
  const fixed = (n) => p.apply(toFixed, n, [3]);
  const duration = (ms) => {
    let hours = 0, minutes = 0;
    if (ms < 1000) return `${p.Number(fixed(ms))}ms`;
    if (ms < 60000) return `${fixed(ms / 1000)}s`;
    hours = p.floor(ms / 3600000);
    minutes = p.floor(ms % 3600000 / 60000);
    const seconds = p.padStart(fixed(ms % 60000 / 1000), 6, '0');
    return hours > 0 ? `${hours}:${p.padStart(`${minutes}`, 2, '0')}:${seconds} (h:mm:ss.mmm)` : `${minutes}:${seconds} (m:ss.mmm)`;
  };

  // methodsOf returns the methods of a console and write, which gives emit each text with the indentation of the groups, a
  // step for each.
  const methodsOf = (emit, inspectOptions, step = '  ') => {
    let indent = '';
    const counts = new p.Map(), times = new p.Map();
    const write = (level, text) => {
      if (indent !== '') text = indent + inspecting.indented(text, indent.length);
      emit(level, text);
    };
    const print = (level, args) => { write(level, internal.format(args, inspectOptions)); };
    const timed = (name, label, data) => {
      const since = p.mapGet(times, label);
      if (since === undefined) {
        write(WARN, `Warning: No such label '${label}' for console.${name}()`);
        return false;
      }
      const args = [`${label}: ${duration(internal.now() - since)}`];
      for (let i = 0; i < data.length; i++) p.arrayPush(args, data[i]);
      write(LOG, args.length === 1 ? args[0] : `${args[0]} ${internal.format(data)}`);
      return true;
    };

    const methods = {
      log(...data) { print(LOG, data); },
      warn(...data) { print(WARN, data); },
      error(...data) { print(ERROR, data); },
      info(...data) { print(INFO, data); },
      debug(...data) { print(DEBUG, data); },
      dir(item = undefined, options = undefined) {
        const o = { __proto__: null, customInspect: false };
        if (internal.isObject(options)) for (const name in inspecting.defaults) if (options[name] !== undefined) o[name] = options[name];
        write(LOG, internal.utilInspect(item, o));
      },
      dirxml(...data) { print(LOG, data); },
      trace(...data) {
        const text = internal.format(data);
        write(ERROR, `Trace${text === '' ? '' : `: ${text}`}${p.slice(internal.plainStack(), 5)}`);
      },
      assert(condition = false, ...data) {
        if (condition) return;
        if (data.length === 0) p.arrayPush(data, 'Assertion failed');
        else if (typeof data[0] === 'string') data[0] = `Assertion failed: ${data[0]}`;
        else p.arraySplice(data, 0, 0, 'Assertion failed:');
        print(WARN, data);
      },
      clear() {},
      count(label = 'default') {
        label = `${label}`;
        const n = (p.mapGet(counts, label) ?? 0) + 1;
        p.mapSet(counts, label, n);
        write(LOG, `${label}: ${n}`);
      },
      countReset(label = 'default') {
        label = `${label}`;
        if (!p.mapDelete(counts, label)) write(WARN, `Warning: Count for '${label}' does not exist`);
      },
      group(...data) {
        if (data.length > 0) print(LOG, data);
        if (indent.length < 1000) indent += step;
      },
      groupCollapsed(...data) {
        if (data.length > 0) print(LOG, data);
        if (indent.length < 1000) indent += step;
      },
      groupEnd() { indent = p.slice(indent, 0, indent.length - step.length); },
      table(tabularData = undefined, properties = undefined) {
        if (properties !== undefined && !p.isArray(properties)) throw internal.nodeWrongType('properties', 'an instance of Array', properties);
        if (tabularData === null || typeof tabularData !== 'object') print(LOG, [tabularData]);
        else write(LOG, inspecting.table(tabularData, properties));
      },
      time(label = 'default') {
        label = `${label}`;
        if (p.mapHas(times, label)) write(WARN, `Warning: Label '${label}' already exists for console.time()`);
        else p.mapSet(times, label, internal.now());
      },
      timeEnd(label = 'default') {
        label = `${label}`;
        if (timed('timeEnd', label, [])) p.mapDelete(times, label);
      },
      timeLog(label = 'default', ...data) {
        label = `${label}`;
        timed('timeLog', label, data);
      },
    };
    return { methods, write };
  };

  // begun returns and clears the unfinished line of process.stdout or process.stderr.
  const begun = (level) => internal.begun?.(level === WARN || level === ERROR) ?? '';
  internal.printLine = (isError, text) => { host(op.log, isError ? ERROR : LOG, text, 0); };
  const { methods, write } = methodsOf((level, text) => {
    if (internal.redirect === undefined || !internal.redirect(level === WARN || level === ERROR, text)) host(op.log, level, begun(level) + text, 0);
  });
  internal.print = (level, text) => { write(level === 'error' ? ERROR : level === 'warn' ? WARN : LOG, text); };
  internal.consoleTo = (emit, inspectOptions, step) => methodsOf((level, text) => { emit(level === WARN || level === ERROR, text); }, inspectOptions, step).methods;

  // console is a namespace object: its prototype is a separate empty object.
  const console = p.create({});
  const names = p.keys(methods);
  for (let i = 0; i < names.length; i++) p.defineProperty(console, names[i], { __proto__: null, value: methods[names[i]], writable: true, enumerable: true, configurable: true });
  p.defineProperty(console, Symbol.toStringTag, { __proto__: null, value: 'console', configurable: true });
  define(globalThis, 'console', console);
  return internal;
}
