// Node's process, os, timers, console, perf_hooks and constants: what common code needs to load. They reveal nothing about
// the host.
(host, internal) => {
  'use strict';
  const { p, modules, define, nodeError } = internal;
  const EventEmitter = modules.events;
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;

  let timeoutOf;
  class Immediate {
    #timeout;
    static { timeoutOf = (v) => v !== null && typeof v === 'object' && #timeout in v ? v.#timeout : undefined; }
    constructor(timeout) { this.#timeout = timeout; }
    hasRef() { return this.#timeout.hasRef(); }
    ref() { this.#timeout.ref(); return this; }
    unref() { this.#timeout.unref(); return this; }
    [Symbol.dispose]() { clearTimeout(this.#timeout); }
  }
  const setImmediate = function setImmediate(f, ...args) {
    if (typeof f !== 'function') throw internal.nodeWrongType('callback', 'of type function', f);
    return new Immediate(setTimeout(f, 0, ...args));
  };
  const clearImmediate = function clearImmediate(immediate) { clearTimeout(timeoutOf(immediate)); };
  define(globalThis, 'setImmediate', setImmediate);
  define(globalThis, 'clearImmediate', clearImmediate);

  const later = (f, ms, value, options, repeat) => new Promise((resolve, reject) => {
    const signal = options?.signal;
    if (signal?.aborted) throw internal.nodeAborted(signal);
    const id = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve(value); }, ms);
    const stop = () => { clearTimeout(id); reject(internal.nodeAborted(signal)); };
    signal?.addEventListener('abort', stop, { once: true });
  });
  const promises = {
    setTimeout: (ms, value, options) => later(setTimeout, ms, value, options),
    setImmediate: (value, options) => later(setTimeout, 0, value, options),
    async* setInterval(ms, value, options) { for (;;) { await promises.setTimeout(ms, undefined, options); yield value; } },
    scheduler: { wait: (ms, options) => promises.setTimeout(ms, undefined, options), yield: () => promises.setImmediate() },
  };
  modules['timers/promises'] = promises;
  modules.timers = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
  const promisified = Symbol.for('nodejs.util.promisify.custom');
  define(setTimeout, promisified, promises.setTimeout);
  define(setImmediate, promisified, promises.setImmediate);

  // exit ends the run with the value of output as its result.
  const exit = (code) => {
    if (code !== undefined) process.exitCode = code;
    internal.leave();
    process.reallyExit(process.exitCode);
  };
  const reallyExit = (code) => {
    internal.flushOutput();
    internal.sync('exit', (code ?? 0) | 0, internal.outputText());
  };
  // listened reports whether code listens for an event of the process. Libraries replace emit to see every event.
  const listened = (type) => process._events?.[type] !== undefined || p.hasOwn(process, 'emit');
  let leaving = false, drained = false;
  // leave tells the listeners of exit, once, that the run ends. A step of a session ends nothing.
  internal.leave = (code) => {
    if (leaving || internal.isStep) return;
    leaving = true;
    if (code !== undefined) process.exitCode = code;
    if (listened('exit')) process.emit('exit', (process.exitCode ?? 0) | 0);
  };
  // drain tells the listeners of beforeExit that nothing is pending, and reports whether there were any: they may have
  // started something. If nothing happened since it told them, it does not tell them again.
  internal.drain = (happened) => {
    if (drained && !happened || internal.isStep || !listened('beforeExit')) return false;
    drained = true;
    process.emit('beforeExit', (process.exitCode ?? 0) | 0);
    return true;
  };
  // caught reports whether a listener of uncaughtException took an error.
  internal.caught = (e, origin) => {
    if (leaving || !listened('uncaughtException') || process.listenerCount('uncaughtException') === 0) return false;
    process.emit('uncaughtException', e, origin);
    return true;
  };
  const refuse = (name) => () => { throw nodeError(Error, 'ERR_NOT_SUPPORTED', `process.${name} is not available in the sandbox`); };
  const milliseconds = () => globalThis.performance.now();
  const hrtime = (since) => {
    const ms = milliseconds();
    let seconds = Math.floor(ms / 1000), nanoseconds = Math.floor(ms % 1000 * 1e6);
    if (since !== undefined) {
      seconds -= since[0];
      nanoseconds -= since[1];
      if (nanoseconds < 0) { seconds--; nanoseconds += 1e9; }
    }
    return [seconds, nanoseconds];
  };
  hrtime.bigint = () => BigInt(Math.floor(milliseconds() * 1e6));
  // output writes complete lines to the console, one call for each write. It buffers an incomplete line, which the console
  // continues.
  const outputs = [], lines = [];
  const output = (isError) => {
    let line = '';
    const flush = (all) => {
      const end = all ? line.length : line.lastIndexOf('\n') + 1;
      if (end === 0) return;
      const text = line.slice(0, end);
      line = line.slice(end);
      internal.printLine(isError, p.endsWith(text, '\n') ? p.slice(text, 0, -1) : text);
    };
    outputs[outputs.length] = flush;
    lines[lines.length] = () => {
      const begun = line;
      line = '';
      return begun;
    };
    return Object.assign(Object.create(EventEmitter.prototype), {
      writable: true, columns: 80,
      write(chunk, encoding, done) {
        line += typeof chunk === 'string' ? chunk : modules.buffer.Buffer.from(chunk).toString();
        flush(line.length > 65536);
        (typeof encoding === 'function' ? encoding : done)?.();
        return true;
      },
      end(chunk) { if (chunk !== undefined) this.write(chunk); },
    });
  };
  internal.begun = (isError) => lines[isError ? 1 : 0]();
  internal.flushOutput = () => { for (let i = 0; i < outputs.length; i++) outputs[i](true); };

  const process = Object.assign(Object.create(EventEmitter.prototype), {
    title: 'airlock', pid: 1, ppid: 0, platform: 'linux', arch: 'x64', execPath: '/airlock', execArgv: [], argv: ['/airlock', '/script.js'], argv0: 'airlock', exitCode: undefined,
    version: 'v22.0.0', versions: { node: '22.0.0', quickjs: internal.engineVersion, airlock: '1' }, release: { name: 'node' }, config: { variables: {} }, features: {},
    env: {},
    stdout: output(false), stderr: output(true),
    cwd: () => '/', chdir: refuse('chdir'), umask: () => 18, uptime: () => milliseconds() / 1000, hrtime,
    exit, abort: () => reallyExit(134), reallyExit, kill: refuse('kill'), binding: refuse('binding'), dlopen: refuse('dlopen'), setuid: refuse('setuid'),
    getuid: () => 1000, geteuid: () => 1000, getgid: () => 1000, getegid: () => 1000, getgroups: () => [1000],
    memoryUsage: Object.assign(() => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }), { rss: () => 0 }),
    cpuUsage: () => ({ user: 0, system: 0 }), resourceUsage: () => ({}), availableMemory: () => 0, constrainedMemory: () => 0,
    nextTick(f, ...args) {
      if (typeof f !== 'function') throw internal.nodeWrongType('callback', 'of type function', f);
      internal.addTick(f, args);
    },
    emitWarning(w) { console.error(typeof w === 'string' ? `Warning: ${w}` : String(w)); },
    getBuiltinModule(id) {
      try {
        const module = internal.require(id);
        return internal.absent.has(module) ? undefined : module;
      } catch { return undefined; }
    },
  });
  internal.setArguments = (args) => {
    const argv = ['/airlock', '/script.js'];
    for (let i = 0; i < args.length; i++) p.arrayPush(argv, args[i]);
    p.defineProperty(process, 'argv', { __proto__: null, value: argv, writable: true, enumerable: true, configurable: true });
  };
  Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true });
  define(globalThis, 'process', process);
  modules.process = process;

  internal.emitRejection = (reason, promise) => process.listenerCount('unhandledRejection') > 0 && process.emit('unhandledRejection', reason, promise);

  const signals = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 };
  modules.os = {
    EOL: '\n', devNull: '/dev/null', constants: { signals, errno: {}, priority: {} },
    arch: () => 'x64', platform: () => 'linux', type: () => 'Linux', release: () => '0.0.0', version: () => 'airlock', machine: () => 'x86_64', endianness: () => 'LE',
    hostname: () => 'airlock', homedir: () => '/', tmpdir: () => '/tmp', uptime: () => 0, loadavg: () => [0, 0, 0], freemem: () => 0, totalmem: () => 0, availableParallelism: () => 1,
    cpus: () => [{ model: 'airlock', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }], networkInterfaces: () => ({}),
    userInfo: () => ({ uid: 1000, gid: 1000, username: 'guest', homedir: '/', shell: null }), getPriority: () => 0, setPriority() {},
  };
  modules.constants = { ...signals };
  modules.console = globalThis.console;
  modules.perf_hooks = { performance: globalThis.performance, PerformanceObserver: class PerformanceObserver { observe() {} disconnect() {} } };

  define(globalThis, 'navigator', Object.create({ get [Symbol.toStringTag]() { return 'Navigator'; } }, Object.getOwnPropertyDescriptors({
    hardwareConcurrency: 1, language: 'en-US', languages: Object.freeze(['en-US']), platform: 'linux', userAgent: 'Node.js/22',
  })));

  modules.module = { get builtinModules() { return Object.keys(modules); }, isBuiltin: (id) => modules[id.startsWith('node:') ? id.slice(5) : id] !== undefined, createRequire: () => globalThis.require };
  return internal;
}
