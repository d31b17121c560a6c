// The algorithms of WebCrypto: the algorithms of each operation and their parameters.
(host, internal) => {
  'use strict';
  const { p, crypto } = internal;
  const unsigned = (max) => (v, what) => internal.enforceRange(v, max, what);
  const octet = unsigned(255), short = unsigned(65535), long = unsigned(4294967295);
  const bytes = (v, what) => internal.copy(v, what);
  const integer = (v, what) => {
    if (!p.isView(v) || p.typedTag(v) !== 'Uint8Array') throw new p.TypeError(`${what} is not a Uint8Array`);
    return internal.copy(v);
  };
  const text = (v) => internal.text(v);
  const hash = (v) => crypto.normalise('digest', v).name;
  const key = (v) => {
    crypto.of(v);
    return v;
  };
  // A dictionary is a list of members: [name, conversion, optional].
  const hashed = [['hash', hash]], curve = [['namedCurve', text]], none = [];
  const aesLength = [['length', short]];
  const rsaGenerate = [['hash', hash], ['modulusLength', long], ['publicExponent', integer]];
  const hkdf = [['hash', hash], ['info', bytes], ['salt', bytes]];
  const pbkdf2 = [['hash', hash], ['iterations', long], ['salt', bytes]];
  const hmac = [['hash', hash], ['length', long, true]];

  const operations = {
    __proto__: null,
    digest: { __proto__: null, 'SHA-1': none, 'SHA-256': none, 'SHA-384': none, 'SHA-512': none, 'SHA3-256': none, 'SHA3-384': none, 'SHA3-512': none },
    encrypt: {
      __proto__: null, 'RSA-OAEP': [['label', bytes, true]], 'AES-CTR': [['counter', bytes], ['length', octet]], 'AES-CBC': [['iv', bytes]],
      'AES-GCM': [['additionalData', bytes, true], ['iv', bytes], ['tagLength', octet, true]],
    },
    sign: { __proto__: null, 'RSASSA-PKCS1-v1_5': none, 'RSA-PSS': [['saltLength', long]], ECDSA: hashed, Ed25519: none, HMAC: none },
    deriveBits: { __proto__: null, ECDH: [['public', key]], X25519: [['public', key]], HKDF: hkdf, PBKDF2: pbkdf2 },
    wrapKey: { __proto__: null, 'AES-KW': none },
    generateKey: {
      __proto__: null, 'RSASSA-PKCS1-v1_5': rsaGenerate, 'RSA-PSS': rsaGenerate, 'RSA-OAEP': rsaGenerate, ECDSA: curve, ECDH: curve, Ed25519: none, X25519: none,
      'AES-CTR': aesLength, 'AES-CBC': aesLength, 'AES-GCM': aesLength, 'AES-KW': aesLength, HMAC: hmac,
    },
    importKey: {
      __proto__: null, 'RSASSA-PKCS1-v1_5': hashed, 'RSA-PSS': hashed, 'RSA-OAEP': hashed, ECDSA: curve, ECDH: curve, Ed25519: none, X25519: none,
      'AES-CTR': none, 'AES-CBC': none, 'AES-GCM': none, 'AES-KW': none, HMAC: hmac, HKDF: none, PBKDF2: none,
    },
    length: { __proto__: null, 'AES-CTR': aesLength, 'AES-CBC': aesLength, 'AES-GCM': aesLength, 'AES-KW': aesLength, HMAC: hmac, HKDF: none, PBKDF2: none },
  };
  operations.decrypt = operations.encrypt;
  operations.verify = operations.sign;
  operations.unwrapKey = operations.wrapKey;

  const find = (table, name) => {
    const upper = p.toUpperCase(name);
    for (const known in table) if (p.toUpperCase(known) === upper) return known;
    return undefined;
  };
  // normalise is WebCrypto's "normalize an algorithm". It returns {name, …}.
  crypto.normalise = (operation, algorithm) => {
    const object = internal.isObject(algorithm) ? algorithm : { __proto__: null, name: internal.text(algorithm) };
    const given = object.name;
    if (given === undefined) throw new p.TypeError('Algorithm: name is missing');
    const table = operations[operation], name = find(table, internal.text(given));
    if (name === undefined) throw internal.domError('NotSupportedError', 'Unrecognized algorithm name');
    const out = { __proto__: null, name }, members = table[name];
    for (let i = 0; i < members.length; i++) {
      const m = members[i], v = object[m[0]];
      if (v !== undefined) out[m[0]] = m[1](v, `Algorithm: ${m[0]}`);
      else if (!m[2]) throw new p.TypeError(`Algorithm: ${m[0]} is missing`);
    }
    return out;
  };
  crypto.blockBits = (name) => name === 'SHA-384' || name === 'SHA-512' ? 1024 : name === 'SHA3-256' ? 1088 : name === 'SHA3-384' ? 832 : name === 'SHA3-512' ? 576 : 512;

  // usages maps an algorithm to the usages of its keys; an asymmetric algorithm has a list for private and one for public
  // keys.
  const usages = {
    __proto__: null, 'RSASSA-PKCS1-v1_5': [['sign'], ['verify']], 'RSA-PSS': [['sign'], ['verify']], ECDSA: [['sign'], ['verify']], Ed25519: [['sign'], ['verify']],
    'RSA-OAEP': [['decrypt', 'unwrapKey'], ['encrypt', 'wrapKey']], ECDH: [['deriveKey', 'deriveBits'], []], X25519: [['deriveKey', 'deriveBits'], []],
    'AES-CTR': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'], 'AES-CBC': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'], 'AES-GCM': ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
    'AES-KW': ['wrapKey', 'unwrapKey'], HMAC: ['sign', 'verify'], HKDF: ['deriveKey', 'deriveBits'], PBKDF2: ['deriveKey', 'deriveBits'],
  };
  // usagesFor returns the usages that a key of the algorithm supports. type matters only for asymmetric algorithms.
  crypto.usagesFor = (name, type) => {
    const u = usages[name];
    if (!p.isArray(u[0])) return u;
    return type === 'private' ? u[0] : u[1];
  };
  crypto.isPair = (name) => p.isArray(usages[name][0]);
  crypto.isRSA = (name) => p.startsWith(name, 'RSA');
  crypto.isAES = (name) => p.startsWith(name, 'AES');
  crypto.checkUsages = (asked, allowed) => {
    for (let i = 0; i < asked.length; i++) if (p.arrayIndexOf(allowed, asked[i]) < 0) throw internal.domError('SyntaxError', `The key cannot be used for ${asked[i]}`);
  };
  const curves = ['P-256', 'P-384', 'P-521'];
  crypto.checkCurve = (name, curve) => {
    if (name !== 'ECDSA' && name !== 'ECDH') return name;
    if (p.arrayIndexOf(curves, curve) < 0) throw internal.domError('NotSupportedError', `The curve ${curve} is not supported`);
    return curve;
  };
  // kind returns the host's name for the kind of an asymmetric key.
  crypto.kind = (k) => crypto.isRSA(k.name) ? 'RSA' : k.curve;
  return internal;
}
