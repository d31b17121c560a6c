// The algorithms of WebCrypto: the algorithms of each operation and their parameters.
(host, internal) => {
  'use strict';
  const { p, crypto } = internal;
  const badType = (message) => internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', message);
  // bytes returns a copy of the bytes of a buffer or view. what names the value in the message.
  const bytes = crypto.bytes = (v, what) => {
    if (!internal.isBufferSource(v)) throw badType(`${what} is not instance of ArrayBuffer, Buffer, TypedArray, or DataView.`);
    return internal.copy(v, what);
  };
  const unsigned = (max) => (v, what) => {
    const n = p.trunc(+v);
    if (!(n >= 0 && n <= max)) throw internal.nodeError(p.TypeError, 'ERR_OUT_OF_RANGE', `${what} is outside the expected range of 0 to ${max}.`);
    return n + 0;
  };
  const octet = unsigned(255), short = unsigned(65535), long = unsigned(4294967295);
  const integer = (v, what) => {
    if (!p.isView(v) || p.typedTag(v) !== 'Uint8Array') throw badType(`${what} is not an Uint8Array object.`);
    return internal.copy(v);
  };
  const text = (v) => internal.text(v);
  const hash = (v) => crypto.normalise('digest', v).name;
  const key = (v, what) => {
    crypto.of(v, what);
    return v;
  };
  // A dictionary is its name and its members: [name, conversion, optional].
  const dictionary = (name, ...members) => ({ __proto__: null, name, members });
  const none = dictionary('Algorithm');
  const lengthOf = (name) => dictionary(name, ['length', short]), curveOf = (name) => dictionary(name, ['namedCurve', text]);
  const hashed = (name) => dictionary(name, ['hash', hash]), hmacOf = (name) => dictionary(name, ['hash', hash], ['length', long, true]);
  const agree = dictionary('EcdhKeyDeriveParams', ['public', key]);
  const aesGenerate = lengthOf('AesKeyGenParams'), aesDerived = lengthOf('AesDerivedKeyParams'), hmacImport = hmacOf('HmacImportParams');
  const curve = curveOf('EcKeyImportParams'), curveGenerate = curveOf('EcKeyGenParams'), rsaImport = hashed('RsaHashedImportParams');
  const rsaGenerate = dictionary('RsaHashedKeyGenParams', ['hash', hash], ['modulusLength', long], ['publicExponent', integer]);

  const operations = {
    __proto__: null,
    digest: { __proto__: null, 'SHA-1': none, 'SHA-256': none, 'SHA-384': none, 'SHA-512': none, 'SHA3-256': none, 'SHA3-384': none, 'SHA3-512': none },
    encrypt: {
      __proto__: null, 'RSA-OAEP': dictionary('RsaOaepParams', ['label', bytes, true]),
      'AES-CTR': dictionary('AesCtrParams', ['counter', bytes], ['length', octet]), 'AES-CBC': dictionary('AesCbcParams', ['iv', bytes]),
      'AES-GCM': dictionary('AesGcmParams', ['additionalData', bytes, true], ['iv', bytes], ['tagLength', octet, true]),
    },
    sign: { __proto__: null, 'RSASSA-PKCS1-v1_5': none, 'RSA-PSS': dictionary('RsaPssParams', ['saltLength', long]), ECDSA: hashed('EcdsaParams'), Ed25519: none, HMAC: none },
    deriveBits: {
      __proto__: null, ECDH: agree, X25519: agree, HKDF: dictionary('HkdfParams', ['hash', hash], ['info', bytes], ['salt', bytes]),
      PBKDF2: dictionary('Pbkdf2Params', ['hash', hash], ['iterations', long], ['salt', bytes]),
    },
    wrapKey: { __proto__: null, 'AES-KW': none },
    generateKey: {
      __proto__: null, 'RSASSA-PKCS1-v1_5': rsaGenerate, 'RSA-PSS': rsaGenerate, 'RSA-OAEP': rsaGenerate, ECDSA: curveGenerate, ECDH: curveGenerate, Ed25519: none, X25519: none,
      'AES-CTR': aesGenerate, 'AES-CBC': aesGenerate, 'AES-GCM': aesGenerate, 'AES-KW': aesGenerate, HMAC: hmacOf('HmacKeyGenParams'),
    },
    importKey: {
      __proto__: null, 'RSASSA-PKCS1-v1_5': rsaImport, 'RSA-PSS': rsaImport, 'RSA-OAEP': rsaImport, ECDSA: curve, ECDH: curve, Ed25519: none, X25519: none,
      'AES-CTR': none, 'AES-CBC': none, 'AES-GCM': none, 'AES-KW': none, HMAC: hmacImport, HKDF: none, PBKDF2: none,
    },
    length: { __proto__: null, 'AES-CTR': aesDerived, 'AES-CBC': aesDerived, 'AES-GCM': aesDerived, 'AES-KW': aesDerived, HMAC: hmacImport, HKDF: none, PBKDF2: none },
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
    const missing = (member, dictionary) => internal.nodeError(p.TypeError, 'ERR_MISSING_OPTION', `Failed to normalize algorithm: passed algorithm can not be converted to '${dictionary}' because '${member}' is required in '${dictionary}'.`);
    if (given === undefined) throw missing('name', 'Algorithm');
    const table = operations[operation], name = find(table, internal.text(given));
    if (name === undefined) throw internal.domError('NotSupportedError', 'Unrecognized algorithm name');
    const out = { __proto__: null, name }, known = table[name], { members } = known;
    for (let i = 0; i < members.length; i++) {
      const m = members[i], v = object[m[0]];
      if (v !== undefined) out[m[0]] = m[1](v, `Failed to normalize algorithm: '${m[0]}' of '${known.name}' (passed algorithm)`);
      else if (!m[2]) throw missing(m[0], known.name);
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
  // checkUsages throws if a usage is not among those that are allowed. The articles of the message are Node's.
  crypto.checkUsages = (asked, allowed, kind) => {
    for (let i = 0; i < asked.length; i++) if (p.arrayIndexOf(allowed, asked[i]) < 0) throw internal.domError('SyntaxError', `Unsupported key usage for ${kind} key`);
  };
  crypto.some = (usages, what) => { if (usages.length === 0) throw internal.domError('SyntaxError', `Usages cannot be empty when ${what} key.`); };
  const curves = ['P-256', 'P-384', 'P-521'];
  crypto.checkCurve = (name, curve) => {
    if (name !== 'ECDSA' && name !== 'ECDH') return name;
    if (p.arrayIndexOf(curves, curve) < 0) throw internal.domError('NotSupportedError', 'Unrecognized namedCurve');
    return curve;
  };
  const secretKind = (name) => crypto.isAES(name) ? 'an AES' : name === 'HMAC' ? 'an HMAC' : `a ${name}`;
  crypto.secretKind = secretKind;
  // kind returns the host's name for the kind of an asymmetric key.
  crypto.kind = (k) => crypto.isRSA(k.name) ? 'RSA' : k.curve;
  return internal;
}
