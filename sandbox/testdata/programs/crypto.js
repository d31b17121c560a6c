const crypto = require('crypto');
console.log(crypto.createHash('sha256').update('a').update('b').digest('hex'), crypto.createHmac('sha1', 'key').update('data').digest('base64'));
console.log(crypto.createHash('md5').update('x').digest('hex'), crypto.createHash('sha512').update('').digest('base64url').slice(0, 20), crypto.createHash('sha384').copy().digest('hex').length);
console.log(crypto.randomBytes(8).length, crypto.randomUUID().length, crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a')), typeof crypto.randomInt(10));
console.log(crypto.pbkdf2Sync('pw', 'salt', 1000, 16, 'sha256').toString('hex'), crypto.hkdfSync ? Buffer.from(crypto.hkdfSync('sha256', 'k', 's', 'i', 8)).toString('hex') : '');
const key = Buffer.alloc(32, 1), iv = Buffer.alloc(12, 2); const c = crypto.createCipheriv('aes-256-gcm', key, iv); c.setAAD(Buffer.from('aad')); const enc = Buffer.concat([c.update('secret', 'utf8'), c.final()]); const tag = c.getAuthTag(); console.log(enc.toString('hex'), tag.toString('hex'));
const d = crypto.createDecipheriv('aes-256-gcm', key, iv); d.setAAD(Buffer.from('aad')); d.setAuthTag(tag); console.log(d.update(enc, null, 'utf8') + d.final('utf8'));
const cb = crypto.createCipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16)); console.log(cb.update('hello', 'utf8', 'hex') + cb.final('hex'));
try { crypto.createHash('nope') } catch (e) { console.log(e.message) }
const k = await crypto.subtle.importKey('raw', new TextEncoder().encode('k'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']); console.log(Buffer.from(await crypto.subtle.sign('HMAC', k, new TextEncoder().encode('m'))).toString('hex'));
console.log(Buffer.from(await crypto.webcrypto.subtle.digest('SHA-1', Buffer.from('x'))).toString('hex'));
console.log(crypto.getHashes().includes('sha256'), crypto.createHash('sha256').update(new Uint8Array([1])).digest());
