// Node's streams over files.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { Readable, Writable, finished } = modules.stream;
  const { codes, validators } = internal.nodeStream;
  const { validateFunction, validateInteger, validateNumber, validateBoolean, validateAbortSignal } = validators;
  const { fs, pathOf, FileHandle, holdHandle } = internal.nodeFiles;
  const { nextTick } = globalThis.process;

  const given = Symbol('kFs'), busy = Symbol('kIsPerformingIO'), idle = Symbol('kIoDone');
  // optionsOf copies options, with those that they inherit, as Node does.
  const optionsOf = (options) => {
    if (options === undefined || options === null || typeof options === 'function') return {};
    if (typeof options === 'string') options = { encoding: options };
    else if (typeof options !== 'object') throw new codes.ERR_INVALID_ARG_TYPE('options', ['string', 'Object'], options);
    const { encoding, signal } = options;
    if (encoding && encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw new codes.ERR_INVALID_ARG_VALUE('encoding', encoding, 'is invalid encoding');
    if (signal !== undefined) validateAbortSignal(signal, 'options.signal');
    const own = {};
    for (const name in options) own[name] = options[name];
    return own;
  };
  const checkPosition = (v, name) => {
    validateNumber(v, name);
    validateInteger(v, name, 0);
  };
  // ofHandle returns the functions of fs for the file of a FileHandle.
  const ofHandle = (handle) => {
    const release = holdHandle(handle);
    const over = (promise, done, name, list) => { promise.then((r) => done(null, r[name], list), (e) => done(e, 0, list)); };
    return {
      open() { throw new codes.ERR_METHOD_NOT_IMPLEMENTED('open()'); },
      close(fd, done) { release(); handle.close().then(() => done(), done); },
      read(fd, buffer, offset, length, position, done) { over(handle.read(buffer, offset, length, position), done, 'bytesRead', buffer); },
      write(fd, buffer, offset, length, position, done) { over(handle.write(buffer, offset, length, position), done, 'bytesWritten', buffer); },
      writev(fd, buffers, position, done) { over(handle.writev(buffers, position), done, 'bytesWritten', buffers); },
      fsync(fd, done) { handle.sync().then(() => done(), done); },
    };
  };
  // setUp finds out what file a stream is of.
  const setUp = (stream, path, options, flags) => {
    const { fd } = options;
    if (fd === undefined || fd === null) {
      stream.fd = null;
      stream[given] = options.fs || fs;
      validateFunction(stream[given].open, 'options.fs.open');
      stream.path = path instanceof URL ? modules.url.fileURLToPath(path) : path;
      stream.flags = options.flags === undefined ? flags : options.flags;
      stream.mode = options.mode === undefined ? 0o666 : options.mode;
      pathOf(stream.path);
    } else if (typeof fd === 'number') {
      stream[given] = options.fs || fs;
      stream.fd = fd;
    } else if (fd instanceof FileHandle) {
      if (options.fs) throw new codes.ERR_METHOD_NOT_IMPLEMENTED('FileHandle with fs');
      stream[given] = ofHandle(fd);
      stream.fd = fd.fd;
      fd.on('close', stream.close.bind(stream));
    } else throw new codes.ERR_INVALID_ARG_TYPE('options.fd', ['number', 'FileHandle'], fd);
    options.autoDestroy = options.autoClose === undefined ? true : options.autoClose;
  };
  const open = function () {}; // programs replace the method to open files themselves
  function construct(done) {
    if (typeof this.fd === 'number') {
      done();
      return;
    }
    if (this.open !== open) {
      const { emit } = this;
      this.emit = function (...args) {
        if (args[0] === 'open') {
          this.emit = emit;
          done();
        } else if (args[0] === 'error') {
          this.emit = emit;
          done(args[1]);
          return;
        }
        emit.apply(this, args);
      };
      this.open();
      return;
    }
    this[given].open(this.path, this.flags, this.mode, (e, fd) => {
      if (e) {
        done(e);
        return;
      }
      this.fd = fd;
      done();
      this.emit('open', this.fd);
      this.emit('ready');
    });
  }
  const close = (stream, e, done) => {
    const finish = (failed) => {
      if (failed) e ??= failed;
      stream[given].close(stream.fd, (failed) => done(failed ?? e));
      stream.fd = null;
    };
    if (!stream.fd) done(e);
    else if (stream.flush) stream[given].fsync(stream.fd, finish);
    else finish();
  };
  const closeWhenIdle = function (e, done) {
    if (this[busy]) this.once(idle, (failed) => close(this, e || failed, done));
    else close(this, e, done);
  };
  const inherit = (C, Base, methods, state) => {
    Object.setPrototypeOf(C, Base);
    Object.setPrototypeOf(C.prototype, Base.prototype);
    for (const name of Object.keys(methods)) C.prototype[name] = methods[name];
    const accessors = {
      pending: { get() { return this.fd === null; } },
      autoClose: { get() { return this[state].autoDestroy; }, set(v) { this[state].autoDestroy = v; } },
    };
    for (const name of Object.keys(accessors)) Object.defineProperty(C.prototype, name, { __proto__: null, configurable: true, ...accessors[name] });
  };

  function ReadStream(path, options) {
    if (!(this instanceof ReadStream)) return new ReadStream(path, options);
    options = optionsOf(options);
    options.highWaterMark ??= 65536;
    setUp(this, path, options, 'r');
    validateFunction(this[given].read, 'options.fs.read');
    if (options.autoDestroy) validateFunction(this[given].close, 'options.fs.close');
    this.start = options.start;
    this.end = options.end ?? Infinity;
    this.pos = undefined;
    this.bytesRead = 0;
    this[busy] = false;
    if (this.start !== undefined) {
      checkPosition(this.start, 'start');
      this.pos = this.start;
    }
    if (this.end !== Infinity) {
      checkPosition(this.end, 'end');
      if (this.start > this.end) throw new codes.ERR_OUT_OF_RANGE('start', `<= "end" (here: ${this.end})`, this.start);
    }
    Readable.call(this, options);
    if (options.encoding && options.encoding !== 'buffer') this.setEncoding(options.encoding);
  }
  inherit(ReadStream, Readable, {
    open, _construct: construct, _destroy: closeWhenIdle,
    _read(n) {
      n = Math.min(this.end - (this.pos ?? this.bytesRead) + 1, n);
      if (n <= 0) {
        this.push(null);
        return;
      }
      this[busy] = true;
      this[given].read(this.fd, Buffer.alloc(n), 0, n, this.pos, (e, read, buffer) => {
        this[busy] = false;
        if (this.destroyed) this.emit(idle, e);
        else if (e) fail(this, e);
        else if (read > 0) {
          if (this.pos !== undefined) this.pos += read;
          this.bytesRead += read;
          this.push(read === buffer.length ? buffer : Buffer.from(buffer.subarray(0, read)));
        } else this.push(null);
      });
    },
    close(done) {
      if (typeof done === 'function') finished(this, done);
      this.destroy();
    },
  }, '_readableState');
  // fail reports an error of the file. A stream that does not close its file stays open.
  const fail = (stream, e) => {
    const state = stream._readableState;
    if (state.autoDestroy) {
      stream.destroy(e);
      return;
    }
    state.errored ??= e;
    state.errorEmitted = true;
    stream.emit('error', e);
  };

  function WriteStream(path, options) {
    if (!(this instanceof WriteStream)) return new WriteStream(path, options);
    options = optionsOf(options);
    options.decodeStrings = true;
    this.flush = options.flush ?? false;
    validateBoolean(this.flush, 'options.flush');
    setUp(this, path, options, 'w');
    const { write, writev } = this[given];
    if (!write && !writev) throw new codes.ERR_INVALID_ARG_TYPE('options.fs.write', 'Function', write);
    if (write) validateFunction(write, 'options.fs.write');
    if (writev) validateFunction(writev, 'options.fs.writev');
    if (options.autoDestroy) validateFunction(this[given].close, 'options.fs.close');
    if (this.flush) validateFunction(this[given].fsync, 'options.fs.fsync');
    if (!write) this._write = null;
    if (!writev) this._writev = null;
    this.start = options.start;
    this.pos = undefined;
    this.bytesWritten = 0;
    this[busy] = false;
    if (this.start !== undefined) {
      checkPosition(this.start, 'start');
      this.pos = this.start;
    }
    Writable.call(this, options);
    if (options.encoding && options.encoding !== 'buffer') this.setDefaultEncoding(options.encoding);
  }
  const written = (stream, done) => (e, n) => {
    stream[busy] = false;
    if (stream.destroyed) {
      done(e);
      stream.emit(idle, e);
      return;
    }
    if (!e) stream.bytesWritten += n;
    done(e);
  };
  inherit(WriteStream, Writable, {
    open, _construct: construct, _destroy: closeWhenIdle,
    _write(data, encoding, done) {
      this[busy] = true;
      this[given].write(this.fd, data, 0, data.length, this.pos, written(this, done));
      if (this.pos !== undefined) this.pos += data.length;
    },
    _writev(data, done) {
      const chunks = data.map(({ chunk }) => chunk);
      this[busy] = true;
      this[given].writev(this.fd, chunks, this.pos, written(this, done));
      if (this.pos !== undefined) for (const chunk of chunks) this.pos += chunk.length;
    },
    close(done) {
      if (done) {
        if (this.closed) {
          nextTick(done);
          return;
        }
        this.on('close', done);
      }
      if (!this.autoClose) this.on('finish', this.destroy);
      this.end();
    },
  }, '_writableState');
  WriteStream.prototype.destroySoon = WriteStream.prototype.end;

  Object.assign(fs, {
    ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream,
    createReadStream: function createReadStream(path, options) { return new ReadStream(path, options); },
    createWriteStream: function createWriteStream(path, options) { return new WriteStream(path, options); },
  });
  return internal;
}
