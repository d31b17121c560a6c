// Node's process, os, timers, console and constants: what common code needs to load. They reveal nothing about
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
  internal.isImmediate = (v) => timeoutOf(v) !== undefined;
  const setImmediate = function setImmediate(f, ...args) {
    if (typeof f !== 'function') throw internal.nodeWrongType('callback', 'of type function', f);
    return new Immediate(internal.setImmediate(f, args));
  };
  const clearImmediate = function clearImmediate(immediate) { clearTimeout(timeoutOf(immediate)); };
  define(globalThis, 'setImmediate', setImmediate);
  define(globalThis, 'clearImmediate', clearImmediate);

  const later = (f, ms, value, options, repeat) => new Promise((resolve, reject) => {
    const signal = options?.signal;
    if (signal !== undefined && (signal === null || typeof signal !== 'object' || !('aborted' in signal))) throw internal.nodeWrongType('options.signal', 'an instance of AbortSignal', signal);
    if (ms !== undefined && typeof ms !== 'number') throw internal.nodeWrongType('delay', 'of type number', ms);
    if (options?.ref !== undefined && typeof options.ref !== 'boolean') throw internal.nodeWrongType('options.ref', 'of type boolean', options.ref);
    if (signal?.aborted) throw internal.nodeAborted(signal);
    const id = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve(value); }, ms);
    const stop = () => { clearTimeout(id); reject(internal.nodeAborted(signal)); };
    signal?.addEventListener('abort', stop, { once: true });
  });
  const promises = {
    setTimeout: (ms, value, options) => later(setTimeout, ms, value, options),
    setImmediate: (value, options) => later((f) => internal.setImmediate(f, []), 0, value, options),
    async* setInterval(ms, value, options) { for (;;) { await promises.setTimeout(ms, undefined, options); yield value; } },
    scheduler: { wait: (ms, options) => promises.setTimeout(ms, undefined, options), yield: () => promises.setImmediate() },
  };
  modules['timers/promises'] = promises;
  modules.timers = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
  const promisified = Symbol.for('nodejs.util.promisify.custom');
  define(setTimeout, promisified, promises.setTimeout);
  define(setImmediate, promisified, promises.setImmediate);

  // codeOf checks an exit code as Node does: an integer, also as text.
  const codeOf = (code) => {
    const n = typeof code === 'string' && code !== '' ? +code : code;
    if (typeof n !== 'number' || n !== n) throw internal.nodeWrongType('code', 'of type number', code);
    if (!Number.isInteger(n)) throw internal.nodeOutOfRange('code', 'an integer', n);
    return code;
  };
  // exit ends the run with the value of output as its result.
  const exit = (code) => {
    if (code !== undefined) process.exitCode = codeOf(code);
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
  // leave calls the listeners of exit once, at the end of the run. The end of a session's step does not count.
  internal.leave = (code) => {
    if (leaving || internal.isStep) return;
    leaving = true;
    if (code !== undefined) process.exitCode = code;
    if (listened('exit')) process.emit('exit', (process.exitCode ?? 0) | 0);
    if (exitCode !== undefined && code === undefined && (exitCode | 0) !== 0) internal.sync('exit.code', exitCode | 0);
  };
  // drain calls the listeners of beforeExit when nothing is pending, and reports whether there were any, because they
  // may have started something. It does not call them again if nothing has happened since.
  internal.drain = (happened) => {
    if (drained && !happened || internal.isStep || !listened('beforeExit')) return false;
    drained = true;
    process.emit('beforeExit', (process.exitCode ?? 0) | 0);
    return true;
  };
  // caught reports whether a listener of uncaughtException handled an error.
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
      if (!Array.isArray(since)) throw internal.nodeWrongType('time', 'an instance of Array', since);
      if (since.length !== 2) throw internal.nodeOutOfRange('time', '2', since.length);
      seconds -= since[0];
      nanoseconds -= since[1];
      if (nanoseconds < 0) { seconds--; nanoseconds += 1e9; }
    }
    return [seconds, nanoseconds];
  };
  hrtime.bigint = () => BigInt(Math.floor(milliseconds() * 1e6));
  // output writes complete lines to the console, one call for each write. It buffers an incomplete line, which the console
  // continues.
  const outputs = [], lines = [], writes = [];
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
    const write = (chunk, encoding) => {
      const { Buffer } = modules.buffer;
      if (chunk === null) throw nodeError(TypeError, 'ERR_STREAM_NULL_VALUES', 'May not write null values to stream');
      if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk)) throw internal.nodeWrongType('chunk', 'of type string or an instance of Buffer, TypedArray, or DataView', chunk);
      if (typeof encoding === 'string' && encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`);
      line += typeof chunk !== 'string' ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString()
        : typeof encoding === 'string' ? Buffer.from(chunk, encoding).toString() : chunk;
      flush(line.length > 65536);
    };
    writes[writes.length] = write;
    return Object.assign(Object.create(EventEmitter.prototype), {
      fd: isError ? 2 : 1,
      write(chunk, encoding, done) {
        write(chunk, encoding);
        const written = typeof encoding === 'function' ? encoding : done;
        if (typeof written === 'function') process.nextTick(written);
        return true;
      },
    });
  };
  internal.begun = (isError) => lines[isError ? 1 : 0]();
  internal.writeOutput = (isError, chunk) => writes[isError ? 1 : 0](chunk);
  internal.flushOutput = () => { for (let i = 0; i < outputs.length; i++) outputs[i](true); };

  // environment returns an object whose values are text.
  const environment = () => new Proxy({}, {
    set(o, name, value) {
      if (typeof name === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
      o[name] = `${value}`;
      return true;
    },
  });
  let folder = '/';
  internal.cwd = () => folder;
  const process = Object.assign(Object.create(EventEmitter.prototype), {
    title: 'airlock', pid: 1, ppid: 0, platform: 'linux', arch: 'x64', execPath: '/airlock', execArgv: [], argv: ['/airlock', '/script.js'], argv0: 'airlock', exitCode: undefined,
    version: 'v22.0.0', versions: { node: '22.0.0', quickjs: internal.engineVersion, airlock: '1' }, release: { name: 'node' }, config: { variables: {} }, features: {},
    env: environment(),
    stdout: output(false), stderr: output(true),
    cwd: internal.cwd, chdir(directory) { folder = internal.changeFolder(folder, directory); }, umask: () => 18, uptime: () => milliseconds() / 1000, hrtime,
    exit, abort: () => reallyExit(134), reallyExit, kill: refuse('kill'), binding: refuse('binding'), dlopen: refuse('dlopen'), setuid: refuse('setuid'),
    getuid: () => 1000, geteuid: () => 1000, getgid: () => 1000, getegid: () => 1000, getgroups: () => [1000],
    memoryUsage: Object.assign(() => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }), { rss: () => 0 }),
    cpuUsage: () => ({ user: 0, system: 0 }), resourceUsage: () => ({}), availableMemory: () => 0, constrainedMemory: () => 0,
    nextTick(f, ...args) {
      if (typeof f !== 'function') throw internal.nodeWrongType('callback', 'of type function', f);
      internal.addTick(f, args);
    },
    emitWarning(warning, type, code) {
      const o = type !== null && typeof type === 'object' ? type : { type, code };
      if (typeof warning === 'string') {
        const name = typeof o.type === 'string' ? o.type : 'Warning';
        warning = Object.assign(new Error(warning), o.code === undefined ? {} : { code: o.code }, o.detail === undefined ? {} : { detail: o.detail });
        define(warning, 'name', name);
      } else if (!(warning instanceof Error)) throw internal.nodeWrongType('warning', 'of type string or an instance of Error', warning);
      const deprecation = warning.name === 'DeprecationWarning';
      if (deprecation && process.noDeprecation) return;
      process.nextTick(() => {
        if (deprecation && process.throwDeprecation) throw warning;
        console.error(`(node:${process.pid}) ${warning.code === undefined ? '' : `[${warning.code}] `}${warning.name}: ${warning.message}${warning.detail === undefined ? '' : `\n${warning.detail}`}`);
        process.emit('warning', warning);
      });
    },
    getBuiltinModule(id) {
      try {
        const module = internal.require(id);
        return internal.absent.has(module) ? undefined : module;
      } catch { return undefined; }
    },
  });
  let exitCode;
  Object.defineProperty(process, 'exitCode', { get: () => exitCode, set: (code) => { exitCode = code === undefined || code === null ? code : codeOf(code); }, enumerable: true, configurable: false });
  internal.setArguments = (args) => {
    const argv = ['/airlock', '/script.js'];
    for (let i = 0; i < args.length; i++) p.arrayPush(argv, args[i]);
    p.defineProperty(process, 'argv', { __proto__: null, value: argv, writable: true, enumerable: true, configurable: true });
  };
  Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true });
  define(globalThis, 'process', process);
  modules.process = process;

  internal.emitRejection = (reason, promise) => process.listenerCount('unhandledRejection') > 0 && process.emit('unhandledRejection', reason, promise);

  const numbers = (from, names) => Object.assign(Object.create(null), Object.fromEntries(names.split(' ').map((name, i) => [name, i + from]).filter(([name]) => name !== '-')));
  const signals = numbers(1, 'SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS');
  const errno = numbers(1, 'EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT - EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP');
  Object.assign(errno, numbers(95, 'EOPNOTSUPP - EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN - - ETIMEDOUT ECONNREFUSED - EHOSTUNREACH EALREADY EINPROGRESS'), { ENOTSUP: 95, EWOULDBLOCK: 11 });
  const priority = Object.assign(Object.create(null), { PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14, PRIORITY_HIGHEST: -20 });
  modules.os = {
    EOL: '\n', devNull: '/dev/null', constants: { signals, errno, priority },
    arch: () => 'x64', platform: () => 'linux', type: () => 'Linux', release: () => '0.0.0', version: () => 'airlock', machine: () => 'x86_64', endianness: () => 'LE',
    hostname: () => 'airlock', homedir: () => '/', tmpdir: () => '/tmp', uptime: () => 0, loadavg: () => [0, 0, 0], freemem: () => 0, totalmem: () => 0, availableParallelism: () => 1,
    cpus: () => [{ model: 'airlock', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }], networkInterfaces: () => ({}),
    userInfo: () => ({ uid: 1000, gid: 1000, username: 'guest', homedir: '/', shell: null }), getPriority: () => 0, setPriority() {},
  };
  modules.constants = { ...signals, ...errno };
  // A Console prints to streams of its own.
  const printing = Symbol('methods');
  function Console(stdout, stderr, ignoreErrors) {
    if (new.target === undefined) return Reflect.construct(Console, arguments);
    const options = typeof stdout?.write === 'function' || typeof stdout !== 'object' || stdout === null ? { stdout, stderr, ignoreErrors } : stdout;
    for (const name of ['stdout', 'stderr']) {
      const stream = options[name] ?? options.stdout;
      if (typeof stream?.write !== 'function') throw internal.nodeError(TypeError, 'ERR_CONSOLE_WRITABLE_STREAM', `Console expects a writable stream instance for ${name}`);
      define(this, `_${name}`, stream);
    }
    define(this, printing, internal.consoleTo((isError, text) => { (isError ? this._stderr : this._stdout).write(`${text}\n`); }, options.inspectOptions, ' '.repeat(options.groupIndentation ?? 2)));
    for (const name of Object.keys(this[printing])) {
      const f = this[name];
      Object.defineProperty(this, name, { __proto__: null, value: { [name]: (...args) => f.apply(this, args) }[name], writable: true, enumerable: true, configurable: true });
    }
  }
  for (const name of Object.keys(internal.consoleTo())) Console.prototype[name] = { [name](...args) { return this[printing][name](...args); } }[name];
  Object.defineProperty(Console, Symbol.hasInstance, { value: (v) => v === globalThis.console || Console.prototype.isPrototypeOf(v) });
  globalThis.console.Console = Console;
  modules.console = globalThis.console;

  define(globalThis, 'navigator', Object.create({ get [Symbol.toStringTag]() { return 'Navigator'; } }, Object.getOwnPropertyDescriptors({
    hardwareConcurrency: 1, language: 'en-US', languages: Object.freeze(['en-US']), platform: 'linux', userAgent: 'Node.js/22',
  })));

  modules.module = { get builtinModules() { return Object.keys(modules); }, isBuiltin: (id) => id === 'node:test' || modules[id.startsWith('node:') ? id.slice(5) : id] !== undefined, createRequire: () => globalThis.require };
  return internal;
}
