// SubtleCrypto. As the standard requires, each method converts its arguments synchronously and then returns a promise.
(host, internal) => {
  'use strict';
  const { p, crypto } = internal;
  const { buffer } = crypto;
  const invalid = (message) => internal.domError('InvalidAccessError', message);
  const failed = (message) => internal.domError('OperationError', message);
  const out = internal.sync;
  const empty = () => new p.ArrayBuffer(0);

  const usable = (k, name, usage) => {
    if (k.name !== name) throw invalid(`the key is one of ${k.name}, not of ${name}`);
    if (p.arrayIndexOf(k.usages, usage) < 0) throw invalid(`the key cannot be used for ${usage}`);
  };
  const needs = (k, type) => { if (k.type !== type) throw invalid(`the key is not ${type}`); };
  const usagesOf = (v) => internal.sequence(v, (u) => internal.oneOf(u, crypto.usageNames, 'a usage'), 'the usages');
  const formatOf = (v) => internal.oneOf(v, ['raw', 'spki', 'pkcs8', 'jwk'], 'the format');

  // cipher encrypts (direction 1) or decrypts (direction 0) with the key k.
  const cipher = (direction, a, k, bytes) => {
    switch (a.name) {
      case 'RSA-OAEP':
        needs(k, direction ? 'public' : 'private');
        return out('crypto.oaep', k.hash, direction, buffer(k.data), buffer(bytes), a.label === undefined ? empty() : buffer(a.label));
      case 'AES-CBC':
        if (p.typedLength(a.iv) !== 16) throw failed('the iv does not have 16 bytes');
        return out('crypto.aes', 'CBC', direction, buffer(k.data), buffer(a.iv), buffer(bytes), empty());
      case 'AES-CTR':
        if (p.typedLength(a.counter) !== 16) throw failed('the counter does not have 16 bytes');
        if (a.length === 0 || a.length > 128) throw failed('the length of the counter is not 1 to 128 bits');
        return out('crypto.aes', `CTR:${a.length}`, direction, buffer(k.data), buffer(a.counter), buffer(bytes), empty());
      case 'AES-GCM': {
        const tag = a.tagLength ?? 128;
        if (tag !== 32 && tag !== 64 && (tag < 96 || tag > 128 || tag % 8 !== 0)) throw failed(`a tag cannot have ${tag} bits`);
        return out('crypto.aes', `GCM:${tag}`, direction, buffer(k.data), buffer(a.iv), buffer(bytes), a.additionalData === undefined ? empty() : buffer(a.additionalData));
      }
      default: return out('crypto.aes', 'KW', direction, buffer(k.data), empty(), buffer(bytes), empty());
    }
  };
  const scheme = (a, k) => `${k.name === 'RSASSA-PKCS1-v1_5' ? 'RSASSA' : k.name}:${crypto.kind(k)}:${a.hash ?? k.hash ?? ''}:${a.saltLength ?? ''}`;
  const sign = (a, k, bytes) => {
    if (a.name === 'HMAC') return out('crypto.hmac', k.hash, buffer(k.data), buffer(bytes));
    needs(k, 'private');
    return out('crypto.sign', scheme(a, k), buffer(k.data), buffer(bytes));
  };
  const verify = (a, k, signature, bytes) => {
    if (a.name === 'HMAC') return out('crypto.hmacVerify', k.hash, buffer(k.data), buffer(bytes), buffer(signature));
    needs(k, 'public');
    return out('crypto.verify', scheme(a, k), buffer(k.data), buffer(signature), buffer(bytes));
  };
  const most = 0x7fffffff;
  const derive = (a, k, length) => {
    if (a.name === 'HKDF' || a.name === 'PBKDF2') {
      if (length === null || length % 8 !== 0) throw failed('the length is not a multiple of 8');
      if (a.name === 'HKDF') return out('crypto.hkdf', a.hash, buffer(k.data), buffer(a.salt), buffer(a.info), length / 8);
      if (a.iterations === 0) throw failed('the iterations are 0');
      return out('crypto.pbkdf2', a.hash, buffer(k.data), buffer(a.salt), p.min(a.iterations, most), length / 8);
    }
    needs(k, 'private');
    const other = crypto.of(a.public);
    needs(other, 'public');
    if (other.name !== k.name) throw invalid(`the public key is one of ${other.name}`);
    if (other.curve !== k.curve) throw invalid('the public key is on another curve');
    const secret = out('crypto.agree', k.curve, buffer(k.data), buffer(other.data));
    if (length === null) return secret;
    const n = p.floor((length + 7) / 8);
    if (n > p.bufferLength(secret)) throw failed('the shared secret is shorter than the length');
    const part = internal.copy(new p.Uint8Array(secret, 0, n));
    if (length % 8 !== 0) part[n - 1] &= 0xff << (8 - length % 8);
    return p.typedBuffer(part);
  };
  const keyLength = (a) => {
    if (a.name === 'HKDF' || a.name === 'PBKDF2') return null;
    if (a.name === 'HMAC') {
      if (a.length === 0) throw new p.TypeError('the length is 0');
      return a.length ?? crypto.blockBits(a.hash);
    }
    if (a.length !== 128 && a.length !== 192 && a.length !== 256) throw failed('an AES key has 128, 192 or 256 bits');
    return a.length;
  };
  // either normalises the algorithm for the first operation, or for the second if the first does not support it.
  const either = (first, second, algorithm) => {
    try { return crypto.normalise(first, algorithm); } catch { return crypto.normalise(second, algorithm); }
  };

  let check;
  // later runs the work of a method and returns a promise. Whatever throws rejects the promise.
  const later = (self, got, want, name, work) => {
    try {
      check(self);
      internal.need(got, want, `SubtleCrypto.${name}`);
      return p.promiseResolve(work());
    } catch (e) { return p.promiseReject(e); }
  };
  class SubtleCrypto {
    #brand;
    constructor(key = undefined) { internal.illegal(key); }
    static { check = (o) => { o.#brand; }; }
    encrypt(algorithm, key, data) {
      return later(this, arguments.length, 3, 'encrypt', () => {
        const k = crypto.of(key), bytes = internal.copy(data), a = crypto.normalise('encrypt', algorithm);
        usable(k, a.name, 'encrypt');
        return cipher(1, a, k, bytes);
      });
    }
    decrypt(algorithm, key, data) {
      return later(this, arguments.length, 3, 'decrypt', () => {
        const k = crypto.of(key), bytes = internal.copy(data), a = crypto.normalise('decrypt', algorithm);
        usable(k, a.name, 'decrypt');
        return cipher(0, a, k, bytes);
      });
    }
    sign(algorithm, key, data) {
      return later(this, arguments.length, 3, 'sign', () => {
        const k = crypto.of(key), bytes = internal.copy(data), a = crypto.normalise('sign', algorithm);
        usable(k, a.name, 'sign');
        return sign(a, k, bytes);
      });
    }
    verify(algorithm, key, signature, data) {
      return later(this, arguments.length, 4, 'verify', () => {
        const k = crypto.of(key), given = internal.copy(signature), bytes = internal.copy(data), a = crypto.normalise('verify', algorithm);
        usable(k, a.name, 'verify');
        return verify(a, k, given, bytes);
      });
    }
    digest(algorithm, data) {
      return later(this, arguments.length, 2, 'digest', () => {
        const bytes = internal.copy(data), a = crypto.normalise('digest', algorithm);
        return out('crypto.digest', a.name, buffer(bytes));
      });
    }
    generateKey(algorithm, extractable, keyUsages) {
      return later(this, arguments.length, 3, 'generateKey', () => {
        const usages = usagesOf(keyUsages), a = crypto.normalise('generateKey', algorithm);
        return crypto.generateKey(a, !!extractable, usages);
      });
    }
    deriveKey(algorithm, baseKey, derivedKeyType, extractable, keyUsages) {
      return later(this, arguments.length, 5, 'deriveKey', () => {
        const k = crypto.of(baseKey), usages = usagesOf(keyUsages), a = crypto.normalise('deriveBits', algorithm);
        const target = crypto.normalise('importKey', derivedKeyType), size = crypto.normalise('length', derivedKeyType);
        usable(k, a.name, 'deriveKey');
        const secret = derive(a, k, keyLength(size));
        return crypto.importKey('raw', new p.Uint8Array(secret), target, !!extractable, usages);
      });
    }
    deriveBits(algorithm, baseKey, length = null) {
      return later(this, arguments.length, 2, 'deriveBits', () => {
        const k = crypto.of(baseKey), n = length === null || length === undefined ? null : length >>> 0, a = crypto.normalise('deriveBits', algorithm);
        usable(k, a.name, 'deriveBits');
        return derive(a, k, n);
      });
    }
    importKey(format, keyData, algorithm, extractable, keyUsages) {
      return later(this, arguments.length, 5, 'importKey', () => {
        const f = formatOf(format), usages = usagesOf(keyUsages);
        if (f !== 'jwk' && !internal.isBufferSource(keyData)) throw new p.TypeError('the key is not an ArrayBuffer or a view of one');
        const data = f === 'jwk' ? crypto.readJwk(keyData) : internal.copy(keyData);
        const a = crypto.normalise('importKey', algorithm);
        return crypto.importKey(f, data, a, !!extractable, usages);
      });
    }
    exportKey(format, key) {
      return later(this, arguments.length, 2, 'exportKey', () => {
        const f = formatOf(format), exported = crypto.exportKey(f, crypto.of(key));
        return f === 'jwk' ? exported : p.typedBuffer(exported);
      });
    }
    wrapKey(format, key, wrappingKey, wrapAlgorithm) {
      return later(this, arguments.length, 4, 'wrapKey', () => {
        const f = formatOf(format), k = crypto.of(key), w = crypto.of(wrappingKey), a = either('wrapKey', 'encrypt', wrapAlgorithm);
        usable(w, a.name, 'wrapKey');
        let bytes = crypto.exportKey(f, k);
        if (f === 'jwk') bytes = internal.encodeText(p.stringify(bytes));
        return cipher(1, a, w, bytes);
      });
    }
    unwrapKey(format, wrappedKey, unwrappingKey, unwrapAlgorithm, unwrappedKeyAlgorithm, extractable, keyUsages) {
      return later(this, arguments.length, 7, 'unwrapKey', () => {
        const f = formatOf(format), bytes = internal.copy(wrappedKey), w = crypto.of(unwrappingKey), usages = usagesOf(keyUsages);
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
