// Node's fs over the run's virtual files: the synchronous calls and their helpers.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { resolve } = modules.path;

  const { failed, systemError, pathOf, fdOf, isFd, modeOf, accessMode, optionsOf, flagsOf, secondsOf, checkOwner, removal, copying, views, span, positionOf, textOrView } = internal.fsArguments;
  const { check } = internal;
  const full = (p) => resolve(p);
  const call = (op, syscall, path, ...args) => {
    const out = path === '' ? 'ENOENT' : internal.sync('fs.' + op, full(path), ...args);
    if (typeof out === 'string') throw failed(out, syscall, path, op === 'rename' ? args[0] : undefined);
    return out;
  };
  internal.changeFolder = (folder, path) => {
    const to = full(pathOf(path, 'directory')), found = internal.sync('fs.stat', to);
    const code = typeof found === 'string' ? found : found[0] ? undefined : 'ENOTDIR';
    if (code !== undefined) throw failed(code, 'chdir', folder, path);
    return to;
  };
  const given = (b, encoding) => encoding && encoding !== 'buffer' ? b.toString(encoding) : b;
  // named returns a path in the encoding of options.
  const named = (path, options) => {
    const { encoding } = optionsOf(options);
    return encoding && encoding !== 'utf8' && encoding !== 'utf-8' ? given(Buffer.from(path), encoding) : path;
  };
  const bytesOf = (data, encoding = 'utf8') => {
    textOrView(data, 'data');
    return typeof data === 'string' ? Buffer.from(data, encoding === 'buffer' ? 'utf8' : encoding ?? 'utf8') : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
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
        if (big) lazily(this, k + 'Ns', () => BigInt(time()) * 1000000n);
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
    const f = open.get(fdOf(fd));
    if (f === undefined) throw failed('EBADF', syscall);
    return f;
  };
  const constants = Object.freeze({
    __proto__: null, UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2,
    UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3, UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6, UV_DIRENT_BLOCK: 7,
    EXTENSIONLESS_FORMAT_JAVASCRIPT: 0, EXTENSIONLESS_FORMAT_WASM: 1,
    S_IFMT: 0o170000, S_IFREG, S_IFDIR, S_IFCHR, S_IFBLK: 0o060000, S_IFIFO, S_IFLNK: 0o120000, S_IFSOCK: 0o140000,
    O_CREAT: 64, O_EXCL: 128, UV_FS_O_FILEMAP: 0, O_NOCTTY: 256, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536, O_NOATIME: 262144, O_NOFOLLOW: 131072, O_SYNC: 1052672, O_DSYNC: 4096, O_DIRECT: 16384, O_NONBLOCK: 2048,
    S_IRWXU: 448, S_IRUSR: 256, S_IWUSR: 128, S_IXUSR: 64, S_IRWXG: 56, S_IRGRP: 32, S_IWGRP: 16, S_IXGRP: 8, S_IRWXO: 7, S_IROTH: 4, S_IWOTH: 2, S_IXOTH: 1,
    F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2, COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4, COPYFILE_FICLONE_FORCE: 4,
  });

  const toDevice = (f, bytes) => {
    if (!f.write) throw failed('EBADF', 'write');
    if (f.device !== 3) internal.writeOutput(f.device === 2, bytes);
    return bytes.length;
  };

  // sizeOf returns a size that a file can be cut to.
  const sizeOf = (n) => {
    check.integer(n, 'len');
    return Math.min(Math.max(n, 0), 2 ** 31 - 1);
  };
  // stats returns what a call finds, or undefined for nothing if options ask for that.
  const stats = (syscall, path, options) => {
    path = pathOf(path);
    try { return new Stats(statOf(syscall, path), options?.bigint); } catch (e) {
      if (options?.throwIfNoEntry === false && (e.code === 'ENOENT' || e.code === 'ENOTDIR')) return undefined;
      throw e;
    }
  };
  const fs = {
    existsSync(path) {
      try {
        path = pathOf(path);
        return path !== '' && (device(path) !== undefined || typeof internal.sync('fs.stat', full(path)) !== 'string');
      } catch { return false; }
    },
    statSync(path, options = undefined) { return stats('stat', path, options); },
    lstatSync(path, options = undefined) { return stats('lstat', path, options); },
    accessSync(path, mode) {
      path = pathOf(path);
      mode = accessMode(mode);
      const s = new Stats(statOf('access', path));
      if (mode & 2 && !(s.mode & 0o222) || mode & 1 && !s.isDirectory() && !(s.mode & 0o111)) throw failed(mode & 2 ? 'EROFS' : 'EACCES', 'access', path);
    },
    readFileSync(path, options) {
      options = optionsOf(options);
      const d = device(path);
      if (isFd(path) || d !== undefined) {
        const f = d ?? opened(path, 'read');
        if (!f.read) throw failed('EBADF', 'read');
        const all = contentOf(f), rest = Buffer.from(all.subarray(f.at));
        f.at = all.length;
        return given(rest, options.encoding);
      }
      path = pathOf(path);
      const flag = flagsOf(options.flag);
      if (flag.exclusive || flag.truncate || flag.create || !flag.read) fs.closeSync(fs.openSync(path, options.flag));
      if (!flag.read) throw failed('EBADF', 'read');
      const out = path === '' ? 'ENOENT' : internal.sync('fs.read', full(path));
      if (typeof out === 'string') throw out === 'EISDIR' ? failed(out, 'read') : failed(out, 'open', path);
      return given(Buffer.from(out), options.encoding);
    },
    writeFileSync(path, data, options) {
      options = optionsOf(options);
      check.boolean(options.flush ?? false, 'options.flush');
      const bytes = bytesOf(data, options.encoding || 'utf8');
      if (isFd(path)) {
        fs.writeSync(path, bytes);
        if (options.flush) fs.fsyncSync(path);
        return;
      }
      const d = device(path);
      if (d !== undefined) { toDevice(d, bytes); return; }
      if (options.flush) {
        const fd = fs.openSync(path, options.flag || 'w', options.mode);
        try { fs.writeFileSync(fd, bytes, { flush: true }); } finally { fs.closeSync(fd); }
        return;
      }
      path = pathOf(path);
      const flag = flagsOf(options.flag || 'w'), mode = modeOf(options.mode, 0o666);
      if (!flag.write) { fs.openSync(path, options.flag); throw failed('EBADF', 'write'); }
      const exists = fs.existsSync(path);
      if (flag.exclusive && exists) throw failed('EEXIST', 'open', path);
      if (!flag.create && !exists) throw failed('ENOENT', 'open', path);
      put(path, flag.append ? -1 : flag.truncate ? -2 : 0, bytes);
      if (!exists && mode !== 0o666) call('change', 'chmod', path, mode & 0o755, -1);
    },
    appendFileSync(path, data, options) {
      options = { ...optionsOf(options) };
      if (!options.flag || isFd(path)) options.flag = 'a';
      fs.writeFileSync(path, data, options);
    },
    mkdirSync(path, options) {
      const set = typeof options === 'number' || typeof options === 'string' ? { mode: options } : options ?? {};
      path = pathOf(path);
      const recursive = set.recursive === undefined ? false : set.recursive;
      check.boolean(recursive, 'options.recursive');
      const mode = modeOf(set.mode === undefined ? 0o777 : set.mode, undefined);
      let first;
      if (recursive && path !== '') for (let p = full(path); !fs.existsSync(p); p = modules.path.dirname(p)) first = p;
      call('mkdir', 'mkdir', path, recursive);
      if (mode !== 0o777 && (!recursive || first !== undefined)) call('change', 'chmod', path, mode & 0o755, -1);
      return recursive ? first : undefined;
    },
    mkdtempSync(prefix, options) {
      prefix = pathOf(prefix, 'prefix');
      optionsOf(options);
      for (;;) {
        const path = prefix + Math.random().toString(36).slice(2, 8).padEnd(6, 'x');
        if (fs.existsSync(path)) continue;
        try { call('mkdir', 'mkdtemp', path, false); } catch (e) { throw failed(e.code, 'mkdtemp', `${prefix}XXXXXX`); }
        return named(path, options);
      }
    },
    readdirSync(path, options) {
      const { encoding, withFileTypes, recursive } = optionsOf(options);
      path = pathOf(path);
      if (recursive !== undefined && recursive !== null) check.boolean(recursive, 'options.recursive');
      const out = [];
      const dirs = [[path, '']];
      for (let at = 0; at < dirs.length; at++) {
        const [dir, prefix] = dirs[at], list = call('list', 'scandir', dir);
        for (let i = 0; i < list.length; i += 2) {
          const name = list[i], folder = list[i + 1], shown = named(withFileTypes ? name : prefix + name, encoding ? { encoding } : undefined);
          out.push(withFileTypes ? new Dirent(shown, dir, folder) : shown);
          if (folder && recursive) dirs.push([modules.path.join(dir, name), prefix + name + '/']);
        }
      }
      return out;
    },
    unlinkSync(path) { call('remove', 'unlink', pathOf(path), false, false); },
    rmdirSync(path, options) {
      path = pathOf(path);
      const { recursive } = removal(options);
      if (recursive && !fs.lstatSync(path).isDirectory()) throw failed('ENOTDIR', 'rmdir', path);
      call('remove', 'rmdir', path, true, recursive);
    },
    rmSync(path, options) {
      path = pathOf(path);
      const { recursive, force } = removal(options, { recursive: false, force: false, retryDelay: 100, maxRetries: 0 });
      const found = fs.lstatSync(path, { throwIfNoEntry: !force });
      if (found === undefined) return;
      if (found.isDirectory() && !recursive) throw systemError('ERR_FS_EISDIR', 'Path is a directory', 'EISDIR', 21, 'rm', path, 'is a directory');
      call('remove', 'rm', path, true, true);
    },
    renameSync(from, to) {
      from = pathOf(from, 'oldPath');
      to = pathOf(to, 'newPath');
      if (from === '' || to === '') throw failed('ENOENT', 'rename', from, to);
      call('rename', 'rename', from, full(to));
    },
    copyFileSync(from, to, mode) {
      from = pathOf(from, 'src');
      to = pathOf(to, 'dest');
      const out = from === '' ? (accessMode(mode), 'ENOENT') : accessMode(mode) & 1 && fs.existsSync(to) ? 'EEXIST' : internal.sync('fs.read', full(from));
      if (typeof out === 'string') throw failed(out, 'copyfile', from, to);
      call('write', 'copyfile', to, -2, out);
    },
    cpSync(from, to, options) {
      options = copying(options);
      copyTree(pathOf(from, 'src'), pathOf(to, 'dest'), options);
    },
    truncateSync(path, n = 0) {
      if (typeof path === 'number') { fs.ftruncateSync(path, n); return; }
      path = pathOf(path);
      if (!fs.existsSync(path)) call('stat', 'open', path);
      call('truncate', 'open', path, sizeOf(n));
    },
    chmodSync(path, mode) { call('change', 'chmod', pathOf(path), modeOf(mode) & 0o7777, -1); },
    lchmodSync(path, mode) { fs.chmodSync(path, mode); },
    utimesSync(path, atime, mtime) { setTimes('utime', pathOf(path), secondsOf(atime), secondsOf(mtime)); },
    lutimesSync(path, atime, mtime) { setTimes('lutime', pathOf(path), secondsOf(atime), secondsOf(mtime)); },
    chownSync(path, uid, gid) {
      path = pathOf(path);
      checkOwner(uid, gid);
      call('stat', 'chown', path);
    },
    lchownSync(path, uid, gid) {
      path = pathOf(path);
      checkOwner(uid, gid);
      call('stat', 'lchown', path);
    },
    realpathSync(path, options) {
      optionsOf(options);
      path = pathOf(path instanceof URL || path instanceof Uint8Array ? path : `${path}`);
      call('stat', 'lstat', path === '' ? '.' : path);
      return named(full(path), options);
    },
    readlinkSync(path, options) {
      optionsOf(options);
      path = pathOf(path, 'oldPath');
      call('stat', 'readlink', path);
      throw failed('EINVAL', 'readlink', path);
    },
    symlinkSync(target, path, type) {
      if (typeof type === 'string' && !['dir', 'file', 'junction'].includes(type)) throw nodeError(Error, 'ERR_FS_INVALID_SYMLINK_TYPE', `Symlink type must be one of "dir", "file", or "junction". Received "${type}"`);
      target = pathOf(target, 'target');
      path = pathOf(path);
      const parent = path === '' || target === '' ? 'ENOENT' : internal.sync('fs.stat', modules.path.dirname(full(path)));
      throw failed(typeof parent === 'string' ? parent : fs.existsSync(path) ? 'EEXIST' : 'EPERM', 'symlink', target, path);
    },
    linkSync(from, to) {
      from = pathOf(from, 'existingPath');
      to = pathOf(to, 'newPath');
      const found = from === '' || to === '' ? 'ENOENT' : internal.sync('fs.stat', full(from));
      throw failed(typeof found === 'string' ? found : 'EPERM', 'link', from, to);
    },
    statfsSync(path, options = undefined) {
      call('stat', 'statfs', pathOf(path));
      const n = options?.bigint ? BigInt : (v) => v;
      return Object.assign(new StatFs(), { type: n(16914836), bsize: n(4096), blocks: n(16384), bfree: n(16384), bavail: n(16384), files: n(4096), ffree: n(4096) });
    },
    opendirSync(path, options) {
      path = pathOf(path);
      const { bufferSize = 32, encoding, recursive } = optionsOf(options);
      let list;
      try { list = fs.readdirSync(path, { withFileTypes: true, encoding, recursive }); } catch (e) {
        throw e.syscall === 'scandir' ? failed(e.code, 'opendir', path) : e;
      }
      check.uint32(bufferSize, 'options.bufferSize', true);
      return new Dir(path, list);
    },
    openSync(path, flags, mode) {
      path = pathOf(path);
      const f = flagsOf(flags), d = device(path);
      mode = modeOf(mode, 0o666);
      if (d !== undefined) {
        open.set(nextFd, d);
        return nextFd++;
      }
      const exists = fs.existsSync(path);
      if (exists && f.exclusive) throw failed('EEXIST', 'open', path);
      if (!exists && !f.create) throw failed(path === '' ? 'ENOENT' : internal.sync('fs.stat', full(path)), 'open', path);
      const isFolder = exists && fs.statSync(path).isDirectory();
      if (isFolder && f.write) throw failed('EISDIR', 'open', path);
      if (exists && f.folder && !isFolder) throw failed('ENOTDIR', 'open', path);
      if (f.truncate || !exists) put(path, -2, Buffer.alloc(0));
      if (!exists && mode !== 0o666) call('change', 'open', path, mode & 0o755, -1);
      open.set(nextFd, { path: full(path), ...f, at: 0 });
      return nextFd++;
    },
    closeSync(fd) {
      opened(fd, 'close');
      open.delete(fd);
    },
    fstatSync(fd, options = undefined) { const f = opened(fd, 'fstat'); return new Stats(statOf('fstat', f.path, f.device === undefined ? undefined : f), options?.bigint); },
    readSync(fd, buffer, offset, length, position) {
      fdOf(fd);
      check.view(buffer);
      if (arguments.length <= 3 || offset !== null && typeof offset === 'object') {
        if (offset !== undefined) check.object(offset, 'options', 'null');
        ({ offset = 0, length = buffer.byteLength - offset, position = null } = offset ?? {});
      }
      if (offset === null || offset === undefined) offset = 0;
      else check.integer(offset, 'offset', 0);
      length |= 0;
      if (length === 0) return 0;
      if (buffer.byteLength === 0) throw internal.nodeInvalidValue('buffer', buffer, 'is empty and cannot be written');
      span(offset, length, buffer.byteLength, true);
      position = positionOf(position);
      const f = opened(fd, 'read');
      if (!f.read) throw failed('EBADF', 'read');
      const at = f.device === 0 || position < 0 ? f.at : position;
      const part = f.device === undefined ? new Uint8Array(call('read', 'read', f.path, Math.min(at, 2 ** 31 - 1), Math.min(length, 2 ** 31 - 1)))
        : contentOf(f).subarray(at, at + length);
      new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(part, offset);
      if (f.device === 0 || position < 0) f.at = at + part.length;
      return part.length;
    },
    writeSync(fd, buffer, offset, length, position) {
      fdOf(fd);
      let bytes;
      if (ArrayBuffer.isView(buffer)) {
        if (typeof offset === 'object') ({ offset = 0, length = buffer.byteLength - offset, position = null } = offset ?? {});
        if (offset === null || offset === undefined) offset = 0;
        else check.integer(offset, 'offset', 0);
        if (typeof length !== 'number') length = buffer.byteLength - offset;
        span(offset, length, buffer.byteLength, false);
        bytes = bytesOf(buffer).subarray(offset, offset + length);
      } else {
        textOrView(buffer, 'buffer');
        if (typeof length === 'string' && length.toLowerCase() === 'hex' && buffer.length % 2 === 1) throw internal.nodeInvalidValue('encoding', length, `is invalid for data of length ${buffer.length}`);
        bytes = Buffer.from(buffer, Buffer.isEncoding(length) ? length : 'utf8');
        position = offset;
      }
      const f = opened(fd, 'write');
      if (!f.write) throw failed('EBADF', 'write');
      if (f.device !== undefined) return toDevice(f, bytes);
      const placed = typeof position === 'number' && position >= 0;
      const at = f.append ? -1 : placed ? position : f.at;
      call('write', 'write', f.path, at | 0, internal.bufferOf(bytes));
      if (!placed) f.at = at === -1 ? fs.statSync(f.path).size : at + bytes.length;
      return bytes.length;
    },
    ftruncateSync(fd, n = 0) {
      n = sizeOf(n);
      const f = opened(fd, 'ftruncate');
      if (!f.write || f.device !== undefined) throw failed('EINVAL', 'ftruncate');
      call('truncate', 'ftruncate', f.path, n);
    },
    fsyncSync(fd) { opened(fd, 'fsync'); },
    fdatasyncSync(fd) { opened(fd, 'fdatasync'); },
    futimesSync(fd, atime, mtime) {
      const a = secondsOf(atime, 'atime'), m = secondsOf(mtime, 'mtime');
      setTimes('futime', opened(fd, 'futime').path, a, m);
    },
    fchmodSync(fd, mode) {
      mode = modeOf(mode);
      fs.chmodSync(opened(fd, 'fchmod').path, mode);
    },
    fchownSync(fd, uid, gid) {
      checkOwner(uid, gid);
      opened(fd, 'fchown');
    },
    readvSync(fd, buffers, position) { return eachView(fs.readSync, fd, buffers, position); },
    writevSync(fd, buffers, position) { return eachView(fs.writeSync, fd, buffers, position); },
  };
  const setTimes = (syscall, path, atime, mtime) => call('change', syscall, path, -1, Math.min(Math.floor(mtime), 2 ** 31 - 1));
  // eachView reads or writes buffers one after the other.
  const eachView = (move, fd, buffers, position) => {
    fdOf(fd);
    views(buffers);
    let n = 0;
    for (const b of buffers) {
      if (b.byteLength > 0) n += move(fd, b, 0, b.byteLength, typeof position === 'number' ? position + n : null);
    }
    return n;
  };
  // copyTree copies a file or a folder. It refuses to copy a folder into itself.
  const copyTree = (from, to, options) => {
    if (options.filter !== undefined && !options.filter(from, to)) return;
    const refuse = (key, text, code, errno, why, path = to) => { throw systemError(key, text, code, errno, 'cp', path, why); };
    const source = fs.lstatSync(from), target = fs.lstatSync(to, { throwIfNoEntry: false });
    if (target !== undefined) {
      if (full(from) === full(to)) refuse('ERR_FS_CP_EINVAL', 'Invalid src or dest', 'EINVAL', 22, 'src and dest cannot be the same');
      if (source.isDirectory() && !target.isDirectory()) refuse('ERR_FS_CP_DIR_TO_NON_DIR', 'Cannot overwrite non-directory with directory', 'EISDIR', 21, `cannot overwrite non-directory ${to} with directory ${from}`);
      if (!source.isDirectory() && target.isDirectory()) refuse('ERR_FS_CP_NON_DIR_TO_DIR', 'Cannot overwrite directory with non-directory', 'ENOTDIR', 20, `cannot overwrite directory ${to} with non-directory ${from}`);
    }
    if (source.isDirectory() && `${full(to)}/`.startsWith(`${full(from)}/`)) refuse('ERR_FS_CP_EINVAL', 'Invalid src or dest', 'EINVAL', 22, `cannot copy ${from} to a subdirectory of self ${to}`);
    if (source.isDirectory()) {
      if (!options.recursive) refuse('ERR_FS_EISDIR', 'Path is a directory', 'EISDIR', 21, `${from} is a directory (not copied)`, from);
      fs.mkdirSync(to, { recursive: true });
      for (const name of fs.readdirSync(from)) copyTree(modules.path.join(from, name), modules.path.join(to, name), options);
      return;
    }
    if (target !== undefined && !options.force) {
      if (options.errorOnExist) refuse('ERR_FS_CP_EEXIST', 'Target already exists', 'EEXIST', 17, `${to} already exists`);
      return;
    }
    fs.mkdirSync(modules.path.dirname(full(to)), { recursive: true });
    fs.copyFileSync(from, to, options.mode);
    if (options.preserveTimestamps) fs.utimesSync(to, source.atime, source.mtime);
  };
  for (const name of Object.keys(fs)) Object.defineProperty(fs[name], 'name', { value: name, configurable: true });
  fs.realpathSync.native = (path, options) => fs.realpathSync(path, options);

  class StatFs {}
  // Dir is a folder that was opened. Its entries were read when it was.
  class Dir {
    #path; #entries; #closed = false;
    constructor(path, entries) {
      this.#path = path;
      this.#entries = entries;
    }
    get path() { return this.#path; }
    #use() { if (this.#closed) throw nodeError(Error, 'ERR_DIR_CLOSED', 'Directory handle was closed'); }
    readSync() {
      this.#use();
      return this.#entries.shift() ?? null;
    }
    read(done) {
      if (done === undefined) return new Promise((resolve) => { resolve(this.readSync()); });
      check.func(done, 'callback');
      const entry = this.readSync();
      process.nextTick(done, null, entry);
      return undefined;
    }
    closeSync() {
      this.#use();
      this.#closed = true;
    }
    close(done) {
      if (done === undefined) return new Promise((resolve) => { resolve(this.closeSync()); });
      check.func(done, 'callback');
      let failure = null;
      try { this.closeSync(); } catch (e) { failure = e; }
      process.nextTick(done, failure);
      return undefined;
    }
    async* entries() {
      try {
        for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry;
      } finally { this.closeSync(); }
    }
  }
  internal.define(Dir.prototype, Symbol.asyncIterator, Dir.prototype.entries);
  internal.nodeFiles = { fs, opened, pathOf };
  Object.assign(fs, { Dirent, Stats, Dir, _toUnixTimestamp: secondsOf, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 });
  Object.defineProperty(fs, 'constants', { value: constants, enumerable: true });
  modules.fs = fs;
  return internal;
}
