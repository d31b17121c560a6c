// Node's fs over the run's virtual files: the synchronous calls and their helpers.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { resolve } = modules.path;

  const texts = {
    ENOENT: [-2, 'no such file or directory'], EEXIST: [-17, 'file already exists'], ENOTDIR: [-20, 'not a directory'], EISDIR: [-21, 'illegal operation on a directory'], EINVAL: [-22, 'invalid argument'], EBADF: [-9, 'bad file descriptor'],
    ENOTEMPTY: [-39, 'directory not empty'], EROFS: [-30, 'read-only file system'], EBUSY: [-16, 'resource busy or locked'], ENAMETOOLONG: [-36, 'name too long'], EPERM: [-1, 'operation not permitted'], EACCES: [-13, 'permission denied'], ENOSYS: [-38, 'function not implemented'],
  };
  const failed = (code, syscall, path, dest) => {
    const [errno, text] = texts[code] ?? [-22, 'unknown error'];
    const e = new Error(`${code}: ${text}, ${syscall}${path !== undefined ? ` '${path}'` : ''}${dest !== undefined ? ` -> '${dest}'` : ''}`);
    e.errno = errno;
    e.code = code;
    e.syscall = syscall;
    if (path !== undefined) e.path = path;
    if (dest !== undefined) e.dest = dest;
    return e;
  };
  const pathOf = (v, name = 'path') => {
    if (v instanceof URL) v = modules.url.fileURLToPath(v);
    else if (v instanceof Uint8Array) v = Buffer.from(v).toString();
    if (typeof v !== 'string') throw internal.nodeWrongType(name, 'of type string or an instance of Buffer or URL', v);
    if (v.includes('\0')) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received ${internal.inspect(v)}`);
    return v;
  };
  const full = (p) => resolve(p);
  const call = (op, syscall, path, ...args) => {
    const out = internal.sync('fs.' + op, full(path), ...args);
    if (typeof out === 'string') throw failed(out, syscall, path, op === 'rename' ? args[0] : undefined);
    return out;
  };
  internal.changeFolder = (folder, path) => {
    const to = full(pathOf(path, 'directory')), found = internal.sync('fs.stat', to);
    const code = typeof found === 'string' ? found : found[0] ? undefined : 'ENOTDIR';
    if (code !== undefined) throw failed(code, 'chdir', folder, path);
    return to;
  };
  const encodingOf = (options) => {
    const encoding = typeof options === 'string' ? options : options?.encoding;
    if (encoding && encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'encoding' is invalid encoding. Received ${internal.inspect(encoding)}`);
    return encoding === 'buffer' ? undefined : encoding;
  };
  const given = (b, options) => {
    const encoding = encodingOf(options);
    return encoding ? b.toString(encoding) : b;
  };
  const bytesOf = (data, options) => {
    if (typeof data === 'string') return Buffer.from(data, encodingOf(options) ?? 'utf8');
    if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    throw internal.nodeWrongType('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
  };
  const put = (path, at, bytes) => call('write', 'open', path, at, internal.bufferOf(bytes));

  const S_IFDIR = 0o040000, S_IFREG = 0o100000, S_IFCHR = 0o020000, S_IFIFO = 0o010000;
  // lazily defines a property that is computed on first access.
  const lazily = (o, name, find) => {
    const set = (value) => Object.defineProperty(o, name, { value, writable: true, enumerable: true, configurable: true });
    Object.defineProperty(o, name, { get() { const value = find(); set(value); return value; }, set, enumerable: true, configurable: true });
  };
  class Stats {
    constructor([folder, size, modified, mode, inode, kind = folder ? S_IFDIR : S_IFREG], big) {
      const n = big ? BigInt : (v) => v;
      Object.assign(this, { dev: n(1), mode: n(mode | kind), nlink: n(1), uid: n(1000), gid: n(1000), rdev: n(0), blksize: n(4096), ino: n(inode), size: n(size), blocks: n(Math.ceil(size / 512)) });
      // A file that the run created has the run's own time. It is read lazily, so that stat alone does not make a run impure.
      const time = () => Math.floor(modified ?? internal.sync('timeOrigin'));
      for (const k of ['atime', 'mtime', 'ctime', 'birthtime']) {
        lazily(this, k + 'Ms', () => n(time()));
        lazily(this, k, () => new Date(time()));
      }
    }
    [Symbol.for('nodejs.util.inspect.custom')]() { return Object.assign(Object.create({ constructor: Stats }), this); }
    #is(kind) { return (Number(this.mode) & 0o170000) === kind; }
    isFile() { return this.#is(S_IFREG); }
    isDirectory() { return this.#is(S_IFDIR); }
    isSymbolicLink() { return false; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return this.#is(S_IFCHR); }
    isFIFO() { return this.#is(S_IFIFO); }
    isSocket() { return false; }
  }
  class Dirent {
    #folder;
    constructor(name, parentPath, folder) { this.name = name; this.parentPath = this.path = parentPath; this.#folder = folder; }
    isFile() { return !this.#folder; }
    isDirectory() { return this.#folder; }
    isSymbolicLink() { return false; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return false; }
    isFIFO() { return false; }
    isSocket() { return false; }
  }

  // device returns an open file that is no file of the run: {device: 0} is standard input, 1 and 2 are the outputs, and
  // 3 is /dev/null. It returns undefined for all other paths.
  const devices = { __proto__: null, '/dev/stdin': 0, '/dev/stdout': 1, '/dev/stderr': 2, '/dev/null': 3, '/dev/fd/0': 0, '/dev/fd/1': 1, '/dev/fd/2': 2 };
  const device = (path) => {
    const n = devices[path];
    return n === undefined ? undefined : { path, device: n, read: n === 0 || n === 3, write: n !== 0, at: 0 };
  };
  const contentOf = (f) => {
    if (f.device === undefined) return new Uint8Array(call('read', 'read', f.path));
    f.bytes ??= Buffer.from(f.device === 0 ? internal.inputText() : '');
    return f.bytes;
  };
  const statOf = (syscall, path, d = device(path)) =>
    d === undefined ? call('stat', syscall, path) : [false, 0, undefined, d.device === 3 ? 0o666 : 0o600, 0, d.device === 3 ? S_IFCHR : S_IFIFO];

  const open = new Map([[0, device('/dev/stdin')], [1, device('/dev/stdout')], [2, device('/dev/stderr')]]);
  // forgetInput drops what was read of standard input: each step of a session has its own input.
  internal.forgetInput = () => {
    internal.p.mapForEach(open, (f) => {
      if (f.device !== 0) return;
      f.bytes = undefined;
      f.at = 0;
    });
  };
  // takeInput returns what was not yet read of standard input, and takes it for read.
  internal.takeInput = () => {
    const f = open.get(0);
    if (f === undefined) return Buffer.alloc(0);
    const rest = contentOf(f).subarray(f.at);
    f.at = contentOf(f).length;
    return rest;
  };
  let nextFd = 3;
  const opened = (fd, syscall) => {
    if (typeof fd !== 'number') throw internal.nodeWrongType('fd', 'of type number', fd);
    const f = open.get(fd);
    if (f === undefined) throw failed('EBADF', syscall);
    return f;
  };
  const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, S_IFMT: 0o170000, S_IFREG, S_IFDIR };
  const flagsOf = (flags) => {
    if (typeof flags === 'number') return { read: (flags & 3) !== 1, write: (flags & 3) !== 0, create: !!(flags & 64), exclusive: !!(flags & 128), truncate: !!(flags & 512), append: !!(flags & 1024) };
    const m = /^(r|w|a|rs|sr)(x?)(\+?)(x?)$/.exec(flags === 'as' || flags === 'as+' ? flags.replace('s', '') : flags);
    if (m === null) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'flags' is invalid. Received ${internal.inspect(flags)}`);
    const kind = m[1][0] === 's' ? 'r' : m[1][0];
    return { read: kind === 'r' || m[3] === '+', write: kind !== 'r' || m[3] === '+', create: kind !== 'r', exclusive: m[2] + m[4] !== '', truncate: kind === 'w', append: kind === 'a' };
  };

  const toDevice = (f, bytes) => {
    if (!f.write) throw failed('EBADF', 'write');
    if (f.device !== 3) internal.writeOutput(f.device === 2, bytes);
    return bytes.length;
  };

  const fs = {
    constants, Stats, Dirent, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1,
    existsSync(path) { try { return device(path) !== undefined || typeof internal.sync('fs.stat', full(pathOf(path))) !== 'string'; } catch { return false; } },
    statSync(path, options) {
      path = pathOf(path);
      try { return new Stats(statOf('stat', path), options?.bigint); } catch (e) {
        if (options?.throwIfNoEntry === false && (e.code === 'ENOENT' || e.code === 'ENOTDIR')) return undefined;
        throw e;
      }
    },
    accessSync(path, mode = 0) {
      const s = new Stats(statOf('access', pathOf(path)));
      if (mode & 2 && !(s.mode & 0o222) || mode & 1 && !s.isDirectory() && !(s.mode & 0o111)) throw failed(mode & 2 ? 'EROFS' : 'EACCES', 'access', path);
    },
    readFileSync(path, options) {
      const d = device(path);
      if (Number.isInteger(path) || d !== undefined) {
        const f = d ?? opened(path, 'read');
        if (!f.read) throw failed('EBADF', 'read');
        const all = contentOf(f), rest = Buffer.from(all.subarray(f.at));
        f.at = all.length;
        return given(rest, options);
      }
      path = pathOf(path);
      const out = internal.sync('fs.read', full(path));
      if (typeof out === 'string') throw out === 'EISDIR' ? failed(out, 'read') : failed(out, 'open', path);
      return given(Buffer.from(out), options);
    },
    writeFileSync(path, data, options) {
      if (typeof path === 'number') { fs.writeSync(path, bytesOf(data, options)); return; }
      const flag = flagsOf(options?.flag ?? 'w'), d = device(path);
      if (d !== undefined) { toDevice(d, bytesOf(data, options)); return; }
      path = pathOf(path);
      if (flag.exclusive && fs.existsSync(path)) throw failed('EEXIST', 'open', path);
      if (!flag.create && !fs.existsSync(path)) throw failed('ENOENT', 'open', path);
      put(path, flag.append ? -1 : -2, bytesOf(data, options));
      if (typeof options?.mode === 'number') call('change', 'chmod', path, options.mode, -1);
    },
    appendFileSync(path, data, options) { fs.writeFileSync(path, data, { flag: 'a', ...typeof options === 'string' ? { encoding: options } : options }); },
    mkdirSync(path, options) {
      path = pathOf(path);
      const recursive = !!options?.recursive;
      let first;
      if (recursive) for (let p = full(path); !fs.existsSync(p); p = modules.path.dirname(p)) first = p;
      call('mkdir', 'mkdir', path, recursive);
      return recursive ? first : undefined;
    },
    mkdtempSync(prefix) {
      for (;;) {
        const path = pathOf(prefix, 'prefix') + Math.random().toString(36).slice(2, 8).padEnd(6, 'x');
        if (!fs.existsSync(path)) { call('mkdir', 'mkdtemp', path, false); return path; }
      }
    },
    readdirSync(path, options) {
      path = pathOf(path);
      const out = [];
      const visit = (dir, prefix) => {
        const list = call('list', 'scandir', dir);
        for (let i = 0; i < list.length; i += 2) {
          const name = list[i], folder = list[i + 1];
          out.push(options?.withFileTypes ? new Dirent(name, dir, folder) : prefix + name);
          if (folder && options?.recursive) visit(modules.path.join(dir, name), prefix + name + '/');
        }
      };
      visit(path, '');
      return encodingOf(options) === undefined && (options === 'buffer' || options?.encoding === 'buffer') ? out.map((n) => Buffer.from(n)) : out;
    },
    unlinkSync(path) { call('remove', 'unlink', pathOf(path), false, false); },
    rmdirSync(path, options) { call('remove', 'rmdir', pathOf(path), true, !!options?.recursive); },
    rmSync(path, options) {
      path = pathOf(path);
      if (!fs.existsSync(path)) {
        if (options?.force) return;
        throw failed('ENOENT', 'lstat', path);
      }
      if (fs.statSync(path).isDirectory() && !options?.recursive) {
        const e = nodeError(Error, 'ERR_FS_EISDIR', `Path is a directory: rm returned EISDIR (is a directory) ${path}`);
        internal.define(e, 'name', 'SystemError');
        throw Object.assign(e, { errno: 21, syscall: 'rm', path });
      }
      call('remove', 'rm', path, true, true);
    },
    renameSync(from, to) { call('rename', 'rename', pathOf(from, 'oldPath'), full(pathOf(to, 'newPath'))); },
    copyFileSync(from, to, mode = 0) {
      from = pathOf(from, 'src');
      to = pathOf(to, 'dest');
      if (mode & 1 && fs.existsSync(to)) throw failed('EEXIST', 'copyfile', from, to);
      const out = internal.sync('fs.read', full(from));
      if (typeof out === 'string') throw failed(out, 'copyfile', from, to);
      call('write', 'copyfile', to, -2, out);
    },
    cpSync(from, to, options) {
      if (!fs.statSync(from).isDirectory()) { if (options?.force !== false || !fs.existsSync(to)) fs.copyFileSync(from, to); return; }
      if (!options?.recursive) throw nodeError(Error, 'ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${from}`);
      fs.mkdirSync(to, { recursive: true });
      for (const name of fs.readdirSync(from)) fs.cpSync(modules.path.join(from, name), modules.path.join(to, name), options);
    },
    truncateSync(path, n = 0) { if (typeof path === 'number') { fs.ftruncateSync(path, n); return; } call('truncate', 'open', pathOf(path), n | 0); },
    chmodSync(path, mode) { call('change', 'chmod', pathOf(path), typeof mode === 'string' ? parseInt(mode, 8) : mode | 0, -1); },
    utimesSync(path, atime, mtime) { call('change', 'utime', pathOf(path), -1, Math.floor(mtime instanceof Date ? mtime / 1000 : +mtime) | 0); },
    chownSync(path) { call('stat', 'chown', pathOf(path)); },
    realpathSync: Object.assign((path) => { call('stat', 'lstat', pathOf(path)); return full(path); }, { native: (path) => fs.realpathSync(path) }),
    readlinkSync(path) { call('stat', 'readlink', pathOf(path)); throw failed('EINVAL', 'readlink', path); },
    symlinkSync(target, path) { throw failed('EPERM', 'symlink', pathOf(target, 'target'), pathOf(path)); },
    linkSync(from, to) { throw failed('EPERM', 'link', pathOf(from, 'existingPath'), pathOf(to, 'newPath')); },
    opendirSync(path) {
      const list = fs.readdirSync(path, { withFileTypes: true });
      return { path, readSync: () => list.shift() ?? null, read: async () => list.shift() ?? null, closeSync() {}, async close() {}, async* [Symbol.asyncIterator]() { yield* list; } };
    },
    openSync(path, flags = 'r', mode = undefined) {
      path = pathOf(path);
      const f = flagsOf(flags ?? 'r'), exists = fs.existsSync(path), d = device(path);
      if (d !== undefined) {
        open.set(nextFd, d);
        return nextFd++;
      }
      if (exists && f.exclusive) throw failed('EEXIST', 'open', path);
      if (!exists && !f.create) throw failed(internal.sync('fs.stat', full(path)), 'open', path);
      if (exists && f.write && fs.statSync(path).isDirectory()) throw failed('EISDIR', 'open', path);
      if (f.truncate || !exists) put(path, -2, Buffer.alloc(0));
      if (!exists && typeof mode === 'number') call('change', 'open', path, mode, -1);
      open.set(nextFd, { path: full(path), ...f, at: 0 });
      return nextFd++;
    },
    closeSync(fd) { opened(fd, 'close'); open.delete(fd); },
    fstatSync(fd, options) { const f = opened(fd, 'fstat'); return new Stats(statOf('fstat', f.path, f.device === undefined ? undefined : f), options?.bigint); },
    readSync(fd, buffer, offset, length, position) {
      const f = opened(fd, 'read');
      if (!f.read) throw failed('EBADF', 'read');
      if (offset !== null && typeof offset === 'object') ({ offset, length, position } = offset);
      offset ??= 0;
      length ??= buffer.byteLength - offset;
      if (offset < 0 || offset > buffer.byteLength) throw internal.nodeOutOfRange('offset', `>= 0 && <= ${buffer.byteLength}`, offset);
      if (length < 0 || length > buffer.byteLength - offset) throw internal.nodeOutOfRange('length', `>= 0 && <= ${buffer.byteLength - offset}`, length);
      if (typeof position === 'number' && position < -1) throw internal.nodeOutOfRange('position', `>= -1 && <= ${Number.MAX_SAFE_INTEGER}`, position);
      const at = f.device === 0 ? f.at : typeof position === 'number' && position >= 0 || typeof position === 'bigint' ? Number(position) : f.at;
      const part = f.device === undefined ? new Uint8Array(call('read', 'read', f.path, Math.min(at, 2 ** 31 - 1), Math.min(length, 2 ** 31 - 1)))
        : contentOf(f).subarray(at, at + length);
      new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(part, offset);
      if (f.device === 0 || position === undefined || position === null || position === -1) f.at = at + part.length;
      return part.length;
    },
    writeSync(fd, data, ...rest) {
      const f = opened(fd, 'write');
      if (!f.write) throw failed('EBADF', 'write');
      let bytes, position;
      if (typeof data === 'string') {
        bytes = Buffer.from(data, rest[1] ?? 'utf8');
        position = rest[0];
      } else {
        let [offset, length, at] = rest[0] !== null && typeof rest[0] === 'object' ? [rest[0].offset, rest[0].length, rest[0].position] : rest;
        bytes = bytesOf(data).subarray(offset ?? 0, length === undefined || length === null ? undefined : (offset ?? 0) + length);
        position = at;
      }
      if (f.device !== undefined) return toDevice(f, bytes);
      const at = f.append ? -1 : typeof position === 'number' ? position : f.at;
      call('write', 'write', f.path, at | 0, internal.bufferOf(bytes));
      if (typeof position !== 'number') f.at = at === -1 ? fs.statSync(f.path).size : at + bytes.length;
      return bytes.length;
    },
    ftruncateSync(fd, n = 0) { call('truncate', 'ftruncate', opened(fd, 'ftruncate').path, n | 0); },
    fsyncSync(fd) { opened(fd, 'fsync'); },
    fdatasyncSync(fd) { opened(fd, 'fdatasync'); },
    futimesSync(fd, a, m) { fs.utimesSync(opened(fd, 'futime').path, a, m); },
    fchmodSync(fd, mode) { fs.chmodSync(opened(fd, 'fchmod').path, mode); },
  };
  fs.lstatSync = fs.statSync;
  fs.readvSync = (fd, list, position) => { let n = 0; for (const b of list) n += fs.readSync(fd, b, 0, b.byteLength, typeof position === 'number' ? position + n : null); return n; };
  fs.writevSync = (fd, list, position) => { let n = 0; for (const b of list) n += fs.writeSync(fd, b, 0, b.byteLength, typeof position === 'number' ? position + n : null); return n; };
  internal.nodeFiles = { fs, opened, pathOf };
  modules.fs = fs;
  return internal;
}
