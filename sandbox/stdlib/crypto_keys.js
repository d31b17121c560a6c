// Generating, importing and exporting keys.
(host, internal) => {
  'use strict';
  const { p, crypto } = internal;
  const { fromCharCode } = p;
  const data = (message) => internal.domError('DataError', message);
  const array = (name, a, b, c) => new p.Uint8Array(internal.sync(name, a, b, c));
  crypto.buffer = (u) => internal.bufferOf(u);

  // base64url encoding and decoding, using the host's base64.
  const replace = (s, from, to) => {
    let out = '';
    for (let i = 0; i < s.length; i++) out += s[i] === from ? to : s[i];
    return out;
  };
  const toBase64url = (u) => {
    let text = '';
    for (let i = 0; i < p.typedLength(u); i++) text += fromCharCode(u[i]);
    return replace(replace(replace(internal.sync('base64.btoa', text), '+', '-'), '/', '_'), '=', '');
  };
  const fromBase64url = (s) => {
    if (p.regexpExec(/^[A-Za-z0-9_-]*$/, s) === null) throw data('Invalid keyData');
    let text;
    try { text = internal.sync('base64.atob', replace(replace(s, '-', '+'), '_', '/')); } catch { throw data('Invalid keyData'); }
    const u = new p.Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) u[i] = p.charCodeAt(text, i);
    return u;
  };

  const names = ['alg', 'crv', 'd', 'dp', 'dq', 'e', 'ext', 'k', 'key_ops', 'kty', 'n', 'oth', 'p', 'q', 'qi', 'use', 'x', 'y'];
  // readJwk converts a guest's object to a JsonWebKey dictionary.
  crypto.readJwk = (o, what) => {
    if (!internal.isObject(o)) throw internal.nodeError(p.TypeError, 'ERR_INVALID_ARG_TYPE', `${what} can not be converted to a dictionary`);
    const jwk = { __proto__: null };
    for (let i = 0; i < names.length; i++) {
      const name = names[i], v = o[name];
      if (v === undefined) continue;
      if (name === 'ext') jwk.ext = !!v;
      else if (name === 'key_ops') jwk.key_ops = crypto.sequence(v, internal.text, `Failed to execute 'importKey' on 'SubtleCrypto': 'key_ops' of 'JsonWebKey' (2nd argument)`);
      else if (name === 'oth') jwk.oth = true;
      else jwk[name] = internal.text(v);
    }
    return jwk;
  };
  // checkJwk validates the members that all key types share.
  const checkJwk = (jwk, kty, use, extractable, usages) => {
    if (jwk.kty === undefined) throw data('Invalid keyData');
    if (jwk.kty !== kty) throw data('Invalid JWK "kty" Parameter');
    if (usages.length > 0 && jwk.use !== undefined && jwk.use !== use) throw data('Invalid JWK "use" Parameter');
    if (jwk.key_ops !== undefined) {
      const seen = new p.Set();
      for (let i = 0; i < jwk.key_ops.length; i++) {
        if (p.setHas(seen, jwk.key_ops[i])) throw data('Duplicate key operation');
        p.setAdd(seen, jwk.key_ops[i]);
      }
      for (let i = 0; i < usages.length; i++) if (!p.setHas(seen, usages[i])) throw data('Key operations and usage mismatch');
    }
    if (jwk.ext === false && extractable) throw data('JWK "ext" Parameter and extractable mismatch');
  };
  const hashBits = (hash) => p.slice(hash, hash === 'SHA-1' ? 4 : p.indexOf(hash, '-') + 1);
  const jwkAlg = (k) => {
    if (crypto.isAES(k.name)) return `A${k.length}${p.slice(k.name, 4)}`;
    switch (k.name) {
      case 'HMAC': return `HS${hashBits(k.hash)}`;
      case 'RSASSA-PKCS1-v1_5': return `RS${hashBits(k.hash)}`;
      case 'RSA-PSS': return `PS${hashBits(k.hash)}`;
      case 'RSA-OAEP': return k.hash === 'SHA-1' ? 'RSA-OAEP' : `RSA-OAEP-${hashBits(k.hash)}`;
      default: return undefined;
    }
  };
  const jwkUse = (name) => name === 'RSA-OAEP' || crypto.isAES(name) || name === 'ECDH' || name === 'X25519' ? 'enc' : 'sig';
  const ecAlg = { __proto__: null, 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' };

  const wrongAlg = () => data('JWK "alg" does not match the requested algorithm');
  const secret = (name, bytes) => ({ __proto__: null, type: 'secret', name, data: bytes });
  const importSecret = (format, keyData, algorithm, extractable, usages) => {
    const { name } = algorithm;
    crypto.checkUsages(usages, crypto.usagesFor(name), crypto.secretKind(name));
    if (name === 'HKDF' || name === 'PBKDF2') {
      if (format !== 'raw') throw internal.domError('NotSupportedError', `Unable to import ${name} key with format ${format}`);
      if (extractable) throw internal.domError('SyntaxError', `${name} keys are not extractable`);
      return secret(name, keyData);
    }
    if (format !== 'raw' && format !== 'jwk') throw internal.domError('NotSupportedError', `Unable to import ${crypto.isAES(name) ? 'AES' : name} key with format ${format}`);
    let bytes = keyData;
    if (format === 'jwk') {
      checkJwk(keyData, 'oct', jwkUse(name), extractable, usages);
      if (keyData.k === undefined) throw data('Invalid keyData');
      bytes = fromBase64url(keyData.k);
    }
    const k = secret(name, bytes), bits = p.typedLength(bytes) * 8;
    if (name === 'HMAC') {
      k.hash = algorithm.hash;
      k.length = bits;
      if (bits === 0 || algorithm.length === 0) throw data('Zero-length key is not supported');
      if (algorithm.length !== undefined) {
        if (algorithm.length > bits || algorithm.length <= bits - 8) throw data('Invalid key length');
        k.length = algorithm.length;
        if (algorithm.length % 8 !== 0) {
          k.data = internal.copy(bytes);
          k.data[bits / 8 - 1] &= 0xff << (8 - algorithm.length % 8);
        }
      }
    } else {
      if (bits !== 128 && bits !== 192 && bits !== 256) throw data('Invalid key length');
      k.length = bits;
    }
    if (format === 'jwk' && keyData.alg !== undefined && keyData.alg !== jwkAlg(k)) throw wrongAlg();
    return k;
  };

  const pairKey = (type, algorithm, curve, der) => {
    const k = { __proto__: null, type, name: algorithm.name, data: der };
    if (crypto.isRSA(k.name)) {
      const params = internal.sync('crypto.rsaParams', type === 'private' ? 1 : 0, crypto.buffer(der));
      k.hash = algorithm.hash;
      k.bits = params[0];
      k.exponent = params[1];
    } else k.curve = curve;
    return k;
  };
  const importPair = (format, keyData, algorithm, extractable, usages) => {
    const { name } = algorithm, rsa = crypto.isRSA(name), curve = rsa ? undefined : crypto.checkCurve(name, algorithm.namedCurve), kind = rsa ? 'RSA' : curve;
    const type = format === 'pkcs8' || (format === 'jwk' && keyData.d !== undefined) ? 'private' : 'public';
    crypto.checkUsages(usages, crypto.usagesFor(name, type), `${rsa ? 'an' : 'a'} ${name}`);
    switch (format) {
      case 'spki': return pairKey('public', algorithm, curve, array('crypto.check', kind, 0, crypto.buffer(keyData)));
      case 'pkcs8': return pairKey('private', algorithm, curve, array('crypto.check', kind, 1, crypto.buffer(keyData)));
      case 'raw':
        if (rsa) throw internal.domError('NotSupportedError', 'Unable to import RSA key with format raw');
        return pairKey('public', algorithm, curve, array('crypto.fromRaw', kind, crypto.buffer(keyData)));
      default: break;
    }
    const okp = !rsa && name === curve;
    checkJwk(keyData, rsa ? 'RSA' : okp ? 'OKP' : 'EC', jwkUse(name), extractable, usages);
    if (!rsa && keyData.crv !== curve) throw data(okp ? 'JWK "crv" Parameter and algorithm name mismatch' : 'JWK "crv" does not match the requested algorithm');
    if (keyData.oth !== undefined) throw internal.domError('NotSupportedError', 'RSA keys of more than two primes are not supported');
    const k = { __proto__: null, name, hash: algorithm.hash };
    const { alg } = keyData;
    if (alg !== undefined) {
      if (rsa && alg !== jwkAlg(k)) throw wrongAlg();
      if (name === 'ECDSA' && alg !== ecAlg[curve]) throw wrongAlg();
      if (name === 'Ed25519' && alg !== 'Ed25519' && alg !== 'EdDSA') throw wrongAlg();
    }
    const members = { __proto__: null };
    for (const m in keyData) if (p.arrayIndexOf(['x', 'y', 'd', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi'], m) >= 0) members[m] = keyData[m];
    return pairKey(type, algorithm, curve, array('crypto.fromJwk', kind, p.stringify(members)));
  };
  // importKey returns a CryptoKey from bytes or from a JsonWebKey.
  crypto.importKey = (format, keyData, algorithm, extractable, usages) => {
    const k = (crypto.isPair(algorithm.name) ? importPair : importSecret)(format, keyData, algorithm, extractable, usages);
    if (k.type !== 'public') crypto.some(usages, `importing a ${k.type}`);
    return crypto.key(k, extractable, crypto.only(usages, crypto.usageNames));
  };

  crypto.exportKey = (format, k) => {
    const unsupported = () => internal.domError('NotSupportedError', `Unable to export a ${format === 'spki' ? 'raw' : format} ${k.name} ${k.type} key`);
    if (k.name === 'HKDF' || k.name === 'PBKDF2') throw unsupported();
    if (!k.extractable) throw internal.domError('InvalidAccessError', 'key is not extractable');
    const unable = `Unable to export a ${format === 'spki' ? 'raw' : format} ${k.name} ${k.type} key`;
    const wrong = (type) => { if (k.type !== type) throw internal.domError('InvalidAccessError', unable); };
    const pair = crypto.isPair(k.name);
    if (format === 'jwk') return exportJwk(k, pair);
    if (!pair) {
      if (format !== 'raw') throw unsupported();
      return internal.copy(k.data);
    }
    if (format === 'spki' || format === 'pkcs8') {
      wrong(format === 'spki' ? 'public' : 'private');
      return internal.copy(k.data);
    }
    if (crypto.isRSA(k.name)) throw unsupported();
    wrong('public');
    return array('crypto.toRaw', crypto.kind(k), crypto.buffer(k.data));
  };
  const exportJwk = (k, pair) => {
    const jwk = {}, put = (name, v) => { if (v !== undefined) internal.put(jwk, name, v); };
    // The members are in Node's order.
    put('key_ops', p.arraySlice(k.usages));
    put('ext', k.extractable);
    if (pair) {
      const rsa = crypto.isRSA(k.name), okp = k.name === k.curve, members = internal.sync('crypto.toJwk', crypto.kind(k), k.type === 'private' ? 1 : 0, crypto.buffer(k.data));
      const all = { __proto__: null, ...members, kty: rsa ? 'RSA' : okp ? 'OKP' : 'EC', crv: rsa ? undefined : k.curve };
      const list = okp ? ['crv', 'd', 'x', 'kty'] : rsa ? ['kty', 'n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] : ['kty', 'x', 'y', 'crv', 'd'];
      for (let i = 0; i < list.length; i++) put(list[i], all[list[i]]);
      put('alg', rsa ? jwkAlg(k) : k.name === 'Ed25519' ? 'Ed25519' : undefined);
    } else {
      put('kty', 'oct');
      put('k', toBase64url(k.data));
      put('alg', jwkAlg(k));
    }
    return jwk;
  };

  // generateKey returns a CryptoKey or a pair of them.
  crypto.generateKey = (algorithm, extractable, usages) => {
    const { name } = algorithm;
    if (!crypto.isPair(name)) return generateSecret(algorithm, extractable, usages);
    const rsa = crypto.isRSA(name), allowedPrivate = crypto.usagesFor(name, 'private'), allowedPublic = crypto.usagesFor(name, 'public');
    const either = p.arraySlice(allowedPrivate);
    for (let i = 0; i < allowedPublic.length; i++) p.arrayPush(either, allowedPublic[i]);
    crypto.checkUsages(usages, either, rsa ? 'a RSA' : `an ${name}`);
    const curve = rsa ? undefined : crypto.checkCurve(name, algorithm.namedCurve);
    if (rsa) {
      let e = 0;
      for (let i = 0; i < p.typedLength(algorithm.publicExponent); i++) e = e * 256 + algorithm.publicExponent[i];
      if (e !== 65537) throw internal.domError('OperationError', 'the public exponent can only be 65537');
    }
    const forPrivate = crypto.only(usages, allowedPrivate);
    crypto.some(forPrivate, 'creating a');
    const der = array('crypto.generate', rsa ? `RSA:${algorithm.modulusLength}` : curve);
    const publicDer = array('crypto.public', rsa ? 'RSA' : curve, crypto.buffer(der));
    const privateKey = crypto.key(pairKey('private', algorithm, curve, der), extractable, forPrivate);
    const publicKey = crypto.key(pairKey('public', algorithm, curve, publicDer), true, crypto.only(usages, allowedPublic));
    return name === curve ? { __proto__: null, privateKey, publicKey } : { __proto__: null, publicKey, privateKey }; // as Node's
  };
  const generateSecret = (algorithm, extractable, usages) => {
    const { name } = algorithm;
    crypto.checkUsages(usages, crypto.usagesFor(name), crypto.secretKind(name));
    let { length } = algorithm;
    if (name === 'HMAC') {
      if (length === 0) throw internal.domError('OperationError', 'The operation failed for an operation-specific reason');
      length ??= crypto.blockBits(algorithm.hash);
      if (length > 524288) throw internal.domError('OperationError', 'the length is more than 524288 bits');
    } else if (length !== 128 && length !== 192 && length !== 256) throw internal.domError('OperationError', 'AES key length must be 128, 192, or 256 bits');
    crypto.some(usages, 'creating a');
    const k = secret(name, crypto.random(p.floor((length + 7) / 8)));
    if (length % 8 !== 0) k.data[p.typedLength(k.data) - 1] &= 0xff << (8 - length % 8);
    k.length = length;
    if (name === 'HMAC') k.hash = algorithm.hash;
    return crypto.key(k, extractable, crypto.only(usages, crypto.usageNames));
  };
  return internal;
}
