// Node's fs with callbacks and promises, over the synchronous calls.
(host, internal) => {
  'use strict';
  const { modules } = internal;
  const { Buffer } = modules.buffer;
  const { fs } = internal.nodeFiles;

  const { check } = internal;
  const { optionsOf, isFd, textOrView, pathOf, flagsOf } = internal.fsArguments;
  // How many arguments before the callback a function needs and takes, and the promise's function, if there is one.
  const shapes = {
    access: [1, 2, 1], appendFile: [2, 3, 3], chmod: [2, 2, 2], chown: [3, 3, 3], close: [1, 1], copyFile: [2, 3, 3], cp: [2, 3, 3], exists: [1, 1], fchmod: [2, 2], fchown: [3, 3], fdatasync: [1, 1], fstat: [1, 2], fsync: [1, 1], ftruncate: [1, 2], futimes: [3, 3],
    lchmod: [2, 2, 2], lchown: [3, 3, 3], link: [2, 2, 2], lstat: [1, 2, 1], lutimes: [3, 3, 3], mkdir: [1, 2, 2], mkdtemp: [1, 2, 2], open: [1, 3], opendir: [1, 2, 3], read: [1, 5], readdir: [1, 2, 2], readFile: [1, 2, 2], readlink: [1, 2, 2], readv: [2, 3], realpath: [1, 2, 2],
    rename: [2, 2, 2], rm: [1, 2, 2], rmdir: [1, 2, 2], stat: [1, 2, 1], statfs: [1, 2, 1], symlink: [2, 3, 3], truncate: [1, 2, 1], unlink: [1, 1, 1], utimes: [3, 3, 3], write: [2, 5], writeFile: [2, 3, 3], writev: [2, 3],
  };
  const named = (f, name, length) => {
    Object.defineProperty(f, 'name', { value: name, configurable: true });
    Object.defineProperty(f, 'length', { value: length, configurable: true });
    return f;
  };
  const withDefaults = ['close', 'fstat', 'lstat', 'stat', 'statfs', 'ftruncate'];
  const thrown = (code) => typeof code === 'string' && code.startsWith('ERR_') && !code.startsWith('ERR_FS_');
  const signalOf = (name, args) => ['readFile', 'writeFile', 'appendFile'].includes(name) ? args[name === 'readFile' ? 1 : 2]?.signal : undefined;
  const aborted = (signal) => { if (signal?.aborted) throw internal.nodeAborted(signal); };
  // later waits for a signal that is fired in this turn.
  const later = async (signal) => {
    aborted(signal);
    if (signal === undefined || signal === null) return;
    await new Promise((resolve) => { setImmediate(resolve); });
    aborted(signal);
  };
  const promises = {};
  for (const name of Object.keys(shapes)) {
    const [least, most, promised] = shapes[name], sync = fs[`${name}Sync`];
    fs[name] = named((...args) => {
      let at = least;
      while (at < most && typeof args[at] !== 'function') at++;
      const done = name === 'close' && args.length === 1 ? (e) => { if (e) throw e; } : args[at] || (/File$/.test(name) ? args[at - 1] : args[at]);
      check.func(done, name === 'opendir' ? 'callback' : 'cb');
      args = args.slice(0, at);
      if (name === 'truncate' && args[1] !== undefined) check.integer(args[1], 'len');
      if (name === 'readFile' && typeof args[1]?.flag === 'string') flagsOf(args[1].flag, 'options.flag');
      if (name === 'read' && args.length <= 2 && !ArrayBuffer.isView(args[1])) {
        if (args[1] !== undefined && args[1] !== null) check.object(args[1], 'options');
        const { buffer = Buffer.alloc(16384), ...rest } = args[1] ?? {};
        args = [args[0], buffer, rest];
      }
      const signal = signalOf(name, args);
      let out, failure = null;
      const attempt = () => {
        try {
          aborted(signal);
          out = sync(...args);
        } catch (e) {
          if (thrown(e.code)) throw e;
          failure = e;
        }
      };
      const tell = () => {
        if (name === 'exists') done(out);
        else if (name === 'read' || name === 'write' || name === 'readv' || name === 'writev') done(failure, out ?? 0, args[1]);
        else if (failure !== null) done(failure);
        else if (out === undefined && name !== 'mkdir') done(null);
        else done(null, out);
      };
      if (signal === undefined || signal === null) {
        attempt();
        process.nextTick(tell);
        return;
      }
      optionsOf(args[name === 'readFile' ? 1 : 2]);
      if (name !== 'readFile') textOrView(args[1], 'data');
      setImmediate(() => { // the signal may be fired until then
        attempt();
        tell();
      });
    }, name, withDefaults.includes(name) ? 1 : most + 1);
    if (promised === undefined) continue;
    promises[name] = named(async (...args) => {
      const signal = signalOf(name, args), path = args[0], data = args[1];
      if (args[0] instanceof FileHandle) args[0] = args[0].fd;
      else if (typeof path === 'number') pathOf(path);
      if (signal !== undefined) optionsOf(args[name === 'readFile' ? 1 : 2]);
      await later(signal);
      if (/^(write|append)File$/.test(name) && isIterable(data)) return writeParts(path instanceof FileHandle ? path : args[0], data, args[2], name === 'writeFile' ? 'w' : 'a');
      return sync(...args);
    }, name, promised);
  }
  fs.realpath.native = fs.realpath;
  const custom = Symbol.for('nodejs.util.promisify.custom');
  const promisified = (name, f) => Object.defineProperty(fs[name], custom, { value: f });
  promisified('exists', named((path) => Promise.resolve(fs.existsSync(path)), 'exists', 1));
  promisified('read', async (fd, buffer, ...rest) => new Promise((resolve, reject) => { fs.read(fd, buffer, ...rest, (e, bytesRead, b) => e ? reject(e) : resolve({ bytesRead, buffer: b })); }));
  promisified('write', async (fd, buffer, ...rest) => ({ bytesWritten: fs.writeSync(fd, buffer, ...rest), buffer }));
  promisified('readv', async (fd, buffers, position) => ({ bytesRead: fs.readvSync(fd, buffers, position), buffers }));
  promisified('writev', async (fd, buffers, position) => ({ bytesWritten: fs.writevSync(fd, buffers, position), buffers }));

  const isIterable = (v) => v !== null && typeof v === 'object' && !ArrayBuffer.isView(v) && (typeof v[Symbol.asyncIterator] === 'function' || typeof v[Symbol.iterator] === 'function');
  // writeParts writes what an iterable gives, one part after the other.
  const writeParts = async (file, parts, options, flag) => {
    options = optionsOf(options);
    const fd = file instanceof FileHandle ? file.fd : fs.openSync(file, options.flag || flag, options.mode);
    try {
      for await (const part of parts) {
        aborted(options.signal);
        textOrView(part, 'data');
        fs.writeSync(fd, typeof part === 'string' ? Buffer.from(part, options.encoding || 'utf8') : part);
      }
    } finally { if (!(file instanceof FileHandle)) fs.closeSync(fd); }
  };

  // A FileHandle is open until its user and every stream of it have closed it.
  const state = Symbol('state');
  class FileHandle extends modules.events {
    constructor(fd) {
      super();
      internal.define(this, state, { fd, holders: 1, closing: undefined, locked: false });
    }
    get fd() { return this[state].fd; }
    getAsyncId() { return 0; }
    async appendFile(data, options) { return this.writeFile(data, typeof options === 'string' ? { encoding: options, flag: 'a' } : { ...options, flag: 'a' }); }
    async chmod(mode) { fs.fchmodSync(fdOf(this, 'fchmod'), mode); }
    async chown(uid, gid) { fs.fchownSync(fdOf(this, 'fchown'), uid, gid); }
    async datasync() { fdOf(this, 'fdatasync'); }
    async sync() { fdOf(this, 'fsync'); }
    async read(buffer, offset, length, position) {
      const fd = fdOf(this, 'read');
      if (!ArrayBuffer.isView(buffer)) {
        if (buffer !== undefined && buffer !== null) check.object(buffer, 'options');
        ({ buffer = Buffer.alloc(16384), offset, length, position } = buffer ?? {});
      } else if (offset !== null && typeof offset === 'object') ({ offset, length, position } = offset);
      check.view(buffer);
      return { __proto__: null, bytesRead: fs.readSync(fd, buffer, offset ?? 0, length ?? buffer.byteLength - (offset ?? 0), position ?? null), buffer };
    }
    async readv(buffers, position) { return { __proto__: null, bytesRead: fs.readvSync(fdOf(this, 'read'), buffers, position), buffers }; }
    async readFile(options) {
      const { signal } = optionsOf(options), fd = fdOf(this, 'read');
      await later(signal);
      return fs.readFileSync(fd, options);
    }
    close() {
      const s = this[state];
      if (s.fd === -1) return Promise.resolve();
      if (s.closing === undefined) {
        s.closing = Promise.withResolvers();
        release(this);
        this.emit('close');
      }
      return s.closing.promise;
    }
    createReadStream(options) { return new fs.ReadStream(undefined, { ...options, fd: this }); }
    createWriteStream(options) { return new fs.WriteStream(undefined, { ...options, fd: this }); }
    readLines(options) { return modules.readline.createInterface({ input: this.createReadStream(options), crlfDelay: Infinity }); }
    readableWebStream(options = {}) {
      const s = this[state], wrong = s.fd === -1 ? 'closed' : s.closing !== undefined ? 'closing' : s.locked ? 'locked' : undefined;
      if (wrong !== undefined) throw internal.nodeError(Error, 'ERR_INVALID_STATE', `Invalid state: The FileHandle is ${wrong}`);
      s.locked = true;
      let over = false, controller;
      const free = hold(this), end = () => {
        if (over) return;
        over = true;
        free();
      };
      const stream = new ReadableStream({
        ...options?.type === 'bytes' && { type: 'bytes' },
        start(c) { controller = c; },
        pull: async () => {
          const { bytesRead, buffer } = await this.read(Buffer.alloc(16384));
          if (bytesRead > 0) {
            controller.enqueue(new Uint8Array(buffer.buffer, buffer.byteOffset, bytesRead));
            return;
          }
          controller.close();
          controller.byobRequest?.respond(0);
          end();
        },
        cancel: end,
      }, { highWaterMark: 0 });
      this.once('close', () => {
        if (over) return;
        over = true;
        try { controller.close(); } catch { /* it has failed */ }
      });
      return stream;
    }
    async stat(options) { return fs.fstatSync(fdOf(this, 'fstat'), options); }
    async truncate(n = 0) { fs.ftruncateSync(fdOf(this, 'ftruncate'), n); }
    async utimes(a, m) { fs.futimesSync(fdOf(this, 'futime'), a, m); }
    async write(buffer, ...rest) {
      const fd = fdOf(this, 'write');
      if (ArrayBuffer.isView(buffer) && buffer.byteLength === 0) return { __proto__: null, bytesWritten: 0, buffer };
      textOrView(buffer, 'buffer');
      return { __proto__: null, bytesWritten: fs.writeSync(fd, buffer, ...rest), buffer };
    }
    async writev(buffers, position) { return { __proto__: null, bytesWritten: fs.writevSync(fdOf(this, 'write'), buffers, position), buffers }; }
    async writeFile(data, options) {
      const { signal } = optionsOf(options);
      fdOf(this, 'write');
      await later(signal);
      if (isIterable(data)) return writeParts(this, data, options);
      return fs.writeFileSync(this.fd, data, options);
    }
    async [Symbol.asyncDispose]() { await this.close(); }
  }
  const fdOf = (handle, syscall) => {
    const { fd } = handle[state];
    if (fd === -1) throw Object.assign(new Error('file closed'), { code: 'EBADF', syscall });
    return fd;
  };
  const release = (handle) => {
    const s = handle[state];
    if (--s.holders > 0) return;
    try {
      fs.closeSync(s.fd);
      s.closing?.resolve();
    } catch (e) { s.closing?.reject(e); }
    s.fd = -1;
  };
  // hold keeps a handle open until the function that it returns is called.
  const hold = (handle) => {
    handle[state].holders++;
    return () => release(handle);
  };
  promises.open = named(async (path, flags, mode) => new FileHandle(fs.openSync(path, flags, mode)), 'open', 3);
  promises.access = named(async (path, mode) => fs.accessSync(path, mode), 'access', 1);
  for (const name of ['lchmod', 'lchmodSync']) delete fs[name];
  fs.lchmod = fs.lchmodSync = undefined; // Node has them on macOS alone
  promises.lchmod = named(async () => { throw internal.nodeError(Error, 'ERR_METHOD_NOT_IMPLEMENTED', 'The lchmod() method is not implemented'); }, 'lchmod', 2);
  promises.constants = fs.constants;
  fs.openAsBlob = named(async (path, options = {}) => {
    check.object(options, 'options');
    const type = options.type || '';
    check.string(type, 'options.type');
    return new Blob([fs.readFileSync(pathOf(path))], { type });
  }, 'openAsBlob', 1);
  fs.promises = promises;
  modules['fs/promises'] = promises;

  Object.assign(internal.nodeFiles, { FileHandle, holdHandle: hold });
  for (const name of ['watch', 'watchFile', 'unwatchFile']) fs[name] = () => { throw internal.nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `fs.${name} is not available in the sandbox`); };
  return internal;
}
