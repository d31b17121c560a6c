// v8.serialize and v8.deserialize, in the format of V8 (version 15), with Node's way of writing views of memory. Programs
// copy values with them, and keep them in files.
(host, internal) => {
  'use strict';
  const { modules, nodeError, domError } = internal;
  const { Buffer } = modules.buffer;
  const { types } = modules.util;
  const version = 15;
  // The kinds of views by their numbers in the format.
  const views = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, DataView, Buffer, BigInt64Array, BigUint64Array];
  const tagOf = Object.fromEntries(Object.entries({
    padding: '\0', undefined: '_', null: '0', true: 'T', false: 'F', int: 'I', uint: 'U', double: 'N', bigint: 'Z', utf8: 'S', latin1: '"', utf16: 'c', reference: '^',
    object: 'o', objectEnd: '{', dense: 'A', denseEnd: '$', sparse: 'a', sparseEnd: '@', hole: '-', date: 'D', trueObject: 'y', falseObject: 'x', numberObject: 'n', bigintObject: 'z',
    stringObject: 's', regexp: 'R', map: ';', mapEnd: ':', set: "'", setEnd: ',', buffer: 'B', error: 'r', host: '\\',
  }).map(([name, c]) => [name, c.charCodeAt(0)]));
  const flags = 'gimyus'; // by their bits
  const errors = { E: EvalError, R: RangeError, F: ReferenceError, S: SyntaxError, T: TypeError, U: URIError };
  const isIndex = (key) => `${key >>> 0}` === key && key >>> 0 !== 0xffffffff;
  // tables are the objects that a serializer has written, or that a deserializer has read, in their order.
  const tables = new WeakMap();

  class Serializer {
    #bytes = Buffer.allocUnsafe(64);
    #length = 0;
    constructor() { tables.set(this, new Map()); }
    #room(n) {
      if (this.#length + n > this.#bytes.length) {
        const more = Buffer.allocUnsafe(Math.max(this.#length + n, 2 * this.#bytes.length));
        more.set(this.#bytes.subarray(0, this.#length));
        this.#bytes = more;
      }
      this.#length += n;
      return this.#length - n;
    }
    #byte(v) { const at = this.#room(1); this.#bytes[at] = v; }
    #varint(v) {
      for (; v >= 128; v = Math.floor(v / 128)) this.#byte(v % 128 | 128);
      this.#byte(v);
    }
    writeHeader() { this.#byte(255); this.#byte(version); }
    writeUint32(v) { this.#varint(v >>> 0); }
    writeUint64(high, low) { this.#big(BigInt(high >>> 0) << 32n | BigInt(low >>> 0)); }
    #big(v) {
      for (; v >= 128n; v >>= 7n) this.#byte(Number(v & 127n) | 128);
      this.#byte(Number(v));
    }
    writeDouble(v) { const at = this.#room(8); this.#bytes.writeDoubleLE(v, at); }
    writeRawBytes(v) {
      const bytes = ArrayBuffer.isView(v) ? new Uint8Array(v.buffer, v.byteOffset, v.byteLength) : new Uint8Array(v);
      const at = this.#room(bytes.length);
      this.#bytes.set(bytes, at);
    }
    releaseBuffer() {
      const out = Buffer.from(new Uint8Array(this.#bytes.subarray(0, this.#length)).buffer);
      this.#bytes = Buffer.allocUnsafe(64);
      this.#length = 0;
      return out;
    }
    transferArrayBuffer() {}
    _setTreatArrayBufferViewsAsHostObjects() {}
    writeValue(v) {
      this.#value(v);
      return true;
    }
    #number(v) {
      if (v === (v | 0) && !Object.is(v, -0)) {
        this.#byte(tagOf.int);
        this.#varint((v << 1 ^ v >> 31) >>> 0);
        return;
      }
      this.#byte(tagOf.double);
      this.writeDouble(v);
    }
    #digits(v) {
      const size = v < 0n ? -v : v, n = Math.ceil(size.toString(16).length / 16) * (size === 0n ? 0 : 8);
      this.#varint(n * 2 + (v < 0n ? 1 : 0));
      const at = this.#room(n);
      for (let i = 0; i < n; i += 8) this.#bytes.writeBigUInt64LE(size >> BigInt(8 * i) & 0xffffffffffffffffn, at + i);
    }
    #string(v) {
      if (!/[^\0-\xff]/.test(v)) {
        this.#byte(tagOf.latin1);
        this.#varint(v.length);
        const at = this.#room(v.length);
        this.#bytes.latin1Write(v, at);
        return;
      }
      // The characters begin at an even offset.
      const size = v.length * 2;
      if ((this.#length + 1 + (size < 128 ? 1 : Math.ceil(Math.log2(size + 1) / 7))) % 2 === 1) this.#byte(tagOf.padding);
      this.#byte(tagOf.utf16);
      this.#varint(size);
      const at = this.#room(size);
      this.#bytes.ucs2Write(v, at);
    }
    #value(v) {
      switch (typeof v) {
      case 'undefined': this.#byte(tagOf.undefined); return;
      case 'boolean': this.#byte(v ? tagOf.true : tagOf.false); return;
      case 'number': this.#number(v); return;
      case 'bigint': this.#byte(tagOf.bigint); this.#digits(v); return;
      case 'string': this.#string(v); return;
      case 'object': break;
      default: throw this.#uncloneable(String(v));
      }
      if (v === null) { this.#byte(tagOf.null); return; }
      const seen = tables.get(this), before = seen.get(v);
      if (before !== undefined) {
        this.#byte(tagOf.reference);
        this.#varint(before);
        return;
      }
      if (ArrayBuffer.isView(v)) {
        seen.set(v, seen.size);
        this.#byte(tagOf.host);
        if (typeof this._writeHostObject !== 'function') throw this.#uncloneable(`#<${v.constructor?.name}>`);
        this._writeHostObject(v);
        return;
      }
      seen.set(v, seen.size);
      this.#object(v);
    }
    #uncloneable(what) {
      const E = this._getDataCloneError, message = `${what} could not be cloned.`;
      return typeof E === 'function' ? new E(message) : domError('DataCloneError', message);
    }
    #object(v) {
      if (Array.isArray(v)) this.#array(v);
      else if (types.isDate(v)) { this.#byte(tagOf.date); this.writeDouble(Date.prototype.getTime.call(v)); }
      else if (types.isBoxedPrimitive(v)) this.#boxed(v.valueOf());
      else if (types.isRegExp(v)) {
        this.#byte(tagOf.regexp);
        this.#string(v.source);
        this.#varint([...v.flags].reduce((bits, flag) => bits | (flag === 'd' ? 128 : flag === 'v' ? 256 : 1 << flags.indexOf(flag)), 0));
      } else if (types.isMap(v)) {
        const entries = [...Map.prototype.entries.call(v)];
        this.#byte(tagOf.map);
        for (const [key, value] of entries) { this.#value(key); this.#value(value); }
        this.#byte(tagOf.mapEnd);
        this.#varint(entries.length * 2);
      } else if (types.isSet(v)) {
        const values = [...Set.prototype.values.call(v)];
        this.#byte(tagOf.set);
        for (const value of values) this.#value(value);
        this.#byte(tagOf.setEnd);
        this.#varint(values.length);
      } else if (types.isAnyArrayBuffer(v)) {
        this.#byte(tagOf.buffer);
        this.#varint(v.byteLength);
        this.writeRawBytes(v);
      } else if (types.isNativeError(v)) this.#error(v);
      else if (types.isProxy(v) || types.isPromise(v) || types.isWeakMap(v) || types.isWeakSet(v) || types.isGeneratorObject(v)) throw this.#uncloneable(`#<${v.constructor?.name ?? 'Object'}>`);
      else {
        this.#byte(tagOf.object);
        const n = this.#properties(v, Object.keys(v));
        this.#byte(tagOf.objectEnd);
        this.#varint(n);
      }
    }
    // #properties writes keys and values and returns their number.
    #properties(v, keys) {
      let n = 0;
      for (const key of keys) {
        if (!Object.hasOwn(v, key)) continue; // a getter before has deleted it
        if (isIndex(key)) this.#number(+key); else this.#string(key);
        this.#value(v[key]);
        n++;
      }
      return n;
    }
    #array(v) {
      const { length } = v, keys = Object.keys(v), dense = keys.length >= length && (length === 0 || keys[length - 1] === `${length - 1}`);
      this.#byte(dense ? tagOf.dense : tagOf.sparse);
      this.#varint(length);
      if (dense) for (let i = 0; i < length; i++) if (i in v) this.#value(v[i]); else this.#byte(tagOf.hole);
      const n = this.#properties(v, dense ? keys.slice(length) : keys);
      this.#byte(dense ? tagOf.denseEnd : tagOf.sparseEnd);
      this.#varint(n);
      this.#varint(length);
    }
    #boxed(v) {
      if (typeof v === 'boolean') this.#byte(v ? tagOf.trueObject : tagOf.falseObject);
      else if (typeof v === 'number') { this.#byte(tagOf.numberObject); this.writeDouble(v); }
      else if (typeof v === 'bigint') { this.#byte(tagOf.bigintObject); this.#digits(v); }
      else if (typeof v === 'string') { this.#byte(tagOf.stringObject); this.#string(v); }
      else throw this.#uncloneable('#<Symbol>');
    }
    #error(v) {
      this.#byte(tagOf.error);
      const kind = Object.keys(errors).find((c) => errors[c].name === v.name);
      if (kind !== undefined) this.#byte(kind.charCodeAt(0));
      const own = Object.getOwnPropertyDescriptor(v, 'message');
      if (own !== undefined && 'value' in own) { this.#byte(109); this.#string(`${own.value}`); }
      if (Object.hasOwn(v, 'cause')) { this.#byte(99); this.#value(v.cause); }
      if (typeof v.stack === 'string') { this.#byte(115); this.#string(v.stack); }
      this.#byte(46);
    }
  }

  const damaged = () => new Error('Unable to deserialize cloned data.');
  class Deserializer {
    #bytes; #at = 0; #version = 0;
    constructor(buffer) {
      if (!ArrayBuffer.isView(buffer)) throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', 'buffer must be a TypedArray or a DataView');
      this.#bytes = Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      internal.define(this, 'buffer', this.#bytes);
      tables.set(this, []);
    }
    #byte() {
      if (this.#at >= this.#bytes.length) throw damaged();
      return this.#bytes[this.#at++];
    }
    #varint() {
      let v = 0;
      for (let scale = 1; ; scale *= 128) {
        const b = this.#byte();
        if (scale < 2 ** 53) v += (b & 127) * scale;
        if (b < 128) return v;
      }
    }
    #take(n) {
      if (n > this.#bytes.length - this.#at) throw damaged();
      return (this.#at += n) - n;
    }
    readHeader() {
      if (this.#byte() !== 255 || (this.#version = this.#varint()) > version) throw new Error('Unable to deserialize cloned data due to invalid or unsupported version.');
      return true;
    }
    getWireFormatVersion() { return this.#version; }
    readUint32() { return this.#varint() >>> 0; }
    readUint64() {
      let v = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const b = this.#byte();
        if (shift < 64n) v |= BigInt(b & 127) << shift;
        if (b < 128) return [Number(v >> 32n & 0xffffffffn), Number(v & 0xffffffffn)];
      }
    }
    readDouble() { return this.#bytes.readDoubleLE(this.#take(8)); }
    readRawBytes(n) { const at = this.#take(n); return this.#bytes.subarray(at, at + n); }
    _readRawBytes(n) { return this.#take(n); }
    transferArrayBuffer() {}
    readValue() { return this.#value(); }
    #keep(v) { tables.get(this).push(v); return v; }
    #digits() {
      const bits = this.#varint(), n = bits >>> 1, at = this.#take(n);
      let v = 0n;
      if (n > 0) v = BigInt(`0x${Buffer.from(this.#bytes.subarray(at, at + n)).reverse().toString('hex')}`);
      return bits & 1 ? -v : v;
    }
    #string(tag) {
      const n = this.#varint(), at = this.#take(n);
      return this.#bytes.toString(tag === tagOf.latin1 ? 'latin1' : tag === tagOf.utf16 ? 'utf16le' : 'utf8', at, at + n);
    }
    #text() {
      const v = this.#value();
      if (typeof v !== 'string') throw damaged();
      return v;
    }
    #value() {
      let tag = this.#byte();
      while (tag === tagOf.padding) tag = this.#byte();
      switch (tag) {
      case tagOf.undefined: return undefined;
      case tagOf.null: return null;
      case tagOf.true: return true;
      case tagOf.false: return false;
      case tagOf.int: { const v = this.#varint() >>> 0; return v >>> 1 ^ -(v & 1); }
      case tagOf.uint: return this.#varint() >>> 0;
      case tagOf.double: return this.readDouble();
      case tagOf.bigint: return this.#digits();
      case tagOf.latin1: case tagOf.utf16: case tagOf.utf8: return this.#string(tag);
      case tagOf.reference: {
        const of = tables.get(this), n = this.#varint();
        if (n >= of.length) throw damaged();
        return of[n];
      }
      case tagOf.object: return this.#properties(this.#keep({}), tagOf.objectEnd, 1);
      case tagOf.dense: case tagOf.sparse: return this.#array(tag === tagOf.dense);
      case tagOf.date: return this.#keep(new Date(this.readDouble()));
      case tagOf.trueObject: return this.#keep(new Boolean(true));
      case tagOf.falseObject: return this.#keep(new Boolean(false));
      case tagOf.numberObject: return this.#keep(new Number(this.readDouble()));
      case tagOf.bigintObject: return this.#keep(Object(this.#digits()));
      case tagOf.stringObject: return this.#keep(new String(this.#text()));
      case tagOf.regexp: {
        const source = this.#text(), bits = this.#varint();
        return this.#keep(new RegExp(source, [...flags].filter((_, i) => bits >> i & 1).join('') + (bits & 128 ? 'd' : '') + (bits & 256 ? 'v' : '')));
      }
      case tagOf.map: {
        const map = this.#keep(new Map());
        while (!this.#ends(tagOf.mapEnd)) { const key = this.#value(); map.set(key, this.#value()); }
        this.#varint();
        return map;
      }
      case tagOf.set: {
        const set = this.#keep(new Set());
        while (!this.#ends(tagOf.setEnd)) set.add(this.#value());
        this.#varint();
        return set;
      }
      case tagOf.buffer: {
        const n = this.#varint(), at = this.#take(n);
        return this.#keep(new Uint8Array(this.#bytes.subarray(at, at + n)).buffer);
      }
      case tagOf.error: return this.#error();
      case tagOf.host: {
        if (typeof this._readHostObject !== 'function') throw damaged();
        const of = tables.get(this), n = of.length;
        of.push(undefined);
        return of[n] = this._readHostObject();
      }
      default: throw damaged();
      }
    }
    #ends(tag) {
      if (this.#at >= this.#bytes.length) throw damaged();
      if (this.#bytes[this.#at] !== tag) return false;
      this.#at++;
      return true;
    }
    #properties(v, end, counts) {
      while (!this.#ends(end)) {
        const key = this.#value();
        if (typeof key !== 'string' && typeof key !== 'number') throw damaged();
        Object.defineProperty(v, key, { __proto__: null, value: this.#value(), writable: true, enumerable: true, configurable: true });
      }
      for (; counts > 0; counts--) this.#varint();
      return v;
    }
    #array(dense) {
      const length = this.#varint();
      if (length > 0xffffffff || dense && length > this.#bytes.length - this.#at) throw damaged();
      const v = this.#keep([]);
      if (dense) {
        for (let i = 0; i < length; i++) {
          if (this.#bytes[this.#at] === tagOf.hole) { this.#at++; v.length = i + 1; } else v[i] = this.#value();
        }
      } else v.length = length;
      return this.#properties(v, dense ? tagOf.denseEnd : tagOf.sparseEnd, 2);
    }
    #error() {
      const of = tables.get(this), n = of.length;
      of.push(undefined);
      let C = Error, message, stack, cause, caused = false;
      for (;;) {
        const tag = String.fromCharCode(this.#byte());
        if (tag === '.') break;
        if (tag === 'm') message = this.#text();
        else if (tag === 's') stack = this.#text();
        else if (tag === 'c') { cause = this.#value(); caused = true; }
        else if (Object.hasOwn(errors, tag)) C = errors[tag];
        else throw damaged();
      }
      const e = message === undefined ? new C() : new C(message);
      internal.define(e, 'stack', stack);
      if (caused) internal.define(e, 'cause', cause);
      return of[n] = e;
    }
  }

  class DefaultSerializer extends Serializer {
    _writeHostObject(v) {
      const kind = Buffer.isBuffer(v) ? 10 : views.findIndex((C, i) => i !== 10 && Object.prototype.toString.call(v) === `[object ${C.name}]`);
      if (kind < 0) throw new this._getDataCloneError(`Unserializable host object: ${modules.util.inspect(v)}`);
      this.writeUint32(kind);
      this.writeUint32(v.byteLength);
      this.writeRawBytes(v);
    }
  }
  DefaultSerializer.prototype._getDataCloneError = Error;
  class DefaultDeserializer extends Deserializer {
    _readHostObject() {
      const C = views[this.readUint32()];
      if (C === undefined) throw damaged();
      const bytes = this.readRawBytes(this.readUint32());
      if (C === Buffer) return Buffer.from(bytes);
      const size = C.BYTES_PER_ELEMENT ?? 1;
      return new C(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.length / size));
    }
  }
  Object.assign(modules.v8, {
    Serializer, Deserializer, DefaultSerializer, DefaultDeserializer,
    serialize(value) {
      const s = new DefaultSerializer();
      s.writeHeader();
      s.writeValue(value);
      return s.releaseBuffer();
    },
    deserialize(buffer) {
      const d = new DefaultDeserializer(buffer);
      d.readHeader();
      return d.readValue();
    },
  });
  return internal;
}
