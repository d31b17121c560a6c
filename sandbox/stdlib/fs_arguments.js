// The arguments of Node's fs: paths, descriptors, modes, flags and options, checked as in Node, and its errors.
(host, internal) => {
  'use strict';
  const { modules, nodeError, check, nodeInvalidValue: invalidValue } = internal;
  const { Buffer } = modules.buffer;

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
  // systemError returns an error of fs.rm and fs.cp, which Node finds itself.
  const systemError = (key, text, code, errno, syscall, path, why) => {
    const e = nodeError(Error, key, `${text}: ${syscall} returned ${code} (${why}) ${path}`);
    internal.define(e, 'name', 'SystemError');
    e.stack = e.stack.replace(/^Error/, 'SystemError');
    return Object.assign(e, { info: { message: why, path, syscall, errno, code }, errno, syscall, path });
  };

  const pathOf = (v, name = 'path') => {
    if (v instanceof URL) v = modules.url.fileURLToPath(v);
    const text = v instanceof Uint8Array ? Buffer.from(v).toString() : v;
    if (typeof text !== 'string') throw internal.nodeWrongType(name, 'of type string or an instance of Buffer or URL', v);
    if (text.includes('\0')) throw invalidValue(name, v, 'must be a string, Uint8Array, or URL without null bytes');
    return text;
  };
  const fdOf = (fd) => {
    check.int32(fd, 'fd', 0);
    return fd;
  };
  const isFd = (v) => typeof v === 'number' && (v | 0) === v;
  // modeOf returns the bits of a file's mode, which is a number or has octal digits.
  const modeOf = (v, otherwise, name = 'mode') => {
    v ??= otherwise;
    if (typeof v === 'string') {
      if (!/^[0-7]+$/.test(v)) throw invalidValue(name, v, 'must be a 32-bit unsigned integer or an octal string');
      v = parseInt(v, 8);
    }
    check.uint32(v, name);
    return v;
  };
  // accessMode checks the mode of access and copyFile.
  const accessMode = (v) => {
    if (v === undefined || v === null) return 0;
    if (typeof v !== 'number') throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'mode must be int32 or null/undefined');
    if (!Number.isFinite(v)) throw nodeError(RangeError, 'ERR_OUT_OF_RANGE', 'mode is out of range');
    v = Math.trunc(v);
    if (v < 0 || v > 7) throw nodeError(RangeError, 'ERR_OUT_OF_RANGE', 'mode is out of range: >= 0 && <= 7');
    return v;
  };
  const checkEncoding = (encoding) => {
    if (encoding && encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw invalidValue('encoding', encoding, 'is invalid encoding');
  };
  // optionsOf returns options, of which a string is the encoding.
  const optionsOf = (options, otherwise) => {
    if (options === undefined || options === null || typeof options === 'function') return { ...otherwise };
    if (typeof options === 'string') options = { ...otherwise, encoding: options };
    else if (typeof options !== 'object') throw internal.nodeWrongType('options', 'one of type string or object', options);
    checkEncoding(options.encoding);
    check.signal(options.signal, 'options.signal');
    return options;
  };
  const flagsOf = (flags, name = 'flags') => {
    if (typeof flags === 'number') {
      check.int32(flags, name);
      return { read: (flags & 3) !== 1, write: (flags & 3) !== 0, create: !!(flags & 64), exclusive: (flags & 192) === 192, truncate: !!(flags & 512), append: !!(flags & 1024), folder: !!(flags & 65536) };
    }
    const m = /^(?:(r|rs|sr)|(w|wx|xw)|(a|ax|xa|as|sa))(\+?)$/.exec(flags ?? 'r');
    if (m === null || typeof (flags ?? 'r') !== 'string') throw invalidValue(name, flags);
    const plus = m[4] === '+';
    return { read: plus || m[1] !== undefined, write: plus || m[1] === undefined, create: m[1] === undefined, exclusive: flags?.includes('x') ?? false, truncate: m[2] !== undefined, append: m[3] !== undefined, folder: false };
  };
  // secondsOf returns a time in seconds: a date, a number, or a string that is one.
  const secondsOf = (v, name = 'time') => {
    if (typeof v === 'string' && +v == v) return +v; // eslint-disable-line eqeqeq
    if (typeof v === 'number' && Number.isFinite(v)) return v < 0 ? Date.now() / 1000 : v;
    if (v instanceof Date) return v.getTime() / 1000;
    throw internal.nodeWrongType(name, 'an instance of Date or an Time in seconds', v);
  };
  const checkOwner = (uid, gid) => {
    check.integer(uid, 'uid', -1, 2 ** 32 - 1);
    check.integer(gid, 'gid', -1, 2 ** 32 - 1);
  };
  const removal = (options, defaults = { retryDelay: 100, maxRetries: 0, recursive: false }) => {
    if (options === undefined) return defaults;
    check.object(options, 'options');
    options = { ...defaults, ...options };
    check.boolean(options.recursive, 'options.recursive');
    check.int32(options.retryDelay, 'options.retryDelay', 0);
    check.uint32(options.maxRetries, 'options.maxRetries');
    if (defaults.force !== undefined) check.boolean(options.force, 'options.force');
    return options;
  };
  const copying = (options) => {
    const flags = { dereference: false, errorOnExist: false, force: true, preserveTimestamps: false, recursive: false, verbatimSymlinks: false };
    if (options === undefined) return flags;
    check.object(options, 'options');
    options = { ...flags, ...options };
    for (const name of Object.keys(flags)) check.boolean(options[name], `options.${name}`);
    if (options.mode !== undefined && options.mode !== null) check.integer(options.mode, 'mode', 0, 7);
    if (options.dereference && options.verbatimSymlinks) throw nodeError(TypeError, 'ERR_INCOMPATIBLE_OPTION_PAIR', 'Option "dereference" cannot be used in combination with option "verbatimSymlinks"');
    if (options.filter !== undefined) check.func(options.filter, 'options.filter');
    return options;
  };
  const views = (list) => {
    if (!Array.isArray(list) || !list.every((b) => ArrayBuffer.isView(b))) throw internal.nodeWrongType('buffers', 'an ArrayBufferView[]', list);
    return list;
  };
  // span checks the part of a buffer that is read or written.
  const span = (offset, length, size, reads) => {
    if (reads) {
      if (length < 0) throw internal.nodeOutOfRange('length', '>= 0', length);
      if (offset + length > size) throw internal.nodeOutOfRange('length', `<= ${size - offset}`, length);
      return;
    }
    if (offset > size) throw internal.nodeOutOfRange('offset', `<= ${size}`, offset);
    if (length > size - offset) throw internal.nodeOutOfRange('length', `<= ${size - offset}`, length);
    if (length < 0) throw internal.nodeOutOfRange('length', '>= 0', length);
    check.int32(length, 'length', 0);
  };
  const positionOf = (v) => {
    if (v === undefined || v === null) return -1;
    if (typeof v === 'number') check.integer(v, 'position', -1);
    else if (typeof v !== 'bigint') throw internal.nodeWrongType('position', 'of type bigint or integer', v);
    else if (v < -(2n ** 63n) || v > 2n ** 63n - 1n) throw internal.nodeOutOfRange('position', `>= ${-(2n ** 63n)} && <= ${2n ** 63n - 1n}`, v);
    return Number(v);
  };
  const textOrView = (v, name) => {
    if (typeof v !== 'string' && !ArrayBuffer.isView(v)) throw internal.nodeWrongType(name, 'of type string or an instance of Buffer, TypedArray, or DataView', v);
  };

  internal.fsArguments = { failed, systemError, pathOf, fdOf, isFd, modeOf, accessMode, checkEncoding, optionsOf, flagsOf, secondsOf, checkOwner, removal, copying, views, span, positionOf, textOrView };
  return internal;
}
