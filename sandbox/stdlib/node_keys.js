// Asymmetric keys of Node's crypto: key objects, encodings, signatures and RSA encryption. The host does the computation.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const crypto = modules.crypto;
  const { KeyObject } = crypto;
  const call = (name, ...args) => {
    try {
      return internal.sync(name, ...args.map((a) => ArrayBuffer.isView(a) ? internal.bufferOf(a) : a));
    } catch (e) {
      throw nodeError(Error, 'ERR_CRYPTO_OPERATION_FAILED', e.message);
    }
  };
  const answer = (name, ...args) => Buffer.from(call(name, ...args));
  const empty = Buffer.alloc(0);

  // The subset of DER that keys and signatures use.
  const der = (tag, ...parts) => {
    const body = Buffer.concat(parts);
    const size = body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255];
    return Buffer.concat([Buffer.from([tag, ...size]), body]);
  };
  const unsupported = () => nodeError(Error, 'ERR_OSSL_UNSUPPORTED', 'error:1E08010C:DECODER routines::unsupported');
  const elements = (b) => {
    const out = [];
    for (let at = 0; at < b.length;) {
      let size = b[at + 1], start = at + 2;
      if (size > 0x80) {
        const n = size & 0x7f;
        if (n > 3 || start + n > b.length) throw unsupported();
        size = b.readUIntBE(start, n);
        start += n;
      }
      if (start + size > b.length || size === 0x80) throw unsupported();
      out.push({ tag: b[at], body: b.subarray(start, start + size), all: b.subarray(at, start + size) });
      at = start + size;
    }
    return out;
  };
  const inner = (b, tag = 0x30) => {
    const [first] = elements(b);
    if (first === undefined || first.tag !== tag) throw unsupported();
    return elements(first.body);
  };
  const oid = { RSA: '06092a864886f70d010101', 'P-256': '06082a8648ce3d030107', 'P-384': '06052b81040022', 'P-521': '06052b81040023', Ed25519: '06032b6570', X25519: '06032b656e' };
  // Host calls do not work while the library loads, so this decodes hex without Buffer's.
  const unhex = (text) => Buffer.from(text.match(/../g).map((byte) => +`0x${byte}`));
  const ecOid = unhex('06072a8648ce3d0201'), zero = Buffer.from([2, 1, 0]), rsaAlgorithm = der(0x30, unhex(oid.RSA), Buffer.from([5, 0]));
  const kindOf = (algorithm) => {
    const hex = algorithm.toString('hex');
    for (const kind of Object.keys(oid)) if (hex.includes(oid[kind])) return kind;
    throw unsupported();
  };
  const names = { RSA: 'rsa', Ed25519: 'ed25519', X25519: 'x25519' };
  const curves = { 'P-256': 'prime256v1', 'P-384': 'secp384r1', 'P-521': 'secp521r1' };
  const curveOf = { 'P-256': 'P-256', prime256v1: 'P-256', 'P-384': 'P-384', secp384r1: 'P-384', 'P-521': 'P-521', secp521r1: 'P-521' };

  // toPkcs8 and toSpki convert the older key encodings to those that the host accepts.
  const toPkcs8 = (b, type) => {
    if (type === 'pkcs1') return der(0x30, zero, rsaAlgorithm, der(4, b));
    if (type !== 'sec1') return b;
    const parameters = inner(b).find((e) => e.tag === 0xa0);
    if (parameters === undefined) throw unsupported();
    return der(0x30, zero, der(0x30, ecOid, parameters.body), der(4, b));
  };
  const toSpki = (b, type) => type === 'pkcs1' ? der(0x30, rsaAlgorithm, der(3, Buffer.from([0]), b)) : b;
  const labels = {
    'PRIVATE KEY': ['private', 'pkcs8'], 'RSA PRIVATE KEY': ['private', 'pkcs1'], 'EC PRIVATE KEY': ['private', 'sec1'],
    'PUBLIC KEY': ['public', 'spki'], 'RSA PUBLIC KEY': ['public', 'pkcs1'],
  };

  let dataOf, make;
  class AsymmetricKeyObject extends KeyObject {
    #kind; #der;
    static { dataOf = (k) => ({ kind: k.#kind, der: k.#der }); }
    constructor(type, kind, bytes) {
      super(undefined, type);
      this.#kind = kind;
      this.#der = bytes;
    }
    get asymmetricKeyType() { return names[this.#kind] ?? 'ec'; }
    get asymmetricKeyDetails() {
      if (this.#kind === 'RSA') {
        const [modulusLength, exponent] = call('crypto.rsaParams', this.type === 'private' ? 1 : 0, this.#der);
        return { modulusLength, publicExponent: BigInt(exponent) };
      }
      return curves[this.#kind] === undefined ? {} : { namedCurve: curves[this.#kind] };
    }
    equals(other) { return other instanceof AsymmetricKeyObject && other.type === this.type && other.#der.equals(this.#der); }
    export(options = {}) {
      const priv = this.type === 'private';
      if (options.format === 'jwk') {
        const m = call('crypto.toJwk', this.#kind, priv ? 1 : 0, this.#der), rsa = this.#kind === 'RSA', okp = names[this.#kind] !== undefined && !rsa;
        if (rsa) return { kty: 'RSA', ...m };
        return okp ? { crv: this.#kind, ...(m.d === undefined ? {} : { d: m.d }), x: m.x, kty: 'OKP' } : { kty: 'EC', x: m.x, y: m.y, crv: this.#kind, ...(m.d === undefined ? {} : { d: m.d }) };
      }
      const type = options.type;
      let bytes = this.#der, label = priv ? 'PRIVATE KEY' : 'PUBLIC KEY';
      if (type === 'pkcs1' && this.#kind === 'RSA') {
        const parts = inner(bytes);
        bytes = priv ? parts[2].body : parts[1].body.subarray(1);
        label = `RSA ${label}`;
      } else if (type === 'sec1' && priv && curves[this.#kind] !== undefined) {
        const parts = inner(inner(bytes)[2].body);
        bytes = der(0x30, parts[0].all, parts[1].all, der(0xa0, Buffer.from(oid[this.#kind], 'hex')), ...parts.slice(2).filter((e) => e.tag === 0xa1).map((e) => e.all));
        label = 'EC PRIVATE KEY';
      } else if (type !== (priv ? 'pkcs8' : 'spki')) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.type' is invalid. Received ${internal.inspect(type)}`);
      if (options.cipher !== undefined) throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'encrypted private keys are not available in the sandbox');
      if (options.format === 'der') return Buffer.from(bytes);
      if (options.format !== 'pem') throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The property 'options.format' is invalid. Received ${internal.inspect(options.format)}`);
      return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
    }
  }
  make = (type, kind, bytes) => {
    let checked;
    try { checked = answer('crypto.check', kind, type === 'private' ? 1 : 0, bytes); } catch (e) {
      if (/RSA keys/.test(e.message)) throw e;
      throw unsupported();
    }
    return new AsymmetricKeyObject(type, kind, checked);
  };
  const publicOf = (key) => {
    if (key.type === 'public') return key;
    const { kind, der: bytes } = dataOf(key);
    return new AsymmetricKeyObject('public', kind, answer('crypto.public', kind, bytes));
  };

  // read converts any key input of Node's API to a key object.
  const read = (given, want) => {
    let options = {}, key = given;
    if (key instanceof KeyObject) return key;
    if (key !== null && typeof key === 'object' && !ArrayBuffer.isView(key) && !internal.isBuffer(key) && 'key' in key) { options = key; key = key.key; }
    if (key instanceof KeyObject) return key;
    if (options.format === 'jwk') {
      const kind = key.kty === 'RSA' ? 'RSA' : key.crv, type = key.d === undefined ? 'public' : 'private', members = {};
      if (oid[kind] === undefined) throw nodeError(Error, 'ERR_CRYPTO_INVALID_JWK', 'Invalid JWK data');
      for (const m of ['x', 'y', 'd', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi']) if (key[m] !== undefined) members[m] = key[m];
      try { return new AsymmetricKeyObject(type, kind, answer('crypto.fromJwk', kind, JSON.stringify(members))); } catch { throw nodeError(Error, 'ERR_CRYPTO_INVALID_JWK', 'Invalid JWK data'); }
    }
    if (typeof key !== 'string' && !ArrayBuffer.isView(key) && !internal.isBuffer(key)) throw internal.nodeWrongType('key', 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey', key);
    let bytes, type = want, form = options.type;
    if (options.format === 'der') bytes = Buffer.from(typeof key === 'string' ? Buffer.from(key, options.encoding) : key);
    else {
      const text = typeof key === 'string' ? key : Buffer.from(key).toString('latin1');
      const m = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/.exec(text);
      if (m?.[1] === 'ENCRYPTED PRIVATE KEY' || m !== null && /Proc-Type/.test(m[2])) throw nodeError(TypeError, 'ERR_MISSING_PASSPHRASE', 'Passphrase required for encrypted key');
      if (m === null || labels[m[1]] === undefined) throw unsupported();
      [type, form] = labels[m[1]];
      bytes = Buffer.from(m[2], 'base64');
    }
    if (type === 'private') {
      bytes = toPkcs8(bytes, form);
      return make('private', kindOf(inner(bytes)[1]?.all ?? empty), bytes);
    }
    bytes = toSpki(bytes, form);
    return make('public', kindOf(inner(bytes)[0]?.all ?? empty), bytes);
  };
  const createPrivateKey = (key) => {
    const k = read(key, 'private');
    if (k.type !== 'private') throw unsupported();
    return k;
  };
  const createPublicKey = (key) => {
    const k = read(key, 'public');
    if (k.type === 'secret') throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE', 'Invalid key object type secret, expected private.');
    return publicOf(k);
  };

  const hashNames = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }, hashSizes = { 'SHA-1': 20, 'SHA-256': 32, 'SHA-384': 48, 'SHA-512': 64 };
  const hashOf = (name) => {
    const found = hashNames[String(name).toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha')];
    if (found === undefined) throw nodeError(Error, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
    return found;
  };
  const derSignature = (raw) => {
    const integer = (b) => {
      let at = 0;
      while (at < b.length - 1 && b[at] === 0) at++;
      return der(2, b[at] > 127 ? Buffer.from([0]) : empty, b.subarray(at));
    };
    return der(0x30, integer(raw.subarray(0, raw.length / 2)), integer(raw.subarray(raw.length / 2)));
  };
  const sizes = { 'P-256': 32, 'P-384': 48, 'P-521': 66 };
  const rawSignature = (b, size) => {
    const out = Buffer.alloc(2 * size);
    try {
      inner(b).slice(0, 2).forEach((e, i) => {
        const n = e.body[0] === 0 ? e.body.subarray(1) : e.body;
        n.copy(out, (i + 1) * size - n.length);
      });
    } catch { return empty; }
    return out;
  };
  // schemes returns the signature schemes to try, the most likely first.
  const schemes = (kind, hash, options, key, verifies) => {
    if (kind === 'Ed25519') return ['Ed25519:Ed25519'];
    if (kind === 'X25519') throw nodeError(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'operation not supported for this keytype');
    const name = hashOf(hash ?? 'sha256');
    if (kind !== 'RSA') return [`ECDSA:${kind}:${name}`];
    if (options.padding !== crypto.constants.RSA_PKCS1_PSS_PADDING) return [`RSASSA:RSA:${name}`];
    const size = hashSizes[name], most = Math.ceil((key.asymmetricKeyDetails.modulusLength - 1) / 8) - size - 2;
    const { saltLength = crypto.constants.RSA_PSS_SALTLEN_AUTO } = options;
    const salts = saltLength >= 0 ? [saltLength] : saltLength === -1 ? [size] : verifies ? [size, most] : [most];
    return salts.map((n) => `RSA-PSS:RSA:${name}:${n}`);
  };
  const optionsOf = (key) => key !== null && typeof key === 'object' && !(key instanceof KeyObject) && !ArrayBuffer.isView(key) ? key : {};
  const bytesOf = (v, name, encoding) => typeof v === 'string' ? Buffer.from(v, encoding) : ArrayBuffer.isView(v) || internal.isBuffer(v) ? Buffer.from(v) : (() => { throw internal.nodeWrongType(name, 'an instance of Buffer, TypedArray, or DataView', v); })();
  const sign = (hash, data, key) => {
    const k = createPrivateKey(key), options = optionsOf(key), { kind, der: bytes } = dataOf(k);
    const out = answer('crypto.sign', schemes(kind, hash, options, k, false)[0], bytes, bytesOf(data, 'data'));
    return sizes[kind] !== undefined && options.dsaEncoding !== 'ieee-p1363' ? derSignature(out) : out;
  };
  const verify = (hash, data, key, signature) => {
    const k = createPublicKey(key), options = optionsOf(key), { kind, der: bytes } = dataOf(k);
    let s = bytesOf(signature, 'signature');
    if (sizes[kind] !== undefined && options.dsaEncoding !== 'ieee-p1363') s = rawSignature(s, sizes[kind]);
    const content = bytesOf(data, 'data');
    return schemes(kind, hash, options, k, true).some((scheme) => call('crypto.verify', scheme, bytes, s, content) === true);
  };
  const withCallback = (f, n) => (...args) => {
    const done = args[n];
    if (done === undefined) return f(...args);
    let out, failed = null;
    try { out = f(...args.slice(0, n)); } catch (e) { failed = e; }
    process.nextTick(done, failed, out);
    return undefined;
  };

  const { Writable } = modules.stream;
  class Gather extends Writable {
    #hash; #parts = [];
    constructor(hash) {
      super();
      try { hashOf(hash); } catch { throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest'); }
      this.#hash = hash;
    }
    update(data, encoding) { this.#parts.push(bytesOf(data, 'data', encoding)); return this; }
    _write(chunk, encoding, done) { this.update(chunk, encoding === 'buffer' ? undefined : encoding); done(); }
    take() { return [this.#hash, Buffer.concat(this.#parts)]; }
  }
  class Sign extends Gather {
    sign(key, encoding) {
      const [hash, data] = this.take(), out = sign(hash, data, key);
      return encoding === undefined || encoding === 'buffer' ? out : out.toString(encoding);
    }
  }
  class Verify extends Gather {
    verify(key, signature, encoding) {
      const [hash, data] = this.take();
      return verify(hash, data, key, typeof signature === 'string' ? Buffer.from(signature, encoding) : signature);
    }
  }

  const generateKeyPairSync = (type, options = {}) => {
    const kinds = { rsa: () => `RSA:${options.modulusLength}`, 'rsa-pss': () => `RSA:${options.modulusLength}`, ed25519: () => 'Ed25519', x25519: () => 'X25519', ec: () => {
      const curve = curveOf[options.namedCurve];
      if (curve === undefined) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
      return curve;
    } };
    if (typeof type !== 'string') throw internal.nodeWrongType('type', 'of type string', type);
    if (!Object.hasOwn(kinds, type)) throw nodeError(TypeError, 'ERR_INVALID_ARG_VALUE', `The argument 'type' must be a supported key type. Received ${internal.inspect(type)}`);
    if (type === 'rsa' && typeof options.modulusLength !== 'number') throw internal.nodeWrongType('options.modulusLength', 'of type number', options.modulusLength);
    const name = kinds[type](), kind = name.split(':')[0];
    const privateKey = new AsymmetricKeyObject('private', kind, answer('crypto.generate', name)), publicKey = publicOf(privateKey);
    return {
      publicKey: options.publicKeyEncoding === undefined ? publicKey : publicKey.export(options.publicKeyEncoding),
      privateKey: options.privateKeyEncoding === undefined ? privateKey : privateKey.export(options.privateKeyEncoding),
    };
  };
  const generateKeyPair = (type, options, done) => {
    const out = generateKeyPairSync(type, options);
    process.nextTick(done, null, out.publicKey, out.privateKey);
  };
  Object.defineProperty(generateKeyPair, Symbol.for('nodejs.util.promisify.custom'), { value: async (type, options) => generateKeyPairSync(type, options) });

  const oaep = (direction) => (key, data) => {
    const options = optionsOf(key), k = direction ? createPublicKey(key) : createPrivateKey(key), { der: bytes } = dataOf(k);
    if (options.padding !== undefined && options.padding !== crypto.constants.RSA_PKCS1_OAEP_PADDING) throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'only RSA_PKCS1_OAEP_PADDING is available in the sandbox');
    return answer('crypto.oaep', hashOf(options.oaepHash ?? 'sha1'), direction, bytes, bytesOf(data, 'buffer'), options.oaepLabel === undefined ? empty : bytesOf(options.oaepLabel, 'oaepLabel'));
  };
  const diffieHellman = ({ privateKey, publicKey }) => {
    const a = dataOf(privateKey), b = dataOf(publicKey);
    if (a.kind !== b.kind) throw nodeError(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY', 'Incompatible key types for Diffie-Hellman');
    return answer('crypto.agree', a.kind, a.der, b.der);
  };
  class ECDH {
    #kind; #key;
    constructor(curve) {
      if (typeof curve !== 'string') throw internal.nodeWrongType('curve', 'of type string', curve);
      this.#kind = curveOf[curve];
      if (this.#kind === undefined) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
    }
    #own(what) {
      if (this.#key === undefined) throw nodeError(Error, 'ERR_CRYPTO_OPERATION_FAILED', `Failed to get ECDH ${what} key`);
      return this.#key;
    }
    generateKeys(encoding, format) {
      this.#key = new AsymmetricKeyObject('private', this.#kind, answer('crypto.generate', this.#kind));
      return this.getPublicKey(encoding, format);
    }
    getPublicKey(encoding, format) { return encoded(shortened(answer('crypto.toRaw', this.#kind, dataOf(publicOf(this.#own('public'))).der), format), encoding); }
    getPrivateKey(encoding) { return encoded(Buffer.from(this.#own('private').export({ format: 'jwk' }).d, 'base64url'), encoding); }
    setPrivateKey(key, encoding) {
      const d = bytesOf(key, 'key', encoding), size = { 'P-256': 32, 'P-384': 48, 'P-521': 66 }[this.#kind];
      const curve = Buffer.from(oid[this.#kind], 'hex');
      try {
        if (d.length > size) throw unsupported();
        this.#key = make('private', this.#kind, der(0x30, zero, der(0x30, ecOid, curve), der(4, der(0x30, Buffer.from([2, 1, 1]), der(4, Buffer.concat([Buffer.alloc(size - d.length), d]))))));
      } catch { throw nodeError(RangeError, 'ERR_CRYPTO_INVALID_KEYTYPE', 'Private key is not valid for specified curve.'); }
    }
    computeSecret(other, inputEncoding, outputEncoding) {
      const { der: own } = dataOf(this.#own('private'));
      let theirs;
      try { theirs = answer('crypto.fromRaw', this.#kind, bytesOf(other, 'otherPublicKey', inputEncoding)); } catch {
        throw nodeError(Error, 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY', 'Public key is not valid for specified curve');
      }
      return encoded(answer('crypto.agree', this.#kind, own, theirs), outputEncoding);
    }
    static convertKey(key, curve, inputEncoding, outputEncoding, format) { return encoded(shortened(bytesOf(key, 'key', inputEncoding), format), outputEncoding); }
  }
  const encoded = (b, encoding) => encoding === undefined || encoding === 'buffer' ? b : b.toString(encoding);
  const shortened = (raw, format = 'uncompressed') => {
    if (format === 'uncompressed') return raw;
    if (format !== 'compressed') throw nodeError(TypeError, 'ERR_CRYPTO_ECDH_INVALID_FORMAT', `Invalid ECDH format: ${format}`);
    return Buffer.concat([Buffer.from([2 + (raw[raw.length - 1] & 1)]), raw.subarray(1, (raw.length + 1) / 2)]);
  };

  Object.assign(crypto, {
    ECDH, createECDH: (curve) => new ECDH(curve),
    createPrivateKey, createPublicKey, generateKeyPairSync, generateKeyPair, diffieHellman, Sign, Verify,
    sign: withCallback(sign, 3), verify: withCallback(verify, 4), createSign: (hash) => new Sign(hash), createVerify: (hash) => new Verify(hash),
    publicEncrypt: oaep(1), privateDecrypt: oaep(0), getCurves: () => ['prime256v1', 'secp384r1', 'secp521r1'],
  });
  return internal;
}
