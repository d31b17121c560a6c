// Node's fs with callbacks, promises and streams, all over the synchronous calls.
(host, internal) => {
  'use strict';
  const { modules } = internal;
  const { Buffer } = modules.buffer;
  const { Readable, Writable } = modules.stream;
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

  class FileHandle {
    constructor(fd) { this.fd = fd; }
    async read(buffer, offset, length, position) {
      if (!ArrayBuffer.isView(buffer)) ({ buffer = Buffer.alloc(16384), offset, length, position } = buffer ?? {});
      return { bytesRead: fs.readSync(this.fd, buffer, offset, length, position), buffer };
    }
    async write(buffer, ...rest) { return { bytesWritten: fs.writeSync(this.fd, buffer, ...rest), buffer }; }
    async readFile(options) { return fs.readFileSync(this.fd, options); }
    async writeFile(data, options) { fs.writeFileSync(this.fd, data, options); }
    async appendFile(data, options) { fs.writeFileSync(this.fd, data, options); }
    async stat(options) { return fs.fstatSync(this.fd, options); }
    async truncate(n) { fs.ftruncateSync(this.fd, n); }
    async sync() {}
    async datasync() {}
    async chmod(mode) { fs.fchmodSync(this.fd, mode); }
    async utimes(a, m) { fs.futimesSync(this.fd, a, m); }
    async close() { if (this.fd >= 0) { fs.closeSync(this.fd); this.fd = -1; } }
    createReadStream(options) { return fs.createReadStream(null, { ...options, fd: this.fd }); }
    createWriteStream(options) { return fs.createWriteStream(null, { ...options, fd: this.fd }); }
    async* readLines() {
      const lines = fs.readFileSync(this.fd, 'utf8').split(/\r?\n/);
      if (lines.at(-1) === '') lines.pop();
      yield* lines;
    }
    async [Symbol.asyncDispose]() { await this.close(); }
  }
  promises.open = async (path, flags, mode) => new FileHandle(fs.openSync(path, flags, mode));
  promises.access = async (path, mode) => fs.accessSync(path, mode);
  fs.promises = promises;
  modules['fs/promises'] = promises;

  class ReadStream extends Readable {
    constructor(path, options = {}) {
      if (typeof options === 'string') options = { encoding: options };
      super({ highWaterMark: 65536, ...options });
      Object.assign(this, { path, fd: options.fd ?? null, at: options.start ?? 0, last: options.end ?? Infinity, bytesRead: 0 });
      process.nextTick(() => {
        try {
          this.fd ??= fs.openSync(path, options.flags ?? 'r', options.mode);
          this.emit('open', this.fd);
          this.emit('ready');
        } catch (e) { this.destroy(e); }
      });
    }
    _read(n) {
      if (this.fd === null) { this.once('open', () => this._read(n)); return; }
      const size = Math.min(n || 65536, this.last - this.at + 1);
      const b = Buffer.alloc(Math.max(size, 0));
      const got = b.length === 0 ? 0 : fs.readSync(this.fd, b, 0, b.length, this.at);
      this.at += got;
      this.bytesRead += got;
      this.push(got === 0 ? null : b.subarray(0, got));
    }
    _destroy(e, done) { if (this.fd !== null) { try { fs.closeSync(this.fd); } catch { /* already closed */ } this.fd = null; } done(e); }
    close(done) { if (done) this.once('close', done); this.destroy(); }
  }
  class WriteStream extends Writable {
    constructor(path, options = {}) {
      if (typeof options === 'string') options = { defaultEncoding: options };
      super({ highWaterMark: 16384, ...options, defaultEncoding: options.encoding ?? options.defaultEncoding });
      Object.assign(this, { path, fd: options.fd ?? null, at: options.start, bytesWritten: 0 });
      if (this.fd === null) this.cork();
      process.nextTick(() => {
        try {
          this.fd ??= fs.openSync(path, options.flags ?? 'w', options.mode);
          this.emit('open', this.fd);
          this.emit('ready');
          this.uncork();
        } catch (e) { this.destroy(e); }
      });
    }
    _write(chunk, encoding, done) {
      if (this.fd === null) { this.once('open', () => this._write(chunk, encoding, done)); return; }
      try {
        this.bytesWritten += fs.writeSync(this.fd, chunk, 0, chunk.length, this.at);
        if (this.at !== undefined) this.at += chunk.length;
        done();
      } catch (e) { done(e); }
    }
    _final(done) { if (this.fd === null && !this.destroyed) this.once('open', () => done()); else done(); }
    _destroy(e, done) { if (this.fd !== null) { try { fs.closeSync(this.fd); } catch { /* already closed */ } this.fd = null; } done(e); }
    close(done) { if (done) this.once('close', done); this.end(); }
  }
  fs.ReadStream = ReadStream;
  fs.WriteStream = WriteStream;
  fs.createReadStream = (path, options) => new ReadStream(path, options);
  fs.createWriteStream = (path, options) => new WriteStream(path, options);
  for (const name of ['watch', 'watchFile', 'unwatchFile']) fs[name] = () => { throw internal.nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `fs.${name} is not available in the sandbox`); };
  return internal;
}
