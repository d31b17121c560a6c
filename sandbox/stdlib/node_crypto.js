// Node's crypto: hashes, HMAC, key derivation and ciphers by the host, and random values of the run.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const { LazyTransform: Transform } = internal.nodeStream; // most hashes and ciphers are never used as streams

  const bytes = (v, name, encoding) => {
    if (typeof v === 'string') return Buffer.from(v, encoding === 'buffer' ? 'utf8' : encoding);
    if (ArrayBuffer.isView(v)) return Buffer.from(v.buffer, v.byteOffset, v.byteLength);
    if (internal.isBuffer(v)) return Buffer.from(v);
    if (v instanceof KeyObject) return v.export();
    throw internal.nodeWrongType(name, name === 'key' ? 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey' : 'of type string or an instance of Buffer, TypedArray, or DataView', v);
  };
  // An encoding that there is not counts as none.
  const given = (b, encoding) => typeof encoding !== 'string' || !Buffer.isEncoding(encoding) ? b : b.toString(encoding);
  const call = (name, ...args) => internal.sync(name, ...args.map((a) => ArrayBuffer.isView(a) ? internal.bufferOf(a) : a));
  const answer = (name, ...args) => Buffer.from(call(name, ...args));
  const integer = (v, name, max) => {
    if (typeof v !== 'number') throw internal.nodeWrongType(name, 'of type number', v);
    if (!Number.isInteger(v) || v < 0 || v > max) throw internal.nodeOutOfRange(name, `>= 0 && <= ${max}`, v);
    return v;
  };

  const inspects = Symbol.for('nodejs.util.inspect.custom');
  class KeyObject {
    #key; #type;
    constructor(key, type = 'secret') { this.#key = key; this.#type = type; }
    get type() { return this.#type; }
    get symmetricKeySize() { return this.#key.length; }
    export(options) { return options?.format === 'jwk' ? { kty: 'oct', k: this.#key.toString('base64url') } : Buffer.from(this.#key); }
    equals(other) { return this.#key.equals(other.export()); }
    [inspects]() { return `${this.type[0].toUpperCase()}${this.type.slice(1)}KeyObject [KeyObject] { [Symbol(kKeyType)]: '${this.type}' }`; }
  }

  // gather returns a stream class that buffers its input. Hash and Hmac differ only in finish.
  const gather = (what, finish) => class extends Transform {
    #parts = []; #done = false;
    constructor(...args) {
      super();
      this.begin(...args);
    }
    begin() {}
    update(data, encoding) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      const part = bytes(data, 'data', encoding);
      this.#parts.push(typeof data === 'string' ? part : Buffer.from(part));
      return this;
    }
    digest(encoding) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      this.#done = true;
      return given(finish(this, Buffer.concat(this.#parts)), encoding);
    }
    copyInto(other) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
      for (const part of this.#parts) other.update(part);
      return other;
    }
    [inspects]() { return `${this.constructor.name} {\n  _options: undefined,\n  [Symbol(kHandle)]: ${this.constructor.name} {},\n  [Symbol(kState)]: { [Symbol(kFinalized)]: ${this.#done} }\n}`; }
    _transform(chunk, encoding, done) { this.update(chunk, encoding); done(); }
    _flush(done) { this.push(finish(this, Buffer.concat(this.#parts))); done(); } // digest() still returns it
  };
  const noMethod = () => new Error('Digest method not supported');
  const noDigest = (name) => nodeError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
  const algorithm = (name, wrong = noMethod) => {
    if (typeof name !== 'string') throw internal.nodeWrongType('algorithm', 'of type string', name);
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
  class Hash extends gather('hash', (h, data) => answer('hash', h.algorithm, data)) {
    begin(name, options) {
      const length = options?.outputLength, shake = typeof name === 'string' ? name.toLowerCase() : '';
      if (length !== undefined) integer(length, 'options.outputLength', 2 ** 32 - 1);
      if (shakes[shake] !== undefined) this.algorithm = `${shake}/${length ?? shakes[shake]}`;
      else this.algorithm = algorithm(name);
      if ((length ?? 0) > 65536) throw new RangeError('outputLength is at most 65536 here');
      this.given = name;
      if (length === undefined || shakes[shake] !== undefined) return;
      if (answer('hash', this.algorithm, Buffer.alloc(0)).length !== length) throw Object.assign(new Error('error:030000B2:digital envelope routines::not XOF or invalid length'), { code: 'ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH' });
    }
    copy(options) { return this.copyInto(new Hash(this.given, options)); }
  }
  class Hmac extends gather('hmac', (h, data) => answer('hmac', h.algorithm, h.key, data)) {
    begin(name, key) {
      Object.defineProperty(this, 'key', { value: Buffer.from(bytes(key, 'key')) });
      this.algorithm = algorithm(name, noDigest);
    }
  }

  const randomBytes = (n, done) => {
    integer(n, 'size', 2 ** 31 - 1);
    const out = randomFillSync(Buffer.alloc(n));
    if (done === undefined) return out;
    process.nextTick(done, null, out);
    return undefined;
  };
  const randomFillSync = (b, offset = 0, size = b.byteLength - offset) => {
    const u = internal.isBuffer(b) ? new Uint8Array(b, offset, size) : new Uint8Array(b.buffer, b.byteOffset + offset, size);
    for (let i = 0; i < u.length; i += 65536) u.set(new Uint8Array(internal.sync('random', Math.min(65536, u.length - i))), i);
    return b;
  };
  const randomInt = (from, max, done) => {
    if (max === undefined || typeof max === 'function') { done = max; max = from; from = undefined; }
    const min = from ?? 0;
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

  const async = (sync) => (...args) => {
    const done = args.pop();
    if (typeof done !== 'function') throw internal.nodeWrongType('callback', 'of type function', done);
    const out = sync(...args);
    process.nextTick(done, null, out);
  };
  const pbkdf2Sync = (password, salt, iterations, length, digest) => {
    if (!(integer(iterations, 'iterations', 2 ** 31 - 1) >= 1)) throw internal.nodeOutOfRange('iterations', '>= 1 && <= 2147483647', iterations);
    return answer('pbkdf2', algorithm(digest, noDigest), bytes(password, 'password'), bytes(salt, 'salt'), iterations | 0, integer(length, 'keylen', 2 ** 31 - 1) | 0);
  };
  const hkdfSync = (digest, key, salt, info, length) => call('hkdf', algorithm(digest, noDigest), bytes(key, 'ikm'), bytes(salt, 'salt'), bytes(info, 'info'), integer(length, 'length', 2 ** 31 - 1) | 0);

  const scryptSync = (password, salt, length, options = {}) => {
    const N = options.N ?? options.cost ?? 16384, r = options.r ?? options.blockSize ?? 8, parallel = options.p ?? options.parallelization ?? 1, maxmem = options.maxmem ?? 32 << 20;
    const invalid = (why) => nodeError(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', `Invalid scrypt params${why}`);
    for (const n of [N, r, parallel]) if (!Number.isInteger(n) || n < 1 || n > 2 ** 30) throw invalid('');
    if (N < 2 || (N & N - 1) !== 0) throw invalid('');
    if (128 * r * (N + parallel + 2) > maxmem) throw invalid(': error:030000AC:digital envelope routines::memory limit exceeded');
    return answer('scrypt', bytes(password, 'password'), bytes(salt, 'salt'), N, r, parallel, integer(length, 'keylen', 2 ** 31 - 1) | 0);
  };

  const ciphers = [];
  for (const bits of [128, 192, 256]) for (const mode of ['cbc', 'ctr', 'ecb', 'gcm']) ciphers.push(`aes-${bits}-${mode}`);
  ciphers.push('chacha20-poly1305');
  const cipherName = (name) => {
    const plain = String(name).toLowerCase().replace(/^id-aes(\d+)-gcm$/, 'aes-$1-gcm').replace(/^aes(128|192|256)$/, 'aes-$1-cbc');
    return ciphers.includes(plain) ? plain : undefined;
  };
  const nids = { __proto__: null, ecb: [418, 422, 426], cbc: [419, 423, 427], gcm: [895, 898, 901], ctr: [904, 905, 906] };
  const getCipherInfo = (name, options) => {
    if (typeof name !== 'string') throw internal.nodeWrongType('nameOrNid', 'one of type string or number', name);
    const plain = cipherName(name);
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
  class Cipher extends Transform {
    #decrypt; #name; #key; #iv; #parts = []; #aad = Buffer.alloc(0); #tag; #padding = true; #done = false;
    constructor(decrypt, name, key, iv) {
      super();
      this.#name = cipherName(name);
      if (this.#name === undefined) throw nodeError(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
      this.#decrypt = decrypt;
      this.#key = Buffer.from(bytes(key, 'key'));
      this.#iv = iv === null ? Buffer.alloc(0) : Buffer.from(bytes(iv, 'iv'));
      const mode = this.#name.slice(8), n = this.#iv.length;
      if (this.#name === 'chacha20-poly1305' ? n !== 12 : mode === 'gcm' ? n === 0 : n !== (mode === 'ecb' ? 0 : 16)) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
      if (this.#key.length !== getCipherInfo(this.#name).keyLength) throw nodeError(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    }
    update(data, encoding, output) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_INVALID_STATE', 'Unsupported state or unable to authenticate data');
      this.#parts.push(Buffer.from(bytes(data, 'data', encoding)));
      return given(Buffer.alloc(0), output);
    }
    final(output) {
      if (this.#done) throw nodeError(Error, 'ERR_CRYPTO_INVALID_STATE', 'Unsupported state or unable to authenticate data');
      this.#done = true;
      const gcm = this.#name.endsWith('gcm') || this.#name === 'chacha20-poly1305';
      let data = Buffer.concat(this.#parts);
      if (gcm && this.#decrypt) {
        if (this.#tag === undefined) throw nodeError(Error, 'ERR_CRYPTO_INVALID_STATE', 'Unsupported state or unable to authenticate data');
        data = Buffer.concat([data, this.#tag]);
      }
      const flags = (this.#decrypt ? 1 : 0) | (this.#padding ? 2 : 0);
      let out;
      try { out = answer('cipher', this.#name, flags, this.#key, this.#iv, data, this.#aad); } catch (e) {
        if (e.message.includes('::')) e.code = e.message.includes('bad decrypt') ? 'ERR_OSSL_BAD_DECRYPT' : 'ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH';
        if (e.message.includes('::')) Object.assign(e, { library: 'Provider routines', reason: e.message.slice(e.message.lastIndexOf(':') + 1) });
        throw e;
      }
      if (gcm && !this.#decrypt) {
        this.#tag = out.subarray(out.length - 16);
        out = out.subarray(0, out.length - 16);
      }
      return given(out, output);
    }
    setAAD(b) { this.#aad = Buffer.from(bytes(b, 'buffer')); return this; }
    setAuthTag(b, encoding) {
      const tag = Buffer.from(bytes(b, 'buffer', encoding));
      if (tag.length !== 16) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${tag.length}`);
      this.#tag = tag;
      return this;
    }
    getAuthTag() {
      if (!this.#done || this.#decrypt || this.#tag === undefined) throw nodeError(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation getAuthTag');
      return this.#tag;
    }
    setAutoPadding(on = true) { this.#padding = on; return this; }
    _transform(chunk, encoding, done) { this.update(chunk); done(); }
    _flush(done) { try { this.push(this.final()); done(); } catch (e) { done(e); } }
  }

  const crypto = {
    Hash, Hmac, KeyObject,
    createHash: (name, options) => new Hash(name, options), createHmac: (name, key) => new Hmac(name, key),
    hash: (name, data, encoding = 'hex') => new Hash(name).update(data).digest(encoding),
    getHashes: () => [...hashes, 'shake128', 'shake256'], getCiphers: () => [...ciphers], getCipherInfo, getCurves: () => [],
    randomBytes, pseudoRandomBytes: randomBytes, randomFillSync, randomInt,
    randomFill(b, ...rest) { const done = rest.pop(); randomFillSync(b, ...rest); process.nextTick(done, null, b); },
    randomUUID() {
      const b = randomBytes(16);
      b[6] = b[6] & 15 | 64;
      b[8] = b[8] & 63 | 128;
      const s = b.toString('hex');
      return `${s.slice(0, 8)}-${s.slice(8, 12)}-${s.slice(12, 16)}-${s.slice(16, 20)}-${s.slice(20)}`;
    },
    timingSafeEqual, pbkdf2Sync, pbkdf2: async(pbkdf2Sync), hkdfSync, hkdf: async(hkdfSync),
    scryptSync, scrypt: async(scryptSync),
    createSecretKey: (key, encoding) => new KeyObject(Buffer.from(bytes(key, 'key', encoding))),
    createCipheriv: (name, key, iv) => new Cipher(false, name, key, iv), createDecipheriv: (name, key, iv) => new Cipher(true, name, key, iv),
    constants: {
      RSA_PKCS1_PADDING: 1, RSA_NO_PADDING: 3, RSA_PKCS1_OAEP_PADDING: 4, RSA_PKCS1_PSS_PADDING: 6,
      RSA_PSS_SALTLEN_DIGEST: -1, RSA_PSS_SALTLEN_MAX_SIGN: -2, RSA_PSS_SALTLEN_AUTO: -2,
    },
    get webcrypto() { return globalThis.crypto; },
    get subtle() { return globalThis.crypto?.subtle; },
    getRandomValues: (u) => globalThis.crypto.getRandomValues(u),
  };
  for (const name of ['createDiffieHellman', 'privateEncrypt', 'publicDecrypt']) {
    crypto[name] = () => { throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `crypto.${name} is not available in the sandbox`); };
  }
  modules.crypto = crypto;
  return internal;
}
