// Node's crypto: hashes, HMAC, key derivation and ciphers by the host, and random values of the run.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { LazyTransform: Transform } = internal.nodeStream; // most hashes and ciphers are never used as streams

  const { check } = internal;
  const anyBytes = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView', keys = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey';
  // bytes returns the bytes of a string, a view or a buffer. wanted is what the message says of other values.
  const bytes = (v, name, encoding, wanted = anyBytes) => {
    if (typeof v === 'string') return Buffer.from(v, encoding === 'buffer' || !Buffer.isEncoding(encoding) ? 'utf8' : encoding);
    if (ArrayBuffer.isView(v)) return Buffer.from(v.buffer, v.byteOffset, v.byteLength);
    if (wanted !== streamed && isAnyBuffer(v)) return Buffer.from(v);
    throw internal.nodeWrongType(name, wanted, v);
  };
  const streamed = 'of type string or an instance of Buffer, TypedArray, or DataView';
  // secretBytes returns the bytes of a secret key in any of its forms.
  const secretBytes = (v, name, encoding, wanted = keys) => {
    if (isCryptoKey(v)) v = KeyObject.from(v);
    if (!(v instanceof KeyObject)) return bytes(v, name, encoding, wanted);
    if (v.type !== 'secret') throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE', `Invalid key object type ${v.type}, expected secret.`);
    return v.export();
  };
  const isCryptoKey = (v) => typeof CryptoKey === 'function' && v instanceof CryptoKey;
  // callable returns a constructor that makes an object without new, too.
  const callable = (C, name, length) => {
    function Made(...args) { return Reflect.construct(C, args, new.target ?? Made); }
    Object.setPrototypeOf(Made, Object.getPrototypeOf(C));
    Made.prototype = C.prototype;
    internal.define(C.prototype, 'constructor', Made);
    Object.defineProperty(Made, 'name', { value: name, configurable: true });
    Object.defineProperty(Made, 'length', { value: length, configurable: true });
    return Made;
  };
  // An encoding that there is not counts as none.
  const given = (b, encoding) => !encoding || !Buffer.isEncoding(encoding = `${encoding}`) || encoding === 'buffer' ? b : b.toString(encoding);
  const call = (name, ...args) => internal.sync(name, ...args.map((a) => ArrayBuffer.isView(a) ? internal.bufferOf(a) : a));
  const answer = (name, ...args) => Buffer.from(call(name, ...args));
  const inspects = Symbol.for('nodejs.util.inspect.custom');
  class Handle { constructor(bytes) { this.bytes = bytes; } }
  class KeyObject {
    #type; #handle;
    constructor(type, handle) {
      if (type !== 'secret' && type !== 'public' && type !== 'private') throw internal.nodeInvalidValue('type', type);
      if (!(handle instanceof Handle)) throw internal.nodeWrongType('handle', 'of type object', handle);
      this.#type = type;
      this.#handle = handle;
    }
    get type() { return this.#type; }
    equals(other) {
      if (!(other instanceof KeyObject)) throw internal.nodeWrongType('otherKeyObject', 'an instance of KeyObject', other);
      return other.type === this.type && other.#handle.bytes.equals(this.#handle.bytes);
    }
    static from(key) {
      if (!isCryptoKey(key)) throw internal.nodeWrongType('key', 'an instance of CryptoKey', key);
      return internal.nodeKeyOf(internal.crypto.of(key));
    }
    [inspects]() { return `${this.type[0].toUpperCase()}${this.type.slice(1)}KeyObject [KeyObject] { [Symbol(kKeyType)]: '${this.type}' }`; }
  }
  Object.defineProperty(KeyObject.prototype, Symbol.toStringTag, { value: 'KeyObject', configurable: true });
  class SecretKeyObject extends KeyObject {
    #key;
    constructor(key) {
      super('secret', new Handle(key));
      this.#key = key;
    }
    get symmetricKeySize() { return this.#key.length; }
    export(options) {
      if (options !== undefined) {
        check.object(options, 'options');
        check.oneOf(options.format, 'options.format', [undefined, 'buffer', 'jwk']);
        if (options.format === 'jwk') return { kty: 'oct', k: this.#key.toString('base64url') };
      }
      return Buffer.from(this.#key);
    }
  }
  internal.nodeHandle = (b) => new Handle(b);
  internal.nodeKeyOf = (state) => new SecretKeyObject(Buffer.from(state.data));

  // gather returns a stream class that buffers its input. Hash and Hmac differ only in finish.
  const gather = (what, finish) => class extends Transform {
    #parts = []; #done = false;
    constructor(...args) {
      super(args[args.length - 1] !== null && typeof args[args.length - 1] === 'object' && !ArrayBuffer.isView(args[args.length - 1]) && !(args[args.length - 1] instanceof KeyObject) ? args[args.length - 1] : undefined);
      this.begin(...args);
    }
    begin() {}
    _transform(chunk, encoding, done) { this.update(chunk, encoding); done(); }
    _flush(done) { this.push(finish(this, Buffer.concat(this.#parts))); done(); } // digest() still returns it
    update(data, encoding) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      if (typeof data === 'string' && typeof encoding === 'string' && encoding.toLowerCase() === 'hex' && data.length % 2 === 1) throw internal.nodeInvalidValue('encoding', encoding, `is invalid for data of length ${data.length}`);
      const part = bytes(data, 'data', encoding, streamed);
      this.#parts.push(typeof data === 'string' ? part : Buffer.from(part));
      return this;
    }
    // An HMAC that gave its digest gives an empty one afterwards.
    digest(encoding) {
      if (this.#done) {
        if (what === 'hash') throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
        return given(Buffer.alloc(0), encoding);
      }
      this.#done = true;
      return given(finish(this, Buffer.concat(this.#parts)), encoding);
    }
    copyInto(other) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      for (const part of this.#parts) other.update(part);
      return other;
    }
    [inspects]() { return `${this.constructor.name} {\n  _options: undefined,\n  [Symbol(kHandle)]: ${this.constructor.name} {},\n  [Symbol(kState)]: { [Symbol(kFinalized)]: ${this.#done} }\n}`; }
  };
  const noMethod = () => new Error('Digest method not supported');
  const noDigest = (name) => nodeError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
  const algorithm = (name, wrong = noMethod, as = 'algorithm') => {
    check.string(name, as);
    let plain = name.toLowerCase().replace(/^rsa-/, '').replace(/^(sha512)\/(224|256)$/, '$1-$2');
    if (plain === 'rmd160' || plain === 'ripemd') plain = 'ripemd160';
    if (plain === 'ssl3-md5' || plain === 'ssl3-sha1') plain = plain.slice(5);
    if (!hashes.includes(plain)) {
      if (wrong === noMethod && legacy.includes(plain)) throw Object.assign(new Error('error:0308010C:digital envelope routines::unsupported'), unsupported);
      throw wrong(name);
    }
    return plain;
  };
  const hashes = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-224', 'sha512-256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512', 'ripemd160', 'blake2b512', 'blake2s256', 'md5-sha1'];
  const legacy = ['md4', 'whirlpool'], unsupported = { opensslErrorStack: ['error:03000086:digital envelope routines::initialization error'], library: 'digital envelope routines', reason: 'unsupported', code: 'ERR_OSSL_EVP_UNSUPPORTED' };
  const shakes = { __proto__: null, shake128: 16, shake256: 32 }; // their default lengths
  class HashOf extends gather('hash', (h, data) => answer('hash', h.algorithm, data)) {
    begin(name, options) {
      const length = options?.outputLength, shake = typeof name === 'string' ? name.toLowerCase() : '';
      if (length !== undefined) check.uint32(length, 'options.outputLength');
      if (shakes[shake] !== undefined) this.algorithm = `${shake}/${length ?? shakes[shake]}`;
      else this.algorithm = algorithm(name);
      if ((length ?? 0) > 65536) throw new RangeError('outputLength is at most 65536 here');
      this.given = name;
      if (length === undefined || shakes[shake] !== undefined) return;
      if (answer('hash', this.algorithm, Buffer.alloc(0)).length !== length) throw Object.assign(new Error('error:030000B2:digital envelope routines::not XOF or invalid length'), { code: 'ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH' });
    }
    copy(options) { return this.copyInto(new Hash(this.given, options)); }
  }
  class HmacOf extends gather('hmac', (h, data) => answer('hmac', h.algorithm, h.key, data)) {
    begin(name, key, options) {
      check.string(name, 'hmac');
      Object.defineProperty(this, 'key', { value: Buffer.from(secretBytes(key, 'key', options?.encoding)) });
      this.algorithm = algorithm(name, noDigest);
    }
  }
  const Hash = callable(HashOf, 'Hash', 2), Hmac = callable(HmacOf, 'Hmac', 3);

  const most = 2 ** 31 - 1, isAnyBuffer = (v) => modules.util.types.isAnyArrayBuffer(v);
  // sizeOf returns how many random bytes are asked for, of a buffer with so many from an offset on.
  const sizeOf = (n, offset = 0, length = Infinity) => {
    if (typeof n !== 'number') throw internal.nodeWrongType('size', 'of type number', n);
    if (Number.isNaN(n) || n > most || n < 0) throw internal.nodeOutOfRange('size', `>= 0 && <= ${most}`, n);
    if (n + offset > length) throw internal.nodeOutOfRange('size + offset', `<= ${length}`, n + offset);
    return n >>> 0;
  };
  function randomBytes(size, callback = undefined) {
    const n = sizeOf(size);
    if (callback !== undefined) check.func(callback, 'callback');
    const out = randomFillSync(Buffer.alloc(n));
    if (callback === undefined) return out;
    process.nextTick(callback, null, out);
    return undefined;
  }
  const place = (buf, offset, size) => {
    if (!ArrayBuffer.isView(buf) && !isAnyBuffer(buf)) throw internal.nodeWrongType('buf', 'an instance of ArrayBuffer or ArrayBufferView', buf);
    const unit = buf.BYTES_PER_ELEMENT ?? 1, length = buf.byteLength;
    if (typeof offset !== 'number') throw internal.nodeWrongType('offset', 'of type number', offset);
    const from = offset * unit;
    if (Number.isNaN(from) || from > most || from < 0 || from > length) throw internal.nodeOutOfRange('offset', `>= 0 && <= ${Math.min(length, most)}`, from);
    return [from >>> 0, size === undefined ? length - (from >>> 0) : sizeOf(typeof size === 'number' ? size * unit : size, from, length)];
  };
  function randomFillSync(buf, offset = 0, size = undefined) {
    const [from, n] = place(buf, offset, size);
    const u = isAnyBuffer(buf) ? new Uint8Array(buf, from, n) : new Uint8Array(buf.buffer, buf.byteOffset + from, n);
    for (let i = 0; i < u.length; i += 65536) u.set(new Uint8Array(internal.sync('random', Math.min(65536, u.length - i))), i);
    return buf;
  }
  function randomFill(buf, offset, size, callback) {
    if (typeof offset === 'function') [callback, offset, size] = [offset, 0, undefined];
    else if (typeof size === 'function') [callback, size] = [size, undefined];
    else check.func(callback, 'callback');
    if (!ArrayBuffer.isView(buf) && !isAnyBuffer(buf)) throw internal.nodeWrongType('buf', 'an instance of ArrayBuffer or ArrayBufferView', buf);
    check.func(callback, 'callback');
    randomFillSync(buf, offset, size);
    process.nextTick(callback, null, buf);
  }
  const randomInt = (from, max, done) => {
    if (max === undefined || typeof max === 'function') { done = max; max = from; from = undefined; }
    if (done !== undefined) check.func(done, 'callback');
    const min = from === undefined ? 0 : from;
    if (!Number.isSafeInteger(min)) throw internal.nodeWrongType('min', 'a safe integer', min);
    if (!Number.isSafeInteger(max)) throw internal.nodeWrongType('max', 'a safe integer', max);
    const range = max - min;
    if (range <= 0) throw internal.nodeOutOfRange('max', `greater than the value of "min" (${min})`, max);
    if (range > 2 ** 48 - 1) throw internal.nodeOutOfRange(from === undefined ? 'max' : 'max - min', '<= 281474976710655', range);
    const limit = 2 ** 48 - 2 ** 48 % range;
    let n;
    do n = randomBytes(6).readUIntBE(0, 6); while (n >= limit);
    if (done === undefined) return min + n % range;
    process.nextTick(done, null, min + n % range);
    return undefined;
  };

  const compared = (v, name) => {
    if (ArrayBuffer.isView(v) || internal.isBuffer(v)) return bytes(v, name);
    throw nodeError(TypeError, 'ERR_INVALID_ARG_TYPE', `The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`);
  };
  const timingSafeEqual = (a, b) => {
    const x = compared(a, 'buf1'), y = compared(b, 'buf2');
    if (x.length !== y.length) throw nodeError(RangeError, 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH', 'Input buffers must have the same byte length');
    let d = 0;
    for (let i = 0; i < x.length; i++) d |= x[i] ^ y[i];
    return d === 0;
  };

  // async returns the function with a callback for a synchronous one that takes so many arguments, of which the last may
  // be missing.
  const async = (name, sync, count) => named((...args) => {
    if (args.length === count && typeof args[count - 1] === 'function') args.splice(count - 1, 0, undefined);
    const done = args[count];
    let out, failure;
    try { out = sync(...args.slice(0, count)); } catch (e) {
      if (e.code !== undefined) throw e;
      failure = e;
    }
    check.func(done, 'callback');
    process.nextTick(() => { if (failure === undefined) done(null, out); else done(failure); });
  }, name, count + 1);
  const named = (f, name, length) => {
    Object.defineProperty(f, 'name', { value: name, configurable: true });
    Object.defineProperty(f, 'length', { value: length, configurable: true });
    return f;
  };
  const pbkdf2Sync = (password, salt, iterations, keylen, digest) => {
    check.string(digest, 'digest');
    const secret = bytes(password, 'password'), seasoning = bytes(salt, 'salt');
    check.int32(iterations, 'iterations', 1);
    check.int32(keylen, 'keylen', 0);
    return answer('pbkdf2', algorithm(digest, noDigest), secret, seasoning, iterations | 0, keylen | 0);
  };
  const hkdfSync = (digest, ikm, salt, info, length) => {
    check.string(digest, 'digest');
    const views = 'of type string or an instance of ArrayBuffer, TypedArray, DataView, or Buffer';
    const key = secretBytes(ikm, 'ikm', undefined, 'of type string or an instance of SecretKeyObject, ArrayBuffer, TypedArray, DataView, or Buffer');
    const seasoning = bytes(salt, 'salt', undefined, views), context = bytes(info, 'info', undefined, views);
    check.integer(length, 'length', 0, 2 ** 32);
    if (context.length > 1024) throw internal.nodeOutOfRange('info', 'must not contain more than 1024 bytes', context.length);
    const name = algorithm(digest, noDigest);
    if (length > 255 * answer('hash', name, Buffer.alloc(0)).length) throw nodeError(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    return call('hkdf', name, key, seasoning, context, length | 0);
  };

  // scryptOf returns one parameter of scrypt, which has two names.
  const scryptOf = (options, short, long, otherwise) => {
    let n = otherwise;
    const one = options[short] !== undefined;
    if (one) {
      n = options[short];
      check.uint32(n, short);
    }
    if (options[long] === undefined) return n || otherwise;
    if (one) throw nodeError(Error, 'ERR_CRYPTO_SCRYPT_INVALID_PARAMETER', 'Invalid scrypt parameter');
    n = options[long];
    check.uint32(n, long);
    return n || otherwise;
  };
  const scryptSync = (password, salt, keylen, options = undefined) => {
    const secret = bytes(password, 'password'), seasoning = bytes(salt, 'salt'), set = options ?? {};
    check.int32(keylen, 'keylen', 0);
    const N = scryptOf(set, 'N', 'cost', 16384), r = scryptOf(set, 'r', 'blockSize', 8), parallel = scryptOf(set, 'p', 'parallelization', 1);
    if (set.maxmem !== undefined) check.integer(set.maxmem, 'maxmem', 0);
    const maxmem = set.maxmem || 32 << 20;
    const invalid = (why) => nodeError(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', `Invalid scrypt params${why}`);
    if (N < 2 || (N & N - 1) !== 0 || r * parallel > 2 ** 30 - 1 || 16 * r <= Math.log2(N)) throw invalid('');
    if (128 * r * (N + parallel + 2) > maxmem) throw invalid(': error:030000AC:digital envelope routines::memory limit exceeded');
    return answer('scrypt', secret, seasoning, N, r, parallel, keylen | 0);
  };

  const ciphers = [];
  for (const bits of [128, 192, 256]) for (const mode of ['cbc', 'ctr', 'ecb', 'gcm']) ciphers.push(`aes-${bits}-${mode}`);
  ciphers.push('chacha20-poly1305');
  const cipherName = (name) => {
    const plain = name.toLowerCase().replace(/^id-aes(\d+)-gcm$/, 'aes-$1-gcm').replace(/^aes(128|192|256)$/, 'aes-$1-cbc');
    return ciphers.includes(plain) ? plain : undefined;
  };
  const nids = { __proto__: null, ecb: [418, 422, 426], cbc: [419, 423, 427], gcm: [895, 898, 901], ctr: [904, 905, 906] };
  const getCipherInfo = (name, options) => {
    if (typeof name !== 'string' && typeof name !== 'number') throw internal.nodeWrongType('nameOrNid', 'one of type string or number', name);
    if (typeof name === 'number') check.int32(name, 'nameOrNid');
    if (options !== undefined) {
      check.object(options, 'options');
      for (const k of ['keyLength', 'ivLength']) if (options[k] !== undefined) check.int32(options[k], `options.${k}`);
    }
    const plain = typeof name === 'number' ? ciphers.find((c) => getCipherInfo(c).nid === name) : cipherName(name);
    if (plain === undefined) return undefined;
    const [, bits, mode] = plain === 'chacha20-poly1305' ? [0, 256, 'stream'] : plain.split('-'), keyLength = bits / 8;
    let ivLength = mode === 'gcm' || mode === 'stream' ? 12 : mode === 'ecb' ? 0 : 16;
    if (options?.keyLength !== undefined && options.keyLength !== keyLength) return undefined;
    if (options?.ivLength !== undefined && options.ivLength !== ivLength) {
      if (mode !== 'gcm') return undefined;
      ivLength = options.ivLength;
    }
    const info = { mode, name: mode === 'gcm' ? `id-aes${bits}-gcm` : plain, nid: mode === 'stream' ? 1018 : nids[mode][bits / 64 - 2] };
    if (mode === 'cbc' || mode === 'ecb') info.blockSize = 16;
    else if (mode !== 'stream') info.blockSize = 1;
    if (ivLength > 0) info.ivLength = ivLength;
    info.keyLength = keyLength;
    return info;
  };
  const stateError = (what) => nodeError(Error, 'ERR_CRYPTO_INVALID_STATE', `Invalid state for operation ${what}`);
  const empty = Buffer.alloc(0);
  class Cipher extends Transform {
    #decrypt; #name; #mode; #key; #iv; #parts = []; #aad = empty; #tag; #padding = true; #done = false; #sealed; #tagSize = 16; #begun = false;
    #decoder; #rest = empty; #at = 0; #counter;
    constructor(decrypt, name, key, iv, options) {
      super(options);
      this.#decrypt = decrypt;
      check.string(name, 'cipher');
      let secret = secretBytes(key, 'key');
      if (iv !== null) iv = bytes(iv, 'iv');
      if (options?.authTagLength !== undefined && options.authTagLength !== null) {
        const n = options.authTagLength;
        if (typeof n !== 'number' || !Number.isInteger(n) || n < 0) throw internal.nodeInvalidValue('options.authTagLength', n);
        this.#tagSize = n;
      }
      this.#name = cipherName(name);
      if (this.#name === undefined) throw nodeError(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
      this.#key = secret = Buffer.from(secret);
      this.#iv = iv === null ? empty : Buffer.from(iv);
      const mode = this.#mode = this.#name.slice(8), n = this.#iv.length;
      this.#sealed = mode === 'gcm' || this.#name === 'chacha20-poly1305';
      if (this.#name === 'chacha20-poly1305' ? n !== 12 : mode === 'gcm' ? n === 0 : n !== (mode === 'ecb' ? 0 : 16)) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
      if (secret.length !== getCipherInfo(this.#name).keyLength) throw nodeError(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
      if (this.#sealed) this.#checkTag(this.#tagSize);
    }
    #checkTag(n) {
      if (n > 16 || n < 12 && n !== 4 && n !== 8) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${n}`);
    }
    _transform(chunk, encoding, done) { this.push(this.update(chunk, encoding)); done(); }
    _flush(done) { try { this.push(this.final()); done(); } catch (e) { done(e); } }
    update(data, inputEncoding, outputEncoding) {
      if (typeof data === 'string' && typeof inputEncoding === 'string' && inputEncoding.toLowerCase() === 'hex' && data.length % 2 === 1) throw internal.nodeInvalidValue('encoding', inputEncoding, `is invalid for data of length ${data.length}`);
      const part = bytes(data, 'data', inputEncoding, streamed);
      if (this.#done) throw new Error('Trying to add data in unsupported state');
      this.#begun = true;
      if (this.#mode === 'cbc' || this.#mode === 'ecb') return this.#shown(this.#wholeBlocks(part), outputEncoding);
      if (this.#sealed) this.#parts.push(Buffer.from(part));
      return this.#shown(part.length === 0 ? empty : this.#stream(part), outputEncoding);
    }
    // wholeBlocks passes on the blocks that are complete. The last block of a padded text waits for the end.
    #wholeBlocks(part) {
      const data = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]);
      let n = data.length - data.length % 16;
      if (n === data.length && this.#decrypt && this.#padding) n = Math.max(n - 16, 0);
      this.#rest = Buffer.from(data.subarray(n));
      if (n === 0) return empty;
      const blocks = data.subarray(0, n), out = answer('cipher', this.#name, this.#decrypt ? 1 : 0, this.#key, this.#iv, blocks, empty);
      if (this.#mode === 'cbc') this.#iv = Buffer.from((this.#decrypt ? blocks : out).subarray(n - 16));
      return out;
    }
    // stream applies the key stream from where the last part ended.
    #stream(part) {
      const unit = this.#mode === 'ctr' || this.#mode === 'gcm' ? 16 : 64, skip = this.#at % unit, block = (this.#at - skip) / unit;
      const data = skip === 0 ? part : Buffer.concat([Buffer.alloc(skip), part]), counter = Buffer.from(this.#counter ??= this.#firstCounter());
      this.#at += part.length;
      let out;
      if (unit === 64) {
        counter.writeUInt32LE(block + 1, 0);
        out = answer('cipher', 'chacha20', 0, this.#key, counter, data, empty);
      } else if (this.#mode === 'gcm') {
        counter.writeUInt32BE((counter.readUInt32BE(12) + block) % 2 ** 32, 12);
        out = answer('crypto.aes', 'CTR:32', 1, this.#key, counter, data, empty);
      } else {
        for (let i = 15, carry = block; carry > 0 && i >= 0; i--) {
          carry += counter[i];
          counter[i] = carry % 256;
          carry = Math.floor(carry / 256);
        }
        out = answer('cipher', this.#name, 0, this.#key, counter, data, empty);
      }
      return skip === 0 ? out : Buffer.from(out.subarray(skip));
    }
    // firstCounter returns the counter block of the text's first block. That of GCM is a hash of the nonce unless that
    // has 12 bytes: the block which the cipher turns into the beginning of the key stream.
    #firstCounter() {
      if (this.#mode === 'ctr') return this.#iv;
      if (this.#mode !== 'gcm') return Buffer.concat([Buffer.alloc(4), this.#iv]);
      if (this.#iv.length === 12) return Buffer.concat([this.#iv, Buffer.from([0, 0, 0, 2])]);
      const stream = answer('cipher', this.#name, 0, this.#key, this.#iv, Buffer.alloc(16), empty).subarray(0, 16);
      return answer('cipher', this.#name.replace('gcm', 'ecb'), 1, this.#key, empty, stream, empty);
    }
    final(outputEncoding) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state');
      this.#done = true;
      let out = empty;
      if (this.#sealed) this.#seal();
      else if (this.#mode === 'cbc' || this.#mode === 'ecb') {
        try { out = answer('cipher', this.#name, (this.#decrypt ? 1 : 0) | (this.#padding ? 2 : 0), this.#key, this.#iv, this.#rest, empty); } catch (e) {
          if (e.message.includes('::')) Object.assign(e, { library: 'Provider routines', reason: e.message.slice(e.message.lastIndexOf(':') + 1), code: e.message.includes('bad decrypt') ? 'ERR_OSSL_BAD_DECRYPT' : 'ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH' });
          throw e;
        }
      }
      return this.#shown(out, outputEncoding, true);
    }
    // seal makes or checks the tag of the whole text.
    #seal() {
      const data = Buffer.concat(this.#parts);
      this.#parts = [];
      if (!this.#decrypt) {
        const out = answer('cipher', this.#name, 0, this.#key, this.#iv, data, this.#aad);
        this.#tag = Buffer.from(out.subarray(data.length, data.length + this.#tagSize));
      } else if (this.#tag === undefined) throw new Error('Unsupported state or unable to authenticate data');
      else if (this.#tag.length < 16) this.#opened(Buffer.concat([data, this.#tag]));
      else answer('cipher', this.#name, 1, this.#key, this.#iv, Buffer.concat([data, this.#tag]), this.#aad);
    }
    #shown(b, encoding, last = false) {
      if (!encoding || encoding === 'buffer') return b;
      if (!Buffer.isEncoding(encoding)) throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${typeof encoding === 'string' ? encoding : internal.inspect(encoding)}`);
      const decoder = new modules.string_decoder.StringDecoder(encoding);
      if ((this.#decoder ??= decoder).encoding !== decoder.encoding) throw nodeError(Error, 'ERR_INTERNAL_ASSERTION', 'Cannot change encoding\nThis is caused by either a bug in Node.js or incorrect usage of Node.js internals.\nPlease open an issue with this stack trace at https://github.com/nodejs/node/issues\n');
      return last ? this.#decoder.end(b) : this.#decoder.write(b);
    }
    // opened checks a tag that is the beginning of the whole one.
    #opened(data) {
      if (this.#name === 'chacha20-poly1305') throw new Error('Unsupported state or unable to authenticate data');
      try { return answer('crypto.aes', `GCM:${this.#tag.length * 8}`, 0, this.#key, this.#iv, data, this.#aad); } catch { throw new Error('Unsupported state or unable to authenticate data'); }
    }
    setAutoPadding(ap) {
      if (this.#done) throw stateError('setAutoPadding');
      this.#padding = ap === undefined || !!ap;
      return this;
    }
    getAuthTag() {
      if (!this.#sealed || !this.#done || this.#decrypt || this.#tag === undefined) throw stateError('getAuthTag');
      return Buffer.from(this.#tag);
    }
    setAuthTag(tag, encoding) {
      const b = Buffer.from(bytes(tag, 'buffer', encoding));
      if (!this.#sealed || !this.#decrypt || this.#tag !== undefined || this.#done) throw stateError('setAuthTag');
      this.#checkTag(b.length);
      if (this.#tagSize !== 16 && b.length !== this.#tagSize) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${b.length}`);
      this.#tag = b;
      return this;
    }
    setAAD(aadbuf, options) {
      const b = bytes(aadbuf, 'aadbuf', options?.encoding);
      if (!this.#sealed || this.#done || this.#begun) throw stateError('setAAD');
      this.#aad = Buffer.concat([this.#aad, b]);
      return this;
    }
  }
  // cipherClass returns the class for one direction, which has the methods of that direction.
  const cipherClass = (decrypt, name) => {
    const C = callable(class extends Cipher { constructor(cipher, key, iv, options) { super(decrypt, cipher, key, iv, options); } }, name, 4);
    internal.define(C.prototype, decrypt ? 'getAuthTag' : 'setAuthTag', undefined);
    return C;
  };
  const Cipheriv = cipherClass(false, 'Cipheriv'), Decipheriv = cipherClass(true, 'Decipheriv');
  const createSecretKey = (key, encoding) => new SecretKeyObject(Buffer.from(bytes(key, 'key', encoding, 'an instance of ArrayBuffer, Buffer, TypedArray, or DataView')));
  // generateKeySync makes a secret key. Its length is in bits.
  const generateKeySync = (type, options) => {
    check.string(type, 'type');
    check.object(options, 'options');
    const { length } = options;
    if (type === 'hmac') check.integer(length, 'options.length', 8, 2 ** 31 - 1);
    else if (type === 'aes') check.oneOf(length, 'options.length', [128, 192, 256]);
    else throw internal.nodeInvalidValue('type', type, 'must be a supported key type');
    return createSecretKey(randomBytes(Math.floor(length / 8)));
  };

  const suites = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA384:ECDHE-RSA-AES256-SHA256:DHE-RSA-AES256-SHA256:HIGH:!aNULL:!eNULL:!EXPORT:!DES:!RC4:!MD5:!PSK:!SRP:!CAMELLIA';
  // The names of TLS that libraries read.
  const constants = Object.freeze({
    __proto__: null,
    OPENSSL_VERSION_NUMBER: 805306672, SSL_OP_ALL: 2147485776, SSL_OP_ALLOW_NO_DHE_KEX: 1024, SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION: 262144,
    SSL_OP_CIPHER_SERVER_PREFERENCE: 4194304, SSL_OP_CISCO_ANYCONNECT: 32768, SSL_OP_COOKIE_EXCHANGE: 8192, SSL_OP_CRYPTOPRO_TLSEXT_BUG: 2147483648,
    SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS: 2048, SSL_OP_LEGACY_SERVER_CONNECT: 4, SSL_OP_NO_COMPRESSION: 131072, SSL_OP_NO_ENCRYPT_THEN_MAC: 524288, SSL_OP_NO_QUERY_MTU: 4096,
    SSL_OP_NO_RENEGOTIATION: 1073741824, SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION: 65536, SSL_OP_NO_SSLv2: 0, SSL_OP_NO_SSLv3: 33554432, SSL_OP_NO_TICKET: 16384,
    SSL_OP_NO_TLSv1: 67108864, SSL_OP_NO_TLSv1_1: 268435456, SSL_OP_NO_TLSv1_2: 134217728, SSL_OP_NO_TLSv1_3: 536870912, SSL_OP_PRIORITIZE_CHACHA: 2097152,
    SSL_OP_TLS_ROLLBACK_BUG: 8388608, ENGINE_METHOD_RSA: 1, ENGINE_METHOD_DSA: 2, ENGINE_METHOD_DH: 4, ENGINE_METHOD_RAND: 8, ENGINE_METHOD_EC: 2048, ENGINE_METHOD_CIPHERS: 64,
    ENGINE_METHOD_DIGESTS: 128, ENGINE_METHOD_PKEY_METHS: 512, ENGINE_METHOD_PKEY_ASN1_METHS: 1024, ENGINE_METHOD_ALL: 65535, ENGINE_METHOD_NONE: 0, DH_CHECK_P_NOT_SAFE_PRIME: 2,
    DH_CHECK_P_NOT_PRIME: 1, DH_UNABLE_TO_CHECK_GENERATOR: 4, DH_NOT_SUITABLE_GENERATOR: 8, RSA_PKCS1_PADDING: 1, RSA_NO_PADDING: 3, RSA_PKCS1_OAEP_PADDING: 4, RSA_X931_PADDING: 5,
    RSA_PKCS1_PSS_PADDING: 6, RSA_PSS_SALTLEN_DIGEST: -1, RSA_PSS_SALTLEN_MAX_SIGN: -2, RSA_PSS_SALTLEN_AUTO: -2, defaultCoreCipherList: suites, TLS1_VERSION: 769,
    TLS1_1_VERSION: 770, TLS1_2_VERSION: 771, TLS1_3_VERSION: 772, POINT_CONVERSION_COMPRESSED: 2, POINT_CONVERSION_UNCOMPRESSED: 4, POINT_CONVERSION_HYBRID: 6,
    defaultCipherList: suites,
  });
  internal.nodeCallable = callable;
  const crypto = {
    createCipheriv: named((cipher, key, iv, options) => new Cipheriv(cipher, key, iv, options), 'createCipheriv', 4),
    createDecipheriv: named((cipher, key, iv, options) => new Decipheriv(cipher, key, iv, options), 'createDecipheriv', 4),
    createHash: named((name, options) => new Hash(name, options), 'createHash', 2),
    createHmac: named((name, key, options) => new Hmac(name, key, options), 'createHmac', 3),
    createSecretKey, generateKeySync, generateKey: async('generateKey', generateKeySync, 2),
    getCiphers: () => [...ciphers], getCipherInfo, getCurves: () => [], getHashes: () => [...hashes, 'shake128', 'shake256'],
    hash(algorithm, input, outputEncoding = 'hex') {
      check.string(algorithm, 'algorithm');
      if (typeof input !== 'string' && !ArrayBuffer.isView(input)) throw internal.nodeWrongType('input', 'of type string or an instance of Buffer, TypedArray, or DataView', input);
      check.string(outputEncoding, 'outputEncoding');
      if (outputEncoding !== 'buffer' && !Buffer.isEncoding(outputEncoding)) throw internal.nodeInvalidValue('outputEncoding', outputEncoding);
      return new Hash(algorithm).update(input).digest(outputEncoding);
    },
    hkdf: async('hkdf', hkdfSync, 5), hkdfSync, pbkdf2: async('pbkdf2', pbkdf2Sync, 5), pbkdf2Sync, scrypt: async('scrypt', scryptSync, 4), scryptSync: named(scryptSync, 'scryptSync', 3),
    randomBytes, randomFill, randomFillSync, randomInt,
    randomUUID(options) {
      if (options !== undefined) check.object(options, 'options');
      if (options?.disableEntropyCache !== undefined) check.boolean(options.disableEntropyCache, 'options.disableEntropyCache');
      const b = randomBytes(16);
      b[6] = b[6] & 15 | 64;
      b[8] = b[8] & 63 | 128;
      const s = b.toString('hex');
      return `${s.slice(0, 8)}-${s.slice(8, 12)}-${s.slice(12, 16)}-${s.slice(16, 20)}-${s.slice(20)}`;
    },
    timingSafeEqual: named(timingSafeEqual, 'timingSafeEqual', 0),
    getFips: () => 0, setFips() {}, secureHeapUsed: () => undefined,
    Cipheriv, Decipheriv, Hash, Hmac, KeyObject,
    constants,
    get webcrypto() { return globalThis.crypto; },
    get subtle() { return globalThis.crypto?.subtle; },
    getRandomValues: (u) => globalThis.crypto.getRandomValues(u),
  };
  for (const name of ['pseudoRandomBytes', 'prng', 'rng']) internal.define(crypto, name, randomBytes);
  for (const name of ['createDiffieHellman', 'createDiffieHellmanGroup', 'getDiffieHellman', 'privateEncrypt', 'publicDecrypt', 'checkPrime', 'checkPrimeSync', 'generatePrime', 'generatePrimeSync', 'setEngine']) {
    crypto[name] = () => { throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `crypto.${name} is not available in the sandbox`); };
  }
  modules.crypto = crypto;
  return internal;
}
