// Node's buffer.
(host, internal) => {
  'use strict';
  const { define, nodeError, modules } = internal;
  const kMaxLength = 2 ** 32, kStringMaxLength = 2 ** 30 - 25;
  const typed = Object.getPrototypeOf(Uint8Array.prototype);
  const inspect = Symbol.for('nodejs.util.inspect.custom');

  class FastBuffer extends Uint8Array {}

  const { nodeWrongType: wrongType, nodeOutOfRange: outOfRange, nodeKind: kind } = internal;

  const encodings = {
    __proto__: null, utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', latin1: 'latin1', binary: 'latin1',
    ascii: 'ascii', ucs2: 'utf16le', 'ucs-2': 'utf16le', utf16le: 'utf16le', 'utf-16le': 'utf16le',
  };
  const known = (encoding) => typeof encoding === 'string' ? encodings[encoding] ?? encodings[encoding.toLowerCase()] : undefined;
  const unknown = (encoding) => nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', internal.format(['Unknown encoding: %s', encoding]));
  const encodingOf = (encoding) => {
    if (encoding === undefined || encoding === null || encoding === '') return 'utf8';
    const name = known(encoding);
    if (name === undefined) throw unknown(encoding);
    return name;
  };
  internal.nodeEncoding = encodingOf;
  // exactly is encodingOf where null and '' are unknown, too.
  const exactly = (encoding) => {
    const name = encoding === undefined ? 'utf8' : known(`${encoding}`);
    if (name === undefined) throw unknown(encoding);
    return name;
  };

  const fresh = (n) => new FastBuffer(n);
  const view = (buffer, offset, length) => new FastBuffer(buffer, offset, length);
  internal.nodeBuffer = view;
  const wrap = (u) => view(u.buffer, u.byteOffset, u.byteLength);

  const bytesOf = (s, encoding) => {
    switch (encoding) {
      case 'utf8': return wrap(internal.encodeText(s));
      case 'utf16le': {
        const out = fresh(s.length * 2);
        for (let i = 0; i < s.length; i++) {
          const c = s.charCodeAt(i);
          out[2 * i] = c & 255;
          out[2 * i + 1] = c >> 8;
        }
        return out;
      }
      case 'ascii': encoding = 'latin1'; // the low byte of each unit // falls through
      default: return s === '' ? fresh(0) : wrap(new Uint8Array(internal.sync('buffer.decode', encoding, s)));
    }
  };
  const stringOf = (b, encoding) => {
    if (b.length === 0) return '';
    switch (encoding) {
      case 'utf8': return internal.sync('text.decode', 'utf-8', 2, '', internal.bufferOf(b));
      case 'utf16le': {
        let out = '';
        for (let i = 0; i + 1 < b.length; i += 8192) {
          const part = [];
          for (let j = i; j + 1 < b.length && j < i + 8192; j += 2) part.push(b[j] | b[j + 1] << 8);
          out += String.fromCharCode.apply(null, part);
        }
        return out;
      }
      default: return internal.sync('buffer.encode', encoding, internal.bufferOf(b));
    }
  };
  internal.nodeBytes = bytesOf;

  const size = (n, name = 'size') => {
    if (typeof n !== 'number') throw wrongType(name, 'of type number', n);
    if (!(n >= 0 && n <= kMaxLength)) throw outOfRange(name, `>= 0 && <= ${kMaxLength}`, n);
    return n;
  };

  function Buffer(value, encodingOrOffset, length) {
    if (typeof value === 'number') {
      if (typeof encodingOrOffset === 'string') throw wrongType('string', 'of type string', value);
      return Buffer.alloc(value);
    }
    return Buffer.from(value, encodingOrOffset, length);
  }
  Buffer.prototype = FastBuffer.prototype;
  define(Buffer.prototype, 'constructor', Buffer);
  Object.setPrototypeOf(Buffer, Uint8Array);
  Object.defineProperty(Buffer, Symbol.species, { __proto__: null, configurable: true, get() { return FastBuffer; } });

  const fromArray = (list) => {
    const n = list.length > 0 ? Math.min(list.length, kMaxLength) : 0;
    const out = fresh(n);
    if (internal.isTyped(list)) out.set(list.length === n ? list : list.subarray(0, n));
    else for (let i = 0; i < n; i++) out[i] = list[i];
    return out;
  };
  const fromObject = (o) => {
    if (o.length !== undefined || internal.isBuffer(o.buffer) || internal.isShared(o.buffer)) return typeof o.length !== 'number' ? fresh(0) : fromArray(o);
    if (o.type === 'Buffer' && Array.isArray(o.data)) return fromArray(o.data);
    return undefined;
  };

  const statics = {
    from(value, encodingOrOffset, length) {
      if (typeof value === 'string') return bytesOf(value, encodingOf(typeof encodingOrOffset === 'string' ? encodingOrOffset : undefined));
      if (typeof value === 'object' && value !== null) {
        if (!ArrayBuffer.isView(value) && (internal.isBuffer(value) || internal.isShared(value))) {
          let offset = encodingOrOffset === undefined ? 0 : +encodingOrOffset || 0;
          if (offset > value.byteLength) throw nodeError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"offset" is outside of buffer bounds');
          const most = value.byteLength - offset;
          if (length === undefined) length = most;
          else if ((length = +length || 0) <= 0) length = 0;
          else if (length > most) throw nodeError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"length" is outside of buffer bounds');
          return view(value, offset, length);
        }
        const inner = value.valueOf?.();
        if (inner !== null && inner !== value && (typeof inner === 'string' || typeof inner === 'object')) return Buffer.from(inner, encodingOrOffset, length);
        const made = fromObject(value);
        if (made !== undefined) return made;
        if (typeof value[Symbol.toPrimitive] === 'function') {
          const primitive = value[Symbol.toPrimitive]('string');
          if (typeof primitive === 'string') return bytesOf(primitive, encodingOf(encodingOrOffset));
        }
      }
      throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', `The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object.${kind(value)}`);
    },
    alloc: function alloc(n, fill, encoding) { // libraries call it with new
      const out = fresh(size(n));
      if (fill !== undefined && fill !== 0 && n > 0) fillWith(out, fill, 0, n, encoding);
      return out;
    },
    allocUnsafe: function allocUnsafe(n) { return fresh(size(n)); },
    allocUnsafeSlow: function allocUnsafeSlow(n) { return fresh(size(n)); },
    byteLength(value, encoding) {
      if (typeof value !== 'string') {
        if (ArrayBuffer.isView(value) || internal.isBuffer(value) || internal.isShared(value)) return value.byteLength;
        throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "string" argument must be of type string or an instance of Buffer or ArrayBuffer.${kind(value)}`);
      }
      switch (known(encoding) ?? 'utf8') {
        case 'utf16le': return value.length * 2;
        case 'ascii': case 'latin1': return value.length;
        case 'hex': return value.length >>> 1;
        case 'base64': case 'base64url': {
          let n = value.length;
          if (n > 0 && value[n - 1] === '=') n--;
          if (n > 1 && value[n - 1] === '=') n--;
          return n * 3 >>> 2;
        }
        default: return internal.encodeText(value).byteLength;
      }
    },
    compare(a, b) {
      if (!(a instanceof Uint8Array)) throw wrongType('buf1', 'an instance of Buffer or Uint8Array', a);
      if (!(b instanceof Uint8Array)) throw wrongType('buf2', 'an instance of Buffer or Uint8Array', b);
      return order(a, b);
    },
    concat(list, length) {
      if (!Array.isArray(list)) throw wrongType('list', 'an instance of Array', list);
      if (list.length === 0) return fresh(0);
      let total = 0;
      for (let i = 0; i < list.length; i++) {
        if (!(list[i] instanceof Uint8Array)) throw wrongType(`list[${i}]`, 'an instance of Buffer or Uint8Array', list[i]);
        total += list[i].length;
      }
      if (length === undefined) length = total;
      else bound('length', length, kMaxLength);
      const out = fresh(length);
      for (let i = 0, at = 0; i < list.length && at < length; i++) {
        const part = at + list[i].length > length ? list[i].subarray(0, length - at) : list[i];
        typed.set.call(out, part, at);
        at += part.length;
      }
      return out;
    },
    copyBytesFrom(source, offset, length) {
      if (!internal.isTyped(source)) throw wrongType('view', 'an instance of TypedArray', source);
      offset = bound('offset', offset, Number.MAX_SAFE_INTEGER, 0);
      if (length !== undefined) bound('length', length, Number.MAX_SAFE_INTEGER);
      const part = typed.slice.call(source, offset, length === undefined ? undefined : offset + length);
      return wrap(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    },
    isBuffer(v) { return v instanceof Buffer; },
    of(...items) { return fromArray(items); },
    isEncoding(encoding) { return typeof encoding === 'string' && encoding !== '' && known(encoding) !== undefined; },
  };
  // They are enumerable, as in Node: libraries copy them in a loop.
  Object.assign(Buffer, { poolSize: 8192 }, statics);

  const order = (a, b) => {
    const n = Math.min(a.length, b.length);
    let i = 0;
    if (n >= 64 && a.byteOffset % 4 === 0 && b.byteOffset % 4 === 0) { // by words
      const x = new Uint32Array(a.buffer, a.byteOffset, n >>> 2), y = new Uint32Array(b.buffer, b.byteOffset, n >>> 2);
      while (i < x.length && x[i] === y[i]) i++;
      i *= 4;
    }
    for (; i < n; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return a.length < b.length ? -1 : a.length > b.length ? 1 : 0;
  };
  const bound = (name, v, most, otherwise) => {
    if (v === undefined) return otherwise;
    if (typeof v !== 'number') throw wrongType(name, 'of type number', v);
    if (!Number.isInteger(v)) throw outOfRange(name, 'an integer', v);
    if (v < 0 || v > most) throw outOfRange(name, `>= 0 && <= ${most}`, v);
    return v;
  };
  // indexOr0 converts as the native methods do: to an integer, and what is none to 0.
  const indexOr0 = (v, otherwise) => {
    const n = v === undefined ? otherwise : Math.trunc(v) || 0;
    if (n < 0) throw nodeError(RangeError, 'ERR_OUT_OF_RANGE', 'Index out of range');
    return n;
  };
  const integerOr0 = (v) => {
    v = Math.floor(v);
    return Number.isSafeInteger(v) ? v : 0;
  };
  const bytes = (b) => {
    if (!ArrayBuffer.isView(b)) throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'argument must be a buffer');
    return b;
  };
  // put writes a string at an offset, as many whole characters as fit into length.
  const put = (b, string, offset, length, encoding) => {
    if (typeof string !== 'string') throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'argument must be a string');
    let from = bytesOf(string, encoding);
    if (from.length > length) {
      let n = length;
      if (encoding === 'utf8') while (n > 0 && (from[n] & 0xc0) === 0x80) n--;
      if (encoding === 'utf16le') n -= n % 2;
      from = from.subarray(0, n);
    }
    typed.set.call(b, from, offset);
    return from.length;
  };
  const fillWith = (b, value, offset, end, encoding) => {
    const given = value;
    if (typeof value === 'string') {
      if (offset === undefined || typeof offset === 'string') { encoding = offset; offset = undefined; }
      else if (typeof end === 'string') { encoding = end; end = undefined; }
      if (typeof encoding !== 'string' && encoding !== undefined && encoding !== null) throw wrongType('encoding', 'of type string', encoding);
      encoding = encodingOf(encoding);
      value = value === '' ? 0 : bytesOf(value, encoding);
    }
    if (offset === undefined) {
      offset = 0;
      end = b.length;
    } else {
      bound('offset', offset, kMaxLength);
      end = bound('end', end, b.length, b.length);
      if (offset >= end) return b;
    }
    if (!ArrayBuffer.isView(value)) return typed.fill.call(b, typeof value === 'number' ? value & 255 : Number(value) & 255, offset, end);
    if (value.byteLength === 0 && b.length > 0) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'value' is invalid. Received ${internal.inspect(given)}`);
    if (!(value instanceof Uint8Array)) value = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    let done = Math.min(value.length, end - offset);
    for (let i = 0; i < done; i++) b[offset + i] = value[i];
    for (; done < end - offset; done *= 2) typed.copyWithin.call(b, offset + done, offset, Math.min(offset + done, end - done));
    return b;
  };
  const index = (v, otherwise, n) => {
    v = Math.trunc(v);
    if (Number.isNaN(v) || v === undefined) v = otherwise;
    return v < 0 ? Math.max(v + n, 0) : Math.min(v, n);
  };

  const search = (b, value, at, encoding, forward) => {
    if (typeof at === 'string') { encoding = at; at = undefined; }
    at = +at;
    if (Number.isNaN(at)) at = forward ? 0 : b.length;
    at = Math.trunc(at);
    if (at < 0) at += b.length;
    if (typeof value === 'number') {
      value = Math.trunc(value) & 255;
      if (forward) return typed.indexOf.call(b, value, Math.max(at, 0));
      return at < 0 ? -1 : typed.lastIndexOf.call(b, value, at);
    }
    let step = 1;
    if (typeof value === 'string') {
      encoding = exactly(encoding);
      value = bytesOf(value, encoding);
    } else encoding = known(encoding);
    if (!(value instanceof Uint8Array)) throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "value" argument must be one of type number or string or an instance of Buffer or Uint8Array.${kind(value)}`);
    if (forward && at < 0) at = 0;
    if (!forward && at < 0) return -1;
    if (value.length === 0) return Math.min(at, b.length);
    if (encoding === 'utf16le') { // both are searched by units
      if (b.length < 2 || value.length < 2) return -1;
      step = 2;
      value = value.subarray(0, value.length - value.length % 2);
      at -= at % 2;
    }
    const last = b.length - value.length;
    if (!forward) at = Math.min(at, last);
    if (last < 0) return -1;
    // A few comparisons settle most searches. The host goes on where they do not, in time that is linear.
    let left = 64;
    for (let i = at; forward ? i <= last : i >= 0; i += forward ? 1 : -1) {
      if (forward && (i = typed.indexOf.call(b, value[0], i)) < 0 || i > last) return -1;
      if (step === 2 && i % 2) {
        if (left-- > 0) continue;
      } else {
        let j = 0;
        while (j < value.length && b[i + j] === value[j] && left-- > 0) j++;
        if (j === value.length) return i;
        if (left-- > 0) continue;
      }
      const from = forward ? i - i % step : 0, to = forward ? b.length - (b.length - from) % step : Math.min(i + value.length, b.length);
      const found = internal.sync('buffer.search', internal.bufferOf(b.subarray(from, to)), internal.bufferOf(value), (forward ? 0 : 1) | (step === 2 ? 2 : 0));
      return found < 0 ? -1 : from + found * step;
    }
    return -1;
  };

  const swap = (b, width) => {
    if (b.length % width) throw nodeError(RangeError, 'ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${width * 8}-bits`);
    for (let i = 0; i < b.length; i += width) {
      for (let j = i, k = i + width - 1; j < k; j++, k--) {
        const c = b[j];
        b[j] = b[k];
        b[k] = c;
      }
    }
    return b;
  };

  const methods = {
    toString(encoding, start, end) {
      if (arguments.length === 0) return stringOf(this, 'utf8');
      if (start <= 0) start = 0;
      else if (start >= this.length) return '';
      else start = Math.trunc(start) || 0;
      end = end === undefined || end > this.length ? this.length : Math.trunc(end) || 0;
      return end <= start ? '' : stringOf(this.subarray(start, end), exactly(encoding));
    },
    toJSON() {
      return { type: 'Buffer', data: Array.prototype.slice.call(this) };
    },
    equals(other) {
      if (!(other instanceof Uint8Array)) throw wrongType('otherBuffer', 'an instance of Buffer or Uint8Array', other);
      return this.length === other.length && order(this, other) === 0;
    },
    compare(target, targetStart, targetEnd, sourceStart, sourceEnd) {
      if (!(target instanceof Uint8Array)) throw wrongType('target', 'an instance of Buffer or Uint8Array', target);
      targetStart = bound('targetStart', targetStart, kMaxLength, 0);
      targetEnd = bound('targetEnd', targetEnd, target.length, target.length);
      sourceStart = bound('sourceStart', sourceStart, kMaxLength, 0);
      sourceEnd = bound('sourceEnd', sourceEnd, this.length, this.length);
      if (sourceStart >= sourceEnd) return targetStart >= targetEnd ? 0 : -1;
      if (targetStart >= targetEnd) return 1;
      return order(this.subarray(sourceStart, sourceEnd), target.subarray(targetStart, targetEnd));
    },
    copy(target, targetStart = 0, sourceStart = 0, sourceEnd = this.length) {
      if (!(target instanceof Uint8Array)) throw wrongType('target', 'an instance of Buffer or Uint8Array', target);
      targetStart = integerOr0(targetStart);
      sourceStart = integerOr0(sourceStart);
      sourceEnd = integerOr0(sourceEnd);
      if (targetStart < 0) throw outOfRange('targetStart', '>= 0', targetStart);
      if (sourceStart < 0 || sourceStart > this.length) throw outOfRange('sourceStart', `>= 0 && <= ${this.length}`, sourceStart);
      if (sourceEnd < 0) throw outOfRange('sourceEnd', '>= 0', sourceEnd);
      if (targetStart >= target.length || sourceStart >= sourceEnd) return 0;
      const n = Math.min(sourceEnd - sourceStart, target.length - targetStart, this.length - sourceStart);
      typed.set.call(target, this.subarray(sourceStart, sourceStart + n), targetStart);
      return n;
    },
    subarray(start, end) {
      start = index(start, 0, this.length);
      end = end === undefined ? this.length : index(end, 0, this.length);
      return view(this.buffer, this.byteOffset + start, Math.max(end - start, 0));
    },
    slice(start, end) { return this.subarray(start, end); },
    write(string, offset, length, encoding) {
      if (offset === undefined) return put(this, string, 0, this.length, 'utf8');
      let room = this.length;
      if (length === undefined && typeof offset === 'string') {
        encoding = offset;
        offset = 0;
      } else {
        room -= bound('offset', offset, this.length);
        if (typeof length === 'string') encoding = length;
        else if (length !== undefined) room = Math.min(bound('length', length, this.length), room);
      }
      return put(this, string, offset, room, encoding ? exactly(encoding) : 'utf8');
    },
    fill(value, offset, end, encoding) { return fillWith(this, value, offset, end, encoding); },
    indexOf(value, at, encoding) { return search(this, value, at, encoding, true); },
    lastIndexOf(value, at, encoding) { return search(this, value, at, encoding, false); },
    includes(value, at, encoding) { return search(this, value, at, encoding, true) !== -1; },
    swap16() { return swap(this, 2); },
    swap32() { return swap(this, 4); },
    swap64() { return swap(this, 8); },
    toLocaleString(encoding, start, end) { return arguments.length === 0 ? this.toString() : this.toString(encoding, start, end); },
    [inspect](depth, ctx) {
      const most = Math.min(shownBytes, this.length), more = this.length - shownBytes;
      let shown = Array.prototype.map.call(Array.prototype.slice.call(this, 0, most), (v) => (v < 16 ? '0' : '') + v.toString(16)).join(' ');
      if (more > 0) shown += ` ... ${more} more byte${more > 1 ? 's' : ''}`;
      if (ctx) {
        const own = { __proto__: null };
        for (const key of Reflect.ownKeys(this)) {
          if (typeof key === 'string' && /^(0|[1-9]\d*)$/.test(key)) continue;
          if (ctx.showHidden || Object.prototype.propertyIsEnumerable.call(this, key)) own[key] = this[key];
        }
        const rest = Reflect.ownKeys(own).length === 0 ? '' : internal.inspect(own, { ...ctx, breakLength: Infinity, compact: true }).slice(27, -2);
        if (rest !== '') shown += (this.length > 0 ? ', ' : '') + rest;
      }
      return `<${this.constructor.name} ${shown}>`;
    },
  };
  let shownBytes = 50;
  const add = (name, value) => { Object.defineProperty(Buffer.prototype, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true }); };
  for (const name of Reflect.ownKeys(methods)) add(name, methods[name]);
  define(methods[inspect], 'name', 'inspect');
  add('inspect', methods[inspect]);
  for (const name of ['ascii', 'base64', 'base64url', 'latin1', 'hex', 'ucs2', 'utf8']) {
    const encoding = encodingOf(name);
    add(name + 'Slice', { [name + 'Slice'](start, end) {
      const b = bytes(this);
      start = indexOr0(start, 0);
      end = Math.max(indexOr0(end, b.byteLength), start);
      if (end > b.byteLength) throw nodeError(RangeError, 'ERR_OUT_OF_RANGE', 'Index out of range');
      return stringOf(new FastBuffer(b.buffer, b.byteOffset + start, end - start), encoding);
    } }[name + 'Slice']);
    add(name + 'Write', { [name + 'Write'](s, offset, length) {
      const b = bytes(this);
      offset = indexOr0(offset, 0);
      if (typeof s !== 'string') throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'argument must be a string');
      if (offset > b.length) throw nodeError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', '"offset" is outside of buffer bounds');
      return put(b, s, offset, Math.min(indexOr0(length, b.length - offset), b.length - offset), encoding);
    } }[name + 'Write']);
  }
  for (const name of ['parent', 'offset']) {
    Object.defineProperty(Buffer.prototype, name, { __proto__: null, configurable: true, enumerable: true, get() {
      if (!(this instanceof Buffer)) return undefined;
      return name === 'parent' ? this.buffer : this.byteOffset;
    } });
  }

  // checked returns the bytes of a buffer or an array of numbers.
  const checked = (v) => {
    const whole = internal.isBuffer(v) || internal.isShared(v);
    if (!whole && !internal.isTyped(v)) throw wrongType('input', 'an instance of ArrayBuffer, Buffer, or TypedArray', v);
    try {
      return whole ? new Uint8Array(v) : new Uint8Array(v.buffer, v.byteOffset, v.byteLength);
    } catch {
      throw nodeError(Error, 'ERR_INVALID_STATE', 'Cannot validate on a detached buffer');
    }
  };
  const untranscoded = (code, errno) => Object.assign(nodeError(Error, code, `Unable to transcode Buffer [${code}]`), { errno });
  const transcodable = ['utf8', 'utf16le', 'latin1', 'ascii'];
  modules.buffer = {
    Buffer, SlowBuffer: function SlowBuffer(n) { return fresh(size(n)); },
    transcode: function transcode(source, from, to) {
      if (!(source instanceof Uint8Array)) throw wrongType('source', 'an instance of Buffer or Uint8Array', source);
      if (source.length === 0) return fresh(0);
      const nameOf = (v) => v === undefined || v === null || v === '' ? 'utf8' : known(v);
      from = nameOf(from);
      to = nameOf(to);
      if (!transcodable.includes(from) || !transcodable.includes(to)) throw untranscoded('U_ILLEGAL_ARGUMENT_ERROR', 1);
      const all = wrap(source);
      if (from === 'utf8' && to === 'utf16le' && !modules.buffer.isUtf8(source)) throw untranscoded('U_INVALID_CHAR_FOUND', 10);
      let content = stringOf(all, from === 'ascii' ? 'latin1' : from);
      if (from === 'ascii') content = content.replace(/[^\0-\x7f]/g, '\ufffd');
      if (to === 'latin1') content = content.replace(/[^\0-\xff]/gu, '?');
      if (to === 'ascii') content = content.replace(/[^\0-\x7f]/gu, '?');
      return bytesOf(content, to);
    },
    isUtf8: function isUtf8(input) {
      const b = checked(input);
      try { new TextDecoder('utf-8', { fatal: true }).decode(b); return true; } catch { return false; }
    },
    isAscii: function isAscii(input) {
      const b = checked(input);
      for (let i = 0; i < b.length; i++) if (b[i] > 127) return false;
      return true;
    },
    kMaxLength, kStringMaxLength, btoa: globalThis.btoa, atob: globalThis.atob, constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: kStringMaxLength },
    get INSPECT_MAX_BYTES() { return shownBytes; },
    set INSPECT_MAX_BYTES(n) {
      if (typeof n !== 'number') throw wrongType('INSPECT_MAX_BYTES', 'of type number', n);
      if (!(n >= 0)) throw outOfRange('INSPECT_MAX_BYTES', '>= 0', n);
      shownBytes = n;
    },
    Blob: globalThis.Blob, resolveObjectURL: function resolveObjectURL() {}, File: globalThis.File,
  };
  define(globalThis, 'Buffer', Buffer);
  return internal;
}
