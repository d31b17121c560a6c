// Node's fs with callbacks and promises, over the synchronous calls.
(host, internal) => {
  'use strict';
  const { modules } = internal;
  const { Buffer } = modules.buffer;
  const { fs } = internal.nodeFiles;

  const promises = { constants: fs.constants };
  const names = Object.keys(fs).filter((name) => name.endsWith('Sync'));
  for (const sync of names) {
    const name = sync.slice(0, -4);
    fs[name] = (...args) => {
      const done = args.pop();
      if (typeof done !== 'function') throw internal.nodeWrongType('cb', 'of type function', done);
      let out, failure = null;
      try { out = fs[sync](...args); } catch (e) {
        if (typeof e.code === 'string' && e.code.startsWith('ERR_')) throw e;
        failure = e;
      }
      process.nextTick(() => {
        if (name === 'exists') done(out);
        else if (failure !== null) done(failure);
        else if (name === 'read' || name === 'write') done(null, out, args[1]);
        else done(null, out);
      });
    };
    if (!['exists', 'open', 'close', 'read', 'write'].includes(name) && !/^f(?!s$)[a-z]*(stat|sync|chmod|utimes|truncate)$/.test(name)) {
      promises[name] = async (first, ...rest) => fs[sync](first instanceof FileHandle ? first.fd : first, ...rest);
    }
  }
  fs.realpath.native = fs.realpath;
  const custom = Symbol.for('nodejs.util.promisify.custom');
  fs.exists[custom] = (path) => Promise.resolve(fs.existsSync(path));
  fs.read[custom] = async (fd, buffer, ...rest) => ({ bytesRead: fs.readSync(fd, buffer, ...rest), buffer });
  fs.write[custom] = async (fd, buffer, ...rest) => ({ bytesWritten: fs.writeSync(fd, buffer, ...rest), buffer });

  // A FileHandle is open until its user and every stream of it have closed it.
  const state = Symbol('state');
  class FileHandle extends modules.events {
    constructor(fd) {
      super();
      internal.define(this, state, { fd, holders: 1, closing: undefined, locked: false });
    }
    get fd() { return this[state].fd; }
    async read(buffer, offset, length, position) {
      if (!ArrayBuffer.isView(buffer)) ({ buffer = Buffer.alloc(16384), offset, length, position } = buffer ?? {});
      return { bytesRead: fs.readSync(fdOf(this, 'read'), buffer, offset, length, position), buffer };
    }
    async readv(buffers, position) { return { bytesRead: fs.readvSync(fdOf(this, 'readv'), buffers, position), buffers }; }
    async write(buffer, ...rest) { return { bytesWritten: fs.writeSync(fdOf(this, 'write'), buffer, ...rest), buffer }; }
    async writev(buffers, position) { return { bytesWritten: fs.writevSync(fdOf(this, 'writev'), buffers, position), buffers }; }
    async readFile(options) { return fs.readFileSync(fdOf(this, 'readFile'), options); }
    async writeFile(data, options) { fs.writeFileSync(fdOf(this, 'writeFile'), data, options); }
    async appendFile(data, options) { fs.writeFileSync(fdOf(this, 'writeFile'), data, options); }
    async stat(options) { return fs.fstatSync(fdOf(this, 'fstat'), options); }
    async truncate(n) { fs.ftruncateSync(fdOf(this, 'ftruncate'), n); }
    async sync() { fdOf(this, 'fsync'); }
    async datasync() { fdOf(this, 'fdatasync'); }
    async chmod(mode) { fs.fchmodSync(fdOf(this, 'fchmod'), mode); }
    async chown() { fdOf(this, 'fchown'); }
    async utimes(a, m) { fs.futimesSync(fdOf(this, 'futimes'), a, m); }
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
  promises.open = async (path, flags, mode) => new FileHandle(fs.openSync(path, flags, mode));
  promises.access = async (path, mode) => fs.accessSync(path, mode);
  fs.promises = promises;
  modules['fs/promises'] = promises;

  Object.assign(internal.nodeFiles, { FileHandle, holdHandle: hold });
  for (const name of ['watch', 'watchFile', 'unwatchFile']) fs[name] = () => { throw internal.nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `fs.${name} is not available in the sandbox`); };
  return internal;
}
