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
    constructor(timeout) { this.#timeout = timeout; internal.callFor(this); }
    get _destroyed() { return this.#timeout._destroyed; }
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

  // checkWait throws if the arguments of a timer that is a promise are not of Node's types.
  const checkWait = (ms, options) => {
    if (options !== undefined && (options === null || typeof options !== 'object')) throw internal.nodeWrongType('options', 'of type object', options);
    if (ms !== undefined && typeof ms !== 'number') throw internal.nodeWrongType('delay', 'of type number', ms);
    const { signal, ref } = options ?? {};
    internal.nodeSignal(signal);
    if (ref !== undefined && typeof ref !== 'boolean') throw internal.nodeWrongType('options.ref', 'of type boolean', ref);
    return { signal, idle: ref === false };
  };
  const later = (start, stop, ms, value, options) => new Promise((resolve, reject) => {
    const { signal, idle } = checkWait(ms, options);
    if (signal?.aborted) throw internal.nodeAborted(signal);
    const id = start(() => { signal?.removeEventListener('abort', aborted); resolve(value); }, ms);
    const aborted = () => { stop(id); reject(internal.nodeAborted(signal)); };
    if (idle) id.unref();
    signal?.addEventListener('abort', aborted, { once: true });
  });
  const scheduling = Symbol('kScheduler');
  class Scheduler {
    constructor(key) { internal.illegal(key); }
    yield() { return this[scheduling].setImmediate(); }
    wait(ms, options) { return this[scheduling].setTimeout(ms, undefined, options); }
  }
  const promises = {
    setTimeout: function setTimeout(ms, value, options) { return later(globalThis.setTimeout, clearTimeout, ms, value, options); },
    setImmediate: function setImmediate(value, options) { return later(immediate, clearImmediate, undefined, value, options); },
    async* setInterval(ms, value, options) {
      const { signal, idle } = checkWait(ms, options);
      if (signal?.aborted) throw internal.nodeAborted(signal);
      let due = 0, wake = () => {};
      const id = interval(() => { due++; wake(); }, ms), woken = () => wake();
      if (idle) id.unref();
      signal?.addEventListener('abort', woken, { once: true });
      try {
        for (;;) {
          if (due === 0 && !signal?.aborted) await new Promise((resolve) => { wake = resolve; });
          for (; due > 0; due--) yield value;
          if (signal?.aborted) throw internal.nodeAborted(signal);
        }
      } finally {
        clearInterval(id);
        signal?.removeEventListener('abort', woken);
      }
    },
    scheduler: new Scheduler(internal.key),
  };
  const interval = setInterval, immediate = setImmediate;
  define(promises.scheduler, scheduling, promises);
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
  let leaving = false, drained = false, captureCallback = null;
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
    if (leaving) return false;
    if (captureCallback !== null) {
      captureCallback(e);
      return true;
    }
    if (!listened('uncaughtException') || process.listenerCount('uncaughtException') === 0) return false;
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
  const outputs = [], lines = [], writes = [], redirects = [];
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
    const stream = Object.assign(Object.create(EventEmitter.prototype), {
      fd: isError ? 2 : 1,
      write(chunk, encoding, done) {
        write(chunk, encoding);
        const written = typeof encoding === 'function' ? encoding : done;
        if (typeof written === 'function') process.nextTick(written);
        return true;
      },
    });
    const own = stream.write;
    redirects[redirects.length] = (text) => {
      if (stream.write === own) return false;
      toStream(stream, text);
      return true;
    };
    return stream;
  };
  // toStream writes a line. As in Node, the console ignores what the stream throws.
  const toStream = (stream, text) => {
    try { stream.write(`${text}\n`); } catch (e) { if (e instanceof RangeError && /call stack/.test(e.message)) throw e; }
  };
  // redirect gives a line of the console to the write that the guest has set, and reports whether it has set one.
  internal.redirect = (isError, text) => redirects[isError ? 1 : 0](text);
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
    defineProperty(o, name, d) {
      const refused = (why) => nodeError(TypeError, 'ERR_INVALID_OBJECT_DEFINE_PROPERTY', `'process.env' ${why}`);
      if ('get' in d || 'set' in d) throw refused('does not accept an accessor(getter/setter) descriptor');
      const whole = d.configurable && d.writable && d.enumerable;
      if ('value' in d && !whole) throw refused('only accepts a configurable, writable, and enumerable data descriptor');
      if ('value' in d) o[name] = `${d.value}`;
      return true;
    },
  });
  // maskOf returns the number that a mask of permissions stands for.
  const maskOf = (v) => {
    if (typeof v === 'string') {
      if (!/^[0-7]+$/.test(v)) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'mask' must be a 32-bit unsigned integer or an octal string. Received ${internal.inspect(v)}`);
      v = parseInt(v, 8);
    }
    if (typeof v !== 'number') throw internal.nodeWrongType('mask', 'of type number', v);
    if (!Number.isInteger(v)) throw internal.nodeOutOfRange('mask', 'an integer', v);
    if (v < 0 || v > 0xffffffff) throw internal.nodeOutOfRange('mask', '>= 0 && <= 4294967295', v);
    return v;
  };
  let mask = 0o22;
  const times = (previous) => {
    if (previous !== undefined) {
      if (previous === null || typeof previous !== 'object' || Array.isArray(previous)) throw internal.nodeWrongType('prevValue', 'of type object', previous);
      for (const name of ['user', 'system']) {
        const v = previous[name];
        if (typeof v !== 'number') throw internal.nodeWrongType(`prevValue.${name}`, 'of type number', v);
        if (!(v >= 0 && v <= Number.MAX_SAFE_INTEGER)) throw nodeError(RangeError, 'ERR_INVALID_ARG_VALUE', `The property 'prevValue.${name}' is invalid. Received ${internal.inspect(v)}`);
      }
    }
    return { user: 0, system: 0 };
  };
  const usage = 'userCPUTime systemCPUTime maxRSS sharedMemorySize unsharedDataSize unsharedStackSize minorPageFault majorPageFault swappedOut fsRead fsWrite ipcSent ipcReceived signalsCount voluntaryContextSwitches involuntaryContextSwitches'.split(' ');
  // identity is process.setuid and its like: it checks its argument as Node does, and refuses.
  const identity = (name) => (id) => {
    if (typeof id !== 'number' && typeof id !== 'string') throw internal.nodeWrongType('id', 'one of type number or string', id);
    refuse(name)();
  };
  let folder = '/';
  internal.cwd = () => folder;
  const prototype = Object.create(EventEmitter.prototype, { constructor: { __proto__: null, value: function process() { throw new TypeError('Illegal constructor'); }, writable: true, configurable: true } });
  prototype.constructor.prototype = prototype;
  const process = Object.assign(Object.create(prototype), {
    title: 'airlock', pid: 1, ppid: 0, platform: 'linux', arch: 'x64', execPath: '/airlock', execArgv: [], argv: ['/airlock', '/script.js'], argv0: 'airlock', exitCode: undefined,
    version: 'v22.0.0', versions: { node: '22.0.0', quickjs: internal.engineVersion, airlock: '1' }, release: { name: 'node', lts: 'Jod' }, config: { target_defaults: {}, variables: {} },
    features: { inspector: false, debug: false, uv: false, ipv6: false, tls_alpn: false, tls_sni: false, tls_ocsp: false, tls: false, cached_builtins: true },
    env: environment(),
    stdout: output(false), stderr: output(true),
    cwd: internal.cwd, chdir(directory) { folder = internal.changeFolder(folder, directory); }, umask(given) {
      const before = mask;
      if (given !== undefined) mask = maskOf(given) & 0o777;
      return before;
    }, uptime: () => milliseconds() / 1000, hrtime,
    exit, abort: () => reallyExit(134), reallyExit, kill(pid) {
      if (pid != (pid | 0)) throw internal.nodeWrongType('pid', 'of type number', pid);
      refuse('kill')();
    }, binding: refuse('binding'), dlopen: refuse('dlopen'), setuid: identity('setuid'), setgid: identity('setgid'), seteuid: identity('seteuid'), setegid: identity('setegid'),
    setSourceMapsEnabled(on) { if (typeof on !== 'boolean') throw internal.nodeWrongType('val', 'of type boolean', on); },
    setUncaughtExceptionCaptureCallback(f) {
      if (f === null) { captureCallback = null; return; }
      if (typeof f !== 'function') throw internal.nodeWrongType('fn', 'of type function or null', f);
      if (captureCallback !== null) throw nodeError(Error, 'ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET', '`process.setupUncaughtExceptionCapture()` was called while a capture callback was already active');
      captureCallback = f;
    },
    hasUncaughtExceptionCaptureCallback: () => captureCallback !== null, getActiveResourcesInfo: () => [],
    assert(value, message) { if (!value) throw nodeError(Error, 'ERR_ASSERTION', message || 'assertion error'); },
    allowedNodeEnvironmentFlags: Object.freeze(new Set()), debugPort: 9229,
    getuid: () => 1000, geteuid: () => 1000, getgid: () => 1000, getegid: () => 1000, getgroups: () => [1000],
    memoryUsage: Object.assign(() => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }), { rss: () => 0 }),
    cpuUsage: times, resourceUsage: () => Object.fromEntries(usage.map((name) => [name, 0])), availableMemory: () => 0, constrainedMemory: () => 0,
    nextTick(f, ...args) {
      if (typeof f !== 'function') throw internal.nodeWrongType('callback', 'of type function', f);
      internal.addTick(f, args);
    },
    emitWarning(warning, type, code) {
      const o = type !== null && typeof type === 'object' && !Array.isArray(type) ? type : typeof type === 'function' ? {} : { type, code: typeof code === 'function' ? undefined : code };
      for (const name of ['type', 'code']) if (o[name] !== undefined && o[name] !== null && typeof o[name] !== 'string' && o !== type) throw internal.nodeWrongType(name, 'of type string', o[name]);
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
      if (typeof id !== 'string') throw internal.nodeWrongType('id', 'of type string', id);
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
  Object.assign(errno, numbers(95, 'EOPNOTSUPP - EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN - - ETIMEDOUT ECONNREFUSED - EHOSTUNREACH EALREADY EINPROGRESS'), {
    ENOTSUP: 95, EWOULDBLOCK: 11, ENOMSG: 42, EIDRM: 43, ENOSTR: 60, ENODATA: 61, ETIME: 62, ENOSR: 63, ENOLINK: 67, EPROTO: 71, EMULTIHOP: 72, EBADMSG: 74, EOVERFLOW: 75,
    EILSEQ: 84, ENOTSOCK: 88, EDESTADDRREQ: 89, EMSGSIZE: 90, EPROTOTYPE: 91, ENOPROTOOPT: 92, EPROTONOSUPPORT: 93, ESTALE: 116, EDQUOT: 122, ECANCELED: 125,
  });
  Object.assign(signals, { SIGIOT: 6, SIGPOLL: 29 });
  const priority = Object.assign(Object.create(null), { PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14, PRIORITY_HIGHEST: -20 });
  const { integer } = internal.check;
  const priorities = { __proto__: null };
  const priorityOf = (pid) => {
    if (pid === 0 || pid === process.pid) return process.pid;
    throw Object.assign(nodeError(Error, 'ERR_SYSTEM_ERROR', 'A system error occurred: uv_os_getpriority returned ESRCH (no such process)'), { name: 'SystemError', errno: -3, syscall: 'uv_os_getpriority' });
  };
  modules.os = {
    arch: () => 'x64', availableParallelism: () => 1, cpus: () => [{ model: 'airlock', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
    endianness: () => 'LE', freemem: () => 0,
    getPriority(pid) {
      if (pid === undefined) pid = 0;
      integer(pid, 'pid', -2147483648, 2147483647);
      return priorities[priorityOf(pid)] ?? 0;
    },
    homedir: () => process.env.HOME || '/', hostname: () => 'airlock', loadavg: () => [0, 0, 0], networkInterfaces: () => ({}), platform: () => 'linux', release: () => '0.0.0',
    setPriority(pid, level) {
      if (level === undefined) { level = pid; pid = 0; }
      integer(pid, 'pid', -2147483648, 2147483647);
      integer(level, 'priority', -20, 19);
      priorities[priorityOf(pid)] = level;
    },
    tmpdir: () => (process.env.TMPDIR || process.env.TMP || process.env.TEMP || '/tmp').replace(/(?<=.)\/$/, ''), totalmem: () => 0, type: () => 'Linux',
    userInfo(options) {
      const bytes = options?.encoding === 'buffer', text = (s) => bytes ? modules.buffer.Buffer.from(s) : s;
      return { uid: 1000, gid: 1000, username: text('guest'), homedir: text('/'), shell: null };
    },
    uptime: () => 0, version: () => 'airlock', machine: () => 'x86_64',
  };
  for (const name of ['arch', 'availableParallelism', 'endianness', 'freemem', 'homedir', 'hostname', 'machine', 'platform', 'release', 'tmpdir', 'totalmem', 'type', 'uptime', 'version']) {
    define(modules.os[name], Symbol.toPrimitive, () => modules.os[name]());
  }
  const fixed = (name, value) => Object.defineProperty(modules.os, name, { __proto__: null, value, enumerable: true, configurable: true });
  fixed('constants', { __proto__: null, UV_UDP_REUSEADDR: 4, dlopen: { __proto__: null, RTLD_LAZY: 1, RTLD_NOW: 2, RTLD_GLOBAL: 256, RTLD_LOCAL: 0, RTLD_DEEPBIND: 8 }, errno, signals, priority });
  fixed('EOL', '\n');
  fixed('devNull', '/dev/null');
  // A Console prints to streams of its own.
  const printing = Symbol('methods');
  function Console(stdout, stderr, ignoreErrors) {
    if (new.target === undefined) return Reflect.construct(Console, arguments);
    const options = typeof stdout?.write === 'function' || typeof stdout !== 'object' || stdout === null ? { stdout, stderr, ignoreErrors } : stdout;
    const { colorMode = 'auto', inspectOptions, groupIndentation } = options;
    for (const name of ['stdout', 'stderr']) {
      const stream = options[name] ?? options.stdout;
      if (typeof stream?.write !== 'function') throw internal.nodeError(TypeError, 'ERR_CONSOLE_WRITABLE_STREAM', `Console expects a writable stream instance for ${name}`);
      define(this, `_${name}`, stream);
    }
    if (colorMode !== 'auto' && typeof colorMode !== 'boolean') throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'colorMode' must be one of: 'auto', true, false. Received ${internal.inspect(colorMode)}`);
    if (groupIndentation !== undefined) integer(groupIndentation, 'groupIndentation', 0, 1000);
    if (inspectOptions !== undefined) {
      if (inspectOptions === null || typeof inspectOptions !== 'object') throw internal.nodeWrongType('options.inspectOptions', 'of type object', inspectOptions);
      if (inspectOptions.colors !== undefined && options.colorMode !== undefined) throw nodeError(TypeError, 'ERR_INCOMPATIBLE_OPTION_PAIR', 'Option "options.inspectOptions.color" cannot be used in combination with option "colorMode"');
    }
    define(this, printing, internal.consoleTo((isError, text) => {
      const stream = isError ? this._stderr : this._stdout;
      if (options.ignoreErrors === false) stream.write(`${text}\n`);
      else toStream(stream, text);
    }, options.inspectOptions, ' '.repeat(options.groupIndentation ?? 2)));
    for (const name of Object.keys(this[printing])) {
      const f = this[name];
      Object.defineProperty(this, name, { __proto__: null, value: { [name]: (...args) => f.apply(this, args) }[name], writable: true, enumerable: true, configurable: true });
    }
  }
  for (const name of Object.keys(internal.consoleTo())) Console.prototype[name] = { [name](...args) { return this[printing][name](...args); } }[name];
  Object.defineProperty(Console, Symbol.hasInstance, { value: (v) => v === globalThis.console || Console.prototype.isPrototypeOf(v) });
  globalThis.console.Console = Console;
  for (const name of ['profile', 'profileEnd', 'timeStamp', 'context']) globalThis.console[name] = { [name]() {} }[name];
  globalThis.console.createTask = function createTask(name) {
    if (typeof name !== 'string' || name === '') throw new Error('First argument must be a non-empty string.');
    return { run: (f) => f() };
  };
  modules.console = globalThis.console;

  define(globalThis, 'navigator', Object.create({ get [Symbol.toStringTag]() { return 'Navigator'; } }, Object.getOwnPropertyDescriptors({
    hardwareConcurrency: 1, language: 'en-US', languages: Object.freeze(['en-US']), platform: 'linux', userAgent: 'Node.js/22',
  })));

  // Module is what Node's module is. _compile needs eval, as packages such as require-from-string do.
  const makeFunction = Function, folderOf = (file) => file.slice(0, Math.max(file.lastIndexOf('/'), 0)) || '.';
  function Module(id = '', parent = undefined) {
    Object.assign(this, { id, path: folderOf(id), exports: {}, filename: null, loaded: false, children: [], paths: [], parent });
  }
  Module.prototype.require = function require(id) { return globalThis.require(id); };
  Module.prototype._compile = function _compile(content, filename) {
    const f = makeFunction('exports', 'require', 'module', '__filename', '__dirname', content.replace(/^#!.*/, ''));
    return f.call(this.exports, this.exports, (id) => this.require(id), this, filename, folderOf(filename));
  };
  Object.assign(Module, {
    Module, _cache: { __proto__: null }, _extensions: { __proto__: null }, _nodeModulePaths: () => [],
    isBuiltin: (id) => typeof id === 'string' && (id === 'node:test' || modules[id.startsWith('node:') ? id.slice(5) : id] !== undefined),
    createRequire: () => globalThis.require, wrap: (code) => `(function (exports, require, module, __filename, __dirname) { ${code}\n});`,
  });
  Object.defineProperty(Module, 'builtinModules', { get: () => Object.keys(modules), enumerable: true });
  modules.module = Module;
  return internal;
}
