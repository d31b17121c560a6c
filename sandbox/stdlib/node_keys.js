// Asymmetric keys of Node's crypto: key objects, encodings, signatures and RSA encryption. The host does the computation.
(host, internal) => {
  'use strict';
  const { modules, nodeError } = internal;
  const { Buffer } = modules.buffer;
  const crypto = modules.crypto;
  const { KeyObject } = crypto;
  const { check } = internal;
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

  // checkEncoding checks how a key is to be exported.
  const checkEncoding = (options, priv, rsa, name = 'options') => {
    check.object(options, name);
    const { format, type, cipher, passphrase } = options, invalid = (k, v) => internal.nodeInvalidValue(`${name}.${k}`, v);
    if (format !== 'pem' && format !== 'der' && format !== 'jwk') throw invalid('format', format);
    if (format === 'jwk') return;
    if (!(priv ? ['pkcs8', 'pkcs1', 'sec1'] : ['spki', 'pkcs1']).includes(type)) throw invalid('type', type);
    if (type === 'pkcs1' && !rsa) throw nodeError(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', 'The selected key encoding pkcs1 can only be used for RSA keys.');
    if (type === 'sec1' && rsa) throw nodeError(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', 'The selected key encoding sec1 can only be used for EC keys.');
    if (!priv || cipher === undefined && passphrase === undefined) return;
    if (typeof cipher !== 'string') throw invalid('cipher', cipher);
    if (format === 'der' && (type === 'pkcs1' || type === 'sec1')) throw nodeError(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', `The selected key encoding ${type} does not support encryption.`);
    if (passphrase === undefined || typeof passphrase !== 'string' && !ArrayBuffer.isView(passphrase)) throw invalid('passphrase', passphrase);
  };
  let dataOf, make, made;
  class AsymmetricKeyObject extends KeyObject {
    #kind; #der;
    static { dataOf = (k) => ({ kind: k.#kind, der: k.#der }); }
    constructor(type, kind, bytes) {
      super(type, internal.nodeHandle(bytes));
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
    export(options) {
      const priv = this.type === 'private';
      if (options?.format === 'jwk') {
        if (options.passphrase !== undefined) throw nodeError(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', 'The selected key encoding jwk does not support encryption.');
        const m = call('crypto.toJwk', this.#kind, priv ? 1 : 0, this.#der), rsa = this.#kind === 'RSA', okp = names[this.#kind] !== undefined && !rsa;
        if (rsa) return { kty: 'RSA', ...m };
        return okp ? { crv: this.#kind, ...(m.d === undefined ? {} : { d: m.d }), x: m.x, kty: 'OKP' } : { kty: 'EC', x: m.x, y: m.y, crv: this.#kind, ...(m.d === undefined ? {} : { d: m.d }) };
      }
      checkEncoding(options, priv, this.#kind === 'RSA');
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
      }
      if (options.cipher !== undefined) throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'encrypted private keys are not available in the sandbox');
      if (options.format === 'der') return Buffer.from(bytes);
      return `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
    }
  }
  class PublicKeyObject extends AsymmetricKeyObject { constructor(kind, bytes) { super('public', kind, bytes); } }
  class PrivateKeyObject extends AsymmetricKeyObject { constructor(kind, bytes) { super('private', kind, bytes); } }
  made = (type, kind, bytes) => type === 'private' ? new PrivateKeyObject(kind, bytes) : new PublicKeyObject(kind, bytes);
  const secretOf = internal.nodeKeyOf;
  internal.nodeKeyOf = (state) => state.type === 'secret' ? secretOf(state) : made(state.type, state.curve ?? 'RSA', Buffer.from(state.data));
  make = (type, kind, bytes) => {
    let checked;
    try { checked = answer('crypto.check', kind, type === 'private' ? 1 : 0, bytes); } catch (e) {
      if (/RSA keys/.test(e.message)) throw e;
      throw unsupported();
    }
    return made(type, kind, checked);
  };
  const publicOf = (key) => {
    if (key.type === 'public') return key;
    const { kind, der: bytes } = dataOf(key);
    return made('public', kind, answer('crypto.public', kind, bytes));
  };

  // read converts any key input of Node's API to a key object.
  const read = (given, want) => {
    let options = {}, key = given;
    const wrong = (name, v) => internal.nodeWrongType(name, 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey', v);
    const keyOf = (v) => v instanceof KeyObject ? v : typeof CryptoKey === 'function' && v instanceof CryptoKey ? KeyObject.from(v) : undefined;
    if (keyOf(key) !== undefined) return keyOf(key);
    const wrapped = key !== null && typeof key === 'object' && !ArrayBuffer.isView(key) && !internal.isBuffer(key);
    if (wrapped) {
      options = key;
      key = key.key;
      if (keyOf(key) !== undefined) return keyOf(key);
    }
    if (options.format === 'jwk') {
      check.object(key, 'key.key');
      check.oneOf(key.kty, 'key.kty', ['RSA', 'EC', 'OKP']);
      const kind = key.kty === 'RSA' ? 'RSA' : key.crv, type = key.d === undefined ? 'public' : 'private', members = {};
      if (oid[kind] === undefined) throw nodeError(Error, 'ERR_CRYPTO_INVALID_JWK', 'Invalid JWK data');
      for (const m of ['x', 'y', 'd', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi']) if (key[m] !== undefined) members[m] = key[m];
      try { return made(type, kind, answer('crypto.fromJwk', kind, JSON.stringify(members))); } catch { throw nodeError(Error, 'ERR_CRYPTO_INVALID_JWK', 'Invalid JWK data'); }
    }
    if (typeof key !== 'string' && !ArrayBuffer.isView(key) && !internal.isBuffer(key)) throw wrong(wrapped ? 'key.key' : 'key', key);
    if (wrapped && options.format !== undefined && options.format !== 'pem' && options.format !== 'der') throw internal.nodeInvalidValue('options.format', options.format);
    if (options.format === 'der' && !(want === 'private' ? ['pkcs8', 'pkcs1', 'sec1'] : ['spki', 'pkcs1', 'pkcs8', 'sec1']).includes(options.type)) throw internal.nodeInvalidValue('options.type', options.type);
    let bytes, type = want, form = options.type;
    if (options.format === 'der' && (form === 'pkcs8' || form === 'sec1')) type = 'private';
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
    if (form === 'pkcs1' && options.format === 'der') { // it may be a private key
      try { return make('public', 'RSA', toSpki(bytes, form)); } catch { return make('private', 'RSA', toPkcs8(bytes, form)); }
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
    if (found === undefined) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
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
  const optionsOf = (key) => key !== null && typeof key === 'object' && !(key instanceof KeyObject) && !(typeof CryptoKey === 'function' && key instanceof CryptoKey) && !ArrayBuffer.isView(key) ? key : {};
  const anyBytes = 'of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView';
  const bytesOf = (v, name, encoding, wanted = anyBytes) => {
    if (typeof v === 'string') return Buffer.from(v, encoding === 'buffer' ? 'utf8' : encoding);
    if (ArrayBuffer.isView(v)) return Buffer.from(v.buffer, v.byteOffset, v.byteLength);
    if (internal.isBuffer(v)) return Buffer.from(v);
    throw internal.nodeWrongType(name, wanted, v);
  };
  // checkSigning checks what a signature is made or verified with.
  const checkSigning = (hash, options) => {
    if (hash !== null && hash !== undefined) check.string(hash, 'algorithm');
    if (options.padding !== undefined && !Number.isInteger(options.padding)) throw internal.nodeInvalidValue('options.padding', options.padding);
    if (options.saltLength !== undefined && !Number.isInteger(options.saltLength)) throw internal.nodeInvalidValue('options.saltLength', options.saltLength);
    if (options.dsaEncoding !== undefined && options.dsaEncoding !== 'der' && options.dsaEncoding !== 'ieee-p1363') throw internal.nodeInvalidValue('options.dsaEncoding', options.dsaEncoding);
  };
  const sign = (hash, data, key) => {
    checkSigning(hash, optionsOf(key));
    const content = bytesOf(data, 'data');
    if (!key) throw nodeError(Error, 'ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
    const k = createPrivateKey(key), options = optionsOf(key), { kind, der: bytes } = dataOf(k);
    const out = answer('crypto.sign', schemes(kind, hash, options, k, false)[0], bytes, content);
    return sizes[kind] !== undefined && options.dsaEncoding !== 'ieee-p1363' ? derSignature(out) : out;
  };
  const verify = (hash, data, key, signature) => {
    checkSigning(hash, optionsOf(key));
    const content = bytesOf(data, 'data');
    if (!ArrayBuffer.isView(signature) && !internal.isBuffer(signature)) throw internal.nodeWrongType('signature', 'an instance of Buffer, TypedArray, or DataView', signature);
    const k = createPublicKey(key), options = optionsOf(key), { kind, der: bytes } = dataOf(k);
    let s = bytesOf(signature, 'signature');
    if (sizes[kind] !== undefined && options.dsaEncoding !== 'ieee-p1363') s = rawSignature(s, sizes[kind]);
    return schemes(kind, hash, options, k, true).some((scheme) => call('crypto.verify', scheme, bytes, s, content) === true);
  };
  const named = (f, name, length) => {
    Object.defineProperty(f, 'name', { value: name, configurable: true });
    Object.defineProperty(f, 'length', { value: length, configurable: true });
    return f;
  };
  const withCallback = (f, n, name) => named((...args) => {
    const done = args[n];
    if (done === undefined) return f(...args);
    check.func(done, 'callback');
    let out, failed = null;
    try { out = f(...args.slice(0, n)); } catch (e) {
      if (e instanceof TypeError || e.code === 'ERR_CRYPTO_SIGN_KEY_REQUIRED' || e.code === 'ERR_OSSL_UNSUPPORTED') throw e;
      failed = e;
    }
    process.nextTick(done, failed, out);
    return undefined;
  }, name, n + 1);

  const { Writable } = modules.stream;
  class Gather extends Writable {
    #hash; #parts = [];
    constructor(hash, options) {
      check.string(hash, 'algorithm');
      super(options);
      try { hashOf(hash); } catch { throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest'); }
      this.#hash = hash;
    }
    _write(chunk, encoding, done) { this.update(chunk, encoding === 'buffer' ? undefined : encoding); done(); }
    update(data, encoding) {
      if (typeof data !== 'string' && !ArrayBuffer.isView(data)) throw internal.nodeWrongType('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
      if (typeof data === 'string' && typeof encoding === 'string' && encoding.toLowerCase() === 'hex' && data.length % 2 === 1) throw internal.nodeInvalidValue('encoding', encoding, `is invalid for data of length ${data.length}`);
      this.#parts.push(Buffer.from(bytesOf(data, 'data', Buffer.isEncoding(encoding) ? encoding : undefined)));
      return this;
    }
    take() { return [this.#hash, Buffer.concat(this.#parts)]; }
  }
  // methodsOf returns the class for signing or verifying. It makes an object without new, too.
  const methodsOf = (name, method) => {
    class C extends Gather {}
    function Made(algorithm, options) { return Reflect.construct(C, [algorithm, options], new.target ?? Made); }
    Object.setPrototypeOf(Made, Writable);
    Made.prototype = C.prototype;
    internal.define(C.prototype, 'constructor', Made);
    for (const own of ['_write', 'update']) internal.define(C.prototype, own, Gather.prototype[own]);
    internal.define(C.prototype, name.toLowerCase(), method);
    return named(Made, name, 2);
  };
  const Sign = methodsOf('Sign', function sign(options, encoding) { // eslint-disable-line no-shadow
    if (!options) throw nodeError(Error, 'ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
    const [hash, data] = this.take();
    return encoded(signOneShot(hash, data, options), encoding);
  });
  const Verify = methodsOf('Verify', function verify(options, signature, encoding) { // eslint-disable-line no-shadow
    const [hash, data] = this.take();
    createPublicKey(options);
    return verifyOneShot(hash, data, options, bytesOf(signature, 'signature', encoding));
  });
  const signOneShot = sign, verifyOneShot = verify;

  // pairOf makes a key pair, or returns the function that makes it when the arguments were checked.
  const pairOf = (type, options) => {
    check.string(type, 'type');
    if (options !== undefined) check.object(options, 'options');
    const rsa = () => {
      const { modulusLength, publicExponent = 65537 } = options;
      check.uint32(modulusLength, 'options.modulusLength');
      check.uint32(publicExponent, 'options.publicExponent');
      if (publicExponent !== 65537) throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'the public exponent of new RSA keys is 65537 in the sandbox');
      return `RSA:${modulusLength}`;
    };
    const kinds = { __proto__: null, rsa, 'rsa-pss': rsa, ed25519: () => 'Ed25519', x25519: () => 'X25519', ec: () => {
      check.string(options.namedCurve, 'options.namedCurve');
      if (options.paramEncoding !== undefined && options.paramEncoding !== null && !['named', 'explicit'].includes(options.paramEncoding)) throw internal.nodeInvalidValue('options.paramEncoding', options.paramEncoding);
      const curve = Object.hasOwn(curveOf, options.namedCurve) ? curveOf[options.namedCurve] : undefined;
      if (curve === undefined) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
      return curve;
    } };
    if (options === undefined && (kinds[type] === undefined || type === 'ed25519' || type === 'x25519')) options = {};
    check.object(options, 'options');
    for (const [name, priv] of [['publicKeyEncoding', false], ['privateKeyEncoding', true]]) {
      const e = options[name];
      if (e === undefined) continue;
      if (e === null || typeof e !== 'object') throw internal.nodeInvalidValue(`options.${name}`, e);
      checkEncoding(e, priv, type === 'rsa' || type === 'rsa-pss', `options.${name}`);
    }
    if (kinds[type] === undefined) throw internal.nodeInvalidValue('type', type, 'must be a supported key type');
    const name = kinds[type](), kind = name.split(':')[0];
    return () => {
      const privateKey = made('private', kind, answer('crypto.generate', name)), publicKey = publicOf(privateKey);
      return {
        publicKey: options.publicKeyEncoding === undefined ? publicKey : publicKey.export(options.publicKeyEncoding),
        privateKey: options.privateKeyEncoding === undefined ? privateKey : privateKey.export(options.privateKeyEncoding),
      };
    };
  };
  const generateKeyPairSync = named((type, options) => pairOf(type, options)(), 'generateKeyPairSync', 2);
  const generateKeyPair = (type, options, callback) => {
    if (typeof options === 'function') [callback, options] = [options, undefined];
    const make = pairOf(type, options);
    check.func(callback, 'callback');
    let out, failure = null;
    try { out = make(); } catch (e) { failure = e; }
    process.nextTick(() => { if (failure === null) callback(null, out.publicKey, out.privateKey); else callback(failure); });
  };
  Object.defineProperty(generateKeyPair, Symbol.for('nodejs.util.promisify.custom'), { value: async (type, options) => generateKeyPairSync(type, options) });

  const oaep = (direction) => (key, data) => {
    const options = optionsOf(key), k = direction ? createPublicKey(key) : createPrivateKey(key), { der: bytes } = dataOf(k);
    if (options.padding !== undefined && options.padding !== crypto.constants.RSA_PKCS1_OAEP_PADDING) throw nodeError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'only RSA_PKCS1_OAEP_PADDING is available in the sandbox');
    return answer('crypto.oaep', hashOf(options.oaepHash ?? 'sha1'), direction, bytes, bytesOf(data, 'buffer'), options.oaepLabel === undefined ? empty : bytesOf(options.oaepLabel, 'oaepLabel'));
  };
  const diffieHellman = (options) => {
    check.object(options, 'options');
    const { privateKey, publicKey } = options;
    for (const [k, name, type] of [[privateKey, 'privateKey', 'private'], [publicKey, 'publicKey', 'public']]) {
      if (!(k instanceof KeyObject)) throw internal.nodeInvalidValue(`options.${name}`, k);
      if (k.type !== type && (type === 'private' || k.type === 'secret')) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE', `Invalid key object type ${k.type}, expected ${type === 'private' ? 'private' : 'private or public'}.`);
    }
    const a = dataOf(privateKey), b = dataOf(publicOf(publicKey));
    if (a.kind !== b.kind) throw nodeError(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY', 'Incompatible key types for Diffie-Hellman');
    return answer('crypto.agree', a.kind, a.der, b.der);
  };
  class ECDHOf {
    #kind; #key;
    constructor(curve) {
      check.string(curve, 'curve');
      this.#kind = Object.hasOwn(curveOf, curve) ? curveOf[curve] : undefined;
      if (this.#kind === undefined) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
    }
    #own(what) {
      if (this.#key === undefined) throw nodeError(Error, 'ERR_CRYPTO_OPERATION_FAILED', `Failed to get ECDH ${what} key`);
      return this.#key;
    }
    generateKeys(encoding, format) {
      this.#key = made('private', this.#kind, answer('crypto.generate', this.#kind));
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
      return this;
    }
    computeSecret(other, inputEncoding, outputEncoding) {
      const { der: own } = dataOf(this.#own('private')), point = bytesOf(other, 'key', inputEncoding);
      let theirs;
      try { theirs = answer('crypto.fromRaw', this.#kind, point); } catch {
        throw nodeError(Error, 'ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY', 'Public key is not valid for specified curve');
      }
      return encoded(answer('crypto.agree', this.#kind, own, theirs), outputEncoding);
    }
    static convertKey(key, curve, inputEncoding, outputEncoding, format) {
      check.string(curve, 'curve');
      const point = bytesOf(key, 'key', inputEncoding);
      if (!Object.hasOwn(curveOf, curve)) throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
      let raw;
      try { raw = answer('crypto.toRaw', curveOf[curve], answer('crypto.fromRaw', curveOf[curve], point)); } catch { throw nodeError(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'Failed to convert Buffer to EC_POINT'); }
      return encoded(shortened(raw, format), outputEncoding);
    }
  }
  const ECDH = internal.nodeCallable(ECDHOf, 'ECDH', 1);
  Object.defineProperty(ECDH, 'convertKey', { value: ECDHOf.convertKey, writable: true, configurable: true });
  const encoded = (b, encoding) => {
    if (!encoding || encoding === 'buffer') return b;
    if (!Buffer.isEncoding(encoding)) throw nodeError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${typeof encoding === 'string' ? encoding : internal.inspect(encoding)}`);
    return b.toString(encoding);
  };
  const shortened = (raw, format = 'uncompressed') => {
    if (format === 'uncompressed') return raw;
    if (format !== 'compressed') throw nodeError(TypeError, 'ERR_CRYPTO_ECDH_INVALID_FORMAT', `Invalid ECDH format: ${typeof format === 'string' ? format : internal.inspect(format)}`);
    return Buffer.concat([Buffer.from([2 + (raw[raw.length - 1] & 1)]), raw.subarray(1, (raw.length + 1) / 2)]);
  };

  const isKey = (v) => v instanceof KeyObject || typeof CryptoKey === 'function' && v instanceof CryptoKey;
  Object.assign(crypto, {
    ECDH, createECDH: named((curve) => new ECDH(curve), 'createECDH', 1),
    createPrivateKey: named((key) => {
      if (isKey(key) || isKey(key?.key)) throw internal.nodeWrongType(isKey(key) ? 'key' : 'key.key', anyBytes, isKey(key) ? key : key.key);
      return createPrivateKey(key);
    }, 'createPrivateKey', 1),
    createPublicKey: named((key) => {
      const given = isKey(key) ? key : isKey(key?.key) ? key.key : undefined;
      if (given !== undefined && given.type !== 'private') throw nodeError(TypeError, 'ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE', `Invalid key object type ${given.type}, expected private.`);
      return createPublicKey(key);
    }, 'createPublicKey', 1),
    generateKeyPairSync, generateKeyPair, diffieHellman, Sign, Verify,
    sign: withCallback(sign, 3, 'signOneShot'), verify: withCallback(verify, 4, 'verifyOneShot'), createSign: named((hash, options) => new Sign(hash, options), 'createSign', 2), createVerify: named((hash, options) => new Verify(hash, options), 'createVerify', 2),
    publicEncrypt: oaep(1), privateDecrypt: oaep(0), getCurves: () => ['prime256v1', 'secp384r1', 'secp521r1'],
  });
  return internal;
}
