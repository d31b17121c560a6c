// SubtleCrypto. As the standard requires, each method converts its arguments synchronously and then returns a promise.
(host, internal) => {
  'use strict';
  const { p, crypto } = internal;
  const { buffer } = crypto;
  const invalid = (message) => internal.domError('InvalidAccessError', message);
  const failed = (message) => internal.domError('OperationError', message);
  const out = internal.sync;
  const empty = () => new p.ArrayBuffer(0);

  // usable throws if a key is not one of the algorithm, or not good for the usage.
  const usable = (k, name, usage, message = 'The requested operation is not valid for the provided key') => {
    if (k.name !== name || p.arrayIndexOf(k.usages, usage) < 0) throw invalid(message);
  };
  const derivable = (k, name, usage) => {
    if (p.arrayIndexOf(k.usages, usage) < 0) throw invalid(`baseKey does not have ${usage} usage`);
    if (k.name !== name) throw invalid('Key algorithm mismatch');
  };
  const needs = (k, type, message) => { if (k.type !== type) throw invalid(message ?? 'The requested operation is not valid for the provided key'); };
  // Arguments are named by the method and their place.
  const places = ['', '1st', '2nd', '3rd', '4th', '5th', '6th', '7th'];
  const place = (method, n) => `Failed to execute '${method}' on 'SubtleCrypto': ${places[n]} argument`;
  const keyAt = (v, method, n) => crypto.of(v, place(method, n)), bytesAt = (v, method, n) => crypto.bytes(v, place(method, n));
  const oneOf = (v, values, what, type) => {
    const s = internal.text(v);
    if (p.arrayIndexOf(values, s) < 0) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_VALUE', `${what} value '${s}' is not a valid enum value of type ${type}.`);
    return s;
  };
  crypto.sequence = (v, convert, what) => {
    const method = internal.isObject(v) ? v[internal.symbols.iterator] : undefined;
    if (typeof method !== 'function') throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', `${what} can not be converted to sequence.`);
    return internal.sequence(v, convert, what, method);
  };
  const usagesOf = (v, method, n) => {
    let i = 0;
    return crypto.sequence(v, (u) => oneOf(u, crypto.usageNames, `${place(method, n)}, index ${i++}`, 'KeyUsage'), place(method, n));
  };
  const formatOf = (v, method) => oneOf(v, ['raw', 'spki', 'pkcs8', 'jwk'], place(method, 1), 'KeyFormat');

  // cipher encrypts (direction 1) or decrypts (direction 0) with the key k.
  const cipher = (direction, a, k, bytes) => {
    switch (a.name) {
      case 'RSA-OAEP':
        needs(k, direction ? 'public' : 'private');
        return out('crypto.oaep', k.hash, direction, buffer(k.data), buffer(bytes), a.label === undefined ? empty() : buffer(a.label));
      case 'AES-CBC':
        if (p.typedLength(a.iv) !== 16) throw failed('algorithm.iv must contain exactly 16 bytes');
        return out('crypto.aes', 'CBC', direction, buffer(k.data), buffer(a.iv), buffer(bytes), empty());
      case 'AES-CTR':
        if (p.typedLength(a.counter) !== 16) throw failed('algorithm.counter must contain exactly 16 bytes');
        if (a.length === 0 || a.length > 128) throw failed('AES-CTR algorithm.length must be between 1 and 128');
        return out('crypto.aes', `CTR:${a.length}`, direction, buffer(k.data), buffer(a.counter), buffer(bytes), empty());
      case 'AES-GCM': {
        const tag = a.tagLength ?? 128;
        if (tag !== 32 && tag !== 64 && (tag < 96 || tag > 128 || tag % 8 !== 0)) throw failed(`${tag} is not a valid AES-GCM tag length`);
        if (!direction && p.typedLength(bytes) * 8 < tag) throw failed('The provided data is too small.');
        return out('crypto.aes', `GCM:${tag}`, direction, buffer(k.data), buffer(a.iv), buffer(bytes), a.additionalData === undefined ? empty() : buffer(a.additionalData));
      }
      default: return out('crypto.aes', 'KW', direction, buffer(k.data), empty(), buffer(bytes), empty());
    }
  };
  const scheme = (a, k) => `${k.name === 'RSASSA-PKCS1-v1_5' ? 'RSASSA' : k.name}:${crypto.kind(k)}:${a.hash ?? k.hash ?? ''}:${a.saltLength ?? ''}`;
  const sign = (a, k, bytes) => {
    if (a.name === 'HMAC') return out('crypto.hmac', k.hash, buffer(k.data), buffer(bytes));
    needs(k, 'private', 'Unable to use this key to sign');
    return out('crypto.sign', scheme(a, k), buffer(k.data), buffer(bytes));
  };
  const verify = (a, k, signature, bytes) => {
    if (a.name === 'HMAC') return out('crypto.hmacVerify', k.hash, buffer(k.data), buffer(bytes), buffer(signature));
    needs(k, 'public', 'Unable to use this key to verify');
    return out('crypto.verify', scheme(a, k), buffer(k.data), buffer(signature), buffer(bytes));
  };
  const most = 0x7fffffff;
  const derive = (a, k, length) => {
    if (a.name === 'HKDF' || a.name === 'PBKDF2') {
      if (length === null) throw failed('length cannot be null');
      if (length % 8 !== 0) throw failed('length must be a multiple of 8');
      if (a.name === 'HKDF') return out('crypto.hkdf', a.hash, buffer(k.data), buffer(a.salt), buffer(a.info), length / 8);
      if (a.iterations === 0) throw failed('iterations cannot be zero');
      return out('crypto.pbkdf2', a.hash, buffer(k.data), buffer(a.salt), p.min(a.iterations, most), length / 8);
    }
    needs(k, 'private', 'baseKey must be a private key');
    const other = crypto.of(a.public);
    needs(other, 'public', 'algorithm.public must be a public key');
    if (other.name !== k.name) throw invalid('The public and private keys must be of the same type');
    if (other.curve !== k.curve) throw invalid('Named curve mismatch');
    const secret = out('crypto.agree', k.curve, buffer(k.data), buffer(other.data));
    if (length === null) return secret;
    const n = p.floor((length + 7) / 8);
    if (n > p.bufferLength(secret)) throw failed('derived bit length is too small');
    const part = internal.copy(new p.Uint8Array(secret, 0, n));
    if (length % 8 !== 0) part[n - 1] &= 0xff << (8 - length % 8);
    return p.typedBuffer(part);
  };
  const keyLength = (a) => {
    if (a.name === 'HKDF' || a.name === 'PBKDF2') return null;
    if (a.name === 'HMAC') {
      if (a.length === 0) throw new p.TypeError('Invalid key length');
      return a.length ?? crypto.blockBits(a.hash);
    }
    if (a.length !== 128 && a.length !== 192 && a.length !== 256) throw failed('Invalid key length');
    return a.length;
  };
  // either normalises the algorithm for the first operation, or for the second if the first does not support it.
  const either = (first, second, algorithm) => {
    try { return crypto.normalise(first, algorithm); } catch { return crypto.normalise(second, algorithm); }
  };

  let isSubtle;
  // later runs the work of a method and returns a promise. Whatever throws rejects the promise.
  const later = (self, got, want, name, work) => {
    try {
      if (!isSubtle(self)) throw internal.wrongThis('SubtleCrypto');
      crypto.need(got, want, name, 'SubtleCrypto');
      return p.promiseResolve(work());
    } catch (e) { return p.promiseReject(e); }
  };
  class SubtleCrypto {
    #brand;
    constructor(key = undefined) { internal.illegal(key); }
    static { isSubtle = (o) => internal.isObject(o) && #brand in o; }
    encrypt(algorithm, key, data) {
      return later(this, arguments.length, 3, 'encrypt', () => {
        const k = keyAt(key, 'encrypt', 2), bytes = bytesAt(data, 'encrypt', 3), a = crypto.normalise('encrypt', algorithm);
        usable(k, a.name, 'encrypt');
        return cipher(1, a, k, bytes);
      });
    }
    decrypt(algorithm, key, data) {
      return later(this, arguments.length, 3, 'decrypt', () => {
        const k = keyAt(key, 'decrypt', 2), bytes = bytesAt(data, 'decrypt', 3), a = crypto.normalise('decrypt', algorithm);
        usable(k, a.name, 'decrypt');
        return cipher(0, a, k, bytes);
      });
    }
    sign(algorithm, key, data) {
      return later(this, arguments.length, 3, 'sign', () => {
        const k = keyAt(key, 'sign', 2), bytes = bytesAt(data, 'sign', 3), a = crypto.normalise('sign', algorithm);
        usable(k, a.name, 'sign', 'Unable to use this key to sign');
        return sign(a, k, bytes);
      });
    }
    verify(algorithm, key, signature, data) {
      return later(this, arguments.length, 4, 'verify', () => {
        const k = keyAt(key, 'verify', 2), given = bytesAt(signature, 'verify', 3), bytes = bytesAt(data, 'verify', 4), a = crypto.normalise('verify', algorithm);
        usable(k, a.name, 'verify', 'Unable to use this key to verify');
        return verify(a, k, given, bytes);
      });
    }
    digest(algorithm, data) {
      return later(this, arguments.length, 2, 'digest', () => {
        const bytes = bytesAt(data, 'digest', 2), a = crypto.normalise('digest', algorithm);
        return out('crypto.digest', a.name, buffer(bytes));
      });
    }
    generateKey(algorithm, extractable, keyUsages) {
      return later(this, arguments.length, 3, 'generateKey', () => {
        const usages = usagesOf(keyUsages, 'generateKey', 3), a = crypto.normalise('generateKey', algorithm);
        return crypto.generateKey(a, !!extractable, usages);
      });
    }
    deriveKey(algorithm, baseKey, derivedKeyType, extractable, keyUsages) {
      return later(this, arguments.length, 5, 'deriveKey', () => {
        const k = keyAt(baseKey, 'deriveKey', 2), usages = usagesOf(keyUsages, 'deriveKey', 5), a = crypto.normalise('deriveBits', algorithm);
        const target = crypto.normalise('importKey', derivedKeyType), size = crypto.normalise('length', derivedKeyType);
        derivable(k, a.name, 'deriveKey');
        const secret = derive(a, k, keyLength(size));
        return crypto.importKey('raw', new p.Uint8Array(secret), target, !!extractable, usages);
      });
    }
    deriveBits(algorithm, baseKey, length = null) {
      return later(this, arguments.length, 2, 'deriveBits', () => {
        const k = keyAt(baseKey, 'deriveBits', 2), n = length === null || length === undefined ? null : length >>> 0, a = crypto.normalise('deriveBits', algorithm);
        derivable(k, a.name, 'deriveBits');
        return derive(a, k, n);
      });
    }
    importKey(format, keyData, algorithm, extractable, keyUsages) {
      return later(this, arguments.length, 4, 'importKey', () => {
        const f = formatOf(format, 'importKey'), usages = usagesOf(keyUsages, 'importKey', 5);
        const data = f === 'jwk' ? crypto.readJwk(keyData, place('importKey', 2)) : bytesAt(keyData, 'importKey', 2);
        const a = crypto.normalise('importKey', algorithm);
        return crypto.importKey(f, data, a, !!extractable, usages);
      });
    }
    exportKey(format, key) {
      return later(this, arguments.length, 2, 'exportKey', () => {
        const f = formatOf(format, 'exportKey'), exported = crypto.exportKey(f, keyAt(key, 'exportKey', 2));
        return f === 'jwk' ? exported : p.typedBuffer(exported);
      });
    }
    wrapKey(format, key, wrappingKey, wrapAlgorithm) {
      return later(this, arguments.length, 4, 'wrapKey', () => {
        const f = formatOf(format, 'wrapKey'), k = keyAt(key, 'wrapKey', 2), w = keyAt(wrappingKey, 'wrapKey', 3), a = either('wrapKey', 'encrypt', wrapAlgorithm);
        usable(w, a.name, 'wrapKey');
        let bytes = crypto.exportKey(f, k);
        if (f === 'jwk') bytes = internal.encodeText(p.stringify(bytes));
        return cipher(1, a, w, bytes);
      });
    }
    unwrapKey(format, wrappedKey, unwrappingKey, unwrapAlgorithm, unwrappedKeyAlgorithm, extractable, keyUsages) {
      return later(this, arguments.length, 7, 'unwrapKey', () => {
        const f = formatOf(format, 'unwrapKey'), bytes = bytesAt(wrappedKey, 'unwrapKey', 2), w = keyAt(unwrappingKey, 'unwrapKey', 3), usages = usagesOf(keyUsages, 'unwrapKey', 7);
        const a = either('unwrapKey', 'decrypt', unwrapAlgorithm), target = crypto.normalise('importKey', unwrappedKeyAlgorithm);
        usable(w, a.name, 'unwrapKey');
        let data = new p.Uint8Array(cipher(0, a, w, bytes));
        if (f === 'jwk') {
          try { data = crypto.readJwk(p.parse(internal.decodeText(data))); } catch { throw internal.domError('DataError', 'what was wrapped is not a JSON Web Key'); }
        }
        return crypto.importKey(f, data, target, !!extractable, usages);
      });
    }
  }
  internal.expose(SubtleCrypto);
  crypto.subtle = new SubtleCrypto(internal.key);
  return internal;
}
