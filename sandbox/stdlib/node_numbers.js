// The numeric read and write methods of Node's Buffer.
(host, internal) => {
  'use strict';
  const { nodeError, nodeWrongType: wrongType, nodeOutOfRange: outOfRange } = internal;
  const proto = internal.modules.buffer.Buffer.prototype;
  const define = (o, name, value) => { Object.defineProperty(o, name, { __proto__: null, value, writable: true, enumerable: name !== 'name', configurable: true }); };

  const place = (b, offset, width, name = 'offset') => {
    if (typeof offset !== 'number') throw wrongType(name, 'of type number', offset);
    if (Math.floor(offset) !== offset) throw outOfRange(name, 'an integer', offset);
    const most = b.length - width;
    if (most < 0) throw nodeError(RangeError, 'ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
    if (offset < 0 || offset > most) throw outOfRange(name, `>= 0 and <= ${most}`, offset);
    return offset;
  };
  const dataView = (b) => new DataView(b.buffer, b.byteOffset, b.byteLength);
  const alias = (name, other) => {
    define(proto[name], 'name', name);
    if (other !== name) define(proto, other, proto[name]);
  };
  const span = (min, max, n) => {
    const suffix = n ? 'n' : '';
    if (min === 0 || min === 0n) return max > 2n ** 32n ? `>= 0${suffix} and < 2${suffix} ** 64${suffix}` : `>= 0 and <= ${max}`;
    return `>= ${min} and <= ${max}`;
  };

  const fixed = (name, width, kind, little, min, max) => {
    const get = DataView.prototype['get' + kind], set = DataView.prototype['set' + kind];
    const big = kind.startsWith('Big');
    define(proto, 'read' + name, function (offset = 0) {
      return get.call(dataView(this), place(this, offset, width), little);
    });
    define(proto, 'write' + name, function (value, offset = 0) {
      if (big) {
        if (typeof value !== 'bigint') throw new TypeError('Cannot mix BigInt and other types, use explicit conversions');
        if (value < min || value > max) throw outOfRange('value', min === 0n ? '>= 0n and < 2n ** 64n' : '>= -(2n ** 63n) and < 2n ** 63n', value);
      } else value = +value;
      set.call(dataView(this), place(this, offset, width), value, little);
      return offset + width;
    });
    for (const what of ['read', 'write']) alias(what + name, what + name.replace('UInt', 'Uint'));
  };
  // integer is fixed for one, two and four bytes, without a DataView.
  const integer = (name, width, signed, little) => {
    const max = 2 ** (signed ? 8 * width - 1 : 8 * width) - 1, min = signed ? -max - 1 : 0, unused = 32 - 8 * width;
    const read = width === 1 ? (v, at) => v[at]
      : width === 2 ? (v, at) => (little ? v[at] | v[at + 1] << 8 : v[at] << 8 | v[at + 1])
        : (v, at) => (little ? v[at] | v[at + 1] << 8 | v[at + 2] << 16 | v[at + 3] << 24 : v[at] << 24 | v[at + 1] << 16 | v[at + 2] << 8 | v[at + 3]);
    define(proto, 'read' + name, function (offset = 0) {
      if (typeof offset !== 'number' || this[offset] === undefined || this[offset + width - 1] === undefined) place(this, offset, width);
      const v = read(this, offset) << unused;
      return signed ? v >> unused : v >>> unused;
    });
    define(proto, 'write' + name, function (value, offset = 0) {
      value = +value;
      if (width === 1 && typeof offset !== 'number') place(this, offset, width);
      if (value > max || value < min) throw outOfRange('value', span(min, max), value);
      place(this, offset, width);
      for (let i = 0; i < width; i++) this[little ? offset + i : offset + width - 1 - i] = value >>> 8 * i;
      return offset + width;
    });
    for (const what of ['read', 'write']) alias(what + name, what + name.replace('UInt', 'Uint'));
  };
  integer('UInt8', 1, false, false);
  integer('Int8', 1, true, false);
  for (const little of [true, false]) {
    const end = little ? 'LE' : 'BE';
    for (const width of [2, 4]) for (const signed of [false, true]) integer(`${signed ? 'Int' : 'UInt'}${8 * width}${end}`, width, signed, little);
    fixed('BigUInt64' + end, 8, 'BigUint64', little, 0n, 2n ** 64n - 1n);
    fixed('BigInt64' + end, 8, 'BigInt64', little, -(2n ** 63n), 2n ** 63n - 1n);
    fixed('Float' + end, 4, 'Float32', little);
    fixed('Double' + end, 8, 'Float64', little);

    const width = (n) => {
      if (typeof n !== 'number') throw wrongType('byteLength', 'of type number', n);
      if (Math.floor(n) !== n) throw outOfRange('byteLength', 'an integer', n);
      if (n < 1 || n > 6) throw outOfRange('byteLength', '>= 1 and <= 6', n);
      return n;
    };
    for (const signed of [false, true]) {
      const name = (signed ? 'Int' : 'UInt') + end;
      define(proto, 'read' + name, function (offset, byteLength) {
        if (offset === undefined) throw wrongType('offset', 'of type number', offset);
        const n = width(byteLength);
        place(this, offset, n);
        let value = 0;
        for (let i = 0; i < n; i++) value = value * 256 + this[little ? offset + n - 1 - i : offset + i];
        return signed && value >= 2 ** (8 * n - 1) ? value - 2 ** (8 * n) : value;
      });
      define(proto, 'write' + name, function (value, offset, byteLength) {
        const n = width(byteLength), bits = 8 * n;
        value = +value;
        const min = signed ? -(2 ** (bits - 1)) : 0, max = signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
        if (value > max || value < min) {
          const range = n <= 4 ? span(min, max) : signed ? `>= -(2 ** ${bits - 1}) and < 2 ** ${bits - 1}` : `>= 0 and < 2 ** ${bits}`;
          throw outOfRange('value', range, value);
        }
        place(this, offset, n);
        let rest = Math.trunc(value) || 0;
        if (rest < 0) rest += 2 ** bits;
        for (let i = 0; i < n; i++) {
          this[little ? offset + i : offset + n - 1 - i] = rest % 256;
          rest = Math.floor(rest / 256);
        }
        return offset + n;
      });
      for (const what of ['read', 'write']) alias(what + name, what + name.replace('UInt', 'Uint'));
    }
  }
  return internal;
}
