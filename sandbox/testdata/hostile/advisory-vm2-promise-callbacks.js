// What promises of host operations hand to callbacks belongs to the guest's own realm.
// CVE-2026-22709, CVE-2026-44000 and CVE-2026-26332 (vm2), CVE-2026-22686 (enclave-vm): host values reach callbacks unwrapped.
// expect: value []
// grant: node
const foreign = (v) => {
  let top = v;
  for (let p = v; p !== null; p = Object.getPrototypeOf(p)) top = p;
  return top !== Object.prototype || v.constructor.constructor !== Function;
};

const fs = require('fs');
const zlib = require('zlib');
const found = [];
const note = (what) => (v) => { if (v !== null && typeof v === 'object' && foreign(v)) found.push(what); };
const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']);
const tries = {
  fetch: () => fetch('http://127.0.0.1/'),
  blocked: () => fetch('http://[::1]:1/'),
  digest: () => crypto.subtle.digest('none', new Uint8Array(1)),
  digested: () => crypto.subtle.digest('SHA-256', new Uint8Array(1)),
  decrypt: () => crypto.subtle.decrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, new Uint8Array(1)),
  jwk: () => crypto.subtle.exportKey('jwk', key),
  imported: () => crypto.subtle.importKey('pkcs8', new Uint8Array(8), { name: 'RSA-PSS', hash: 'SHA-1' }, false, ['sign']),
  file: () => fs.promises.readFile('/none'),
  stat: () => (fs.writeFileSync('/a', 'a'), fs.promises.stat('/a')),
  inflate: () => new Response(new Response('x').body.pipeThrough(new DecompressionStream('gzip'))).text(),
  brotli: () => new Promise((ok, no) => zlib.brotliDecompress(Buffer.from('x'), (e, v) => (e ? no(e) : ok(v)))),
  module: () => import('./none.js'),
};
for (const [what, attempt] of Object.entries(tries)) {
  const p = attempt();
  note(what + ' promise')(p);
  await p.then(note(what), note(what));
  await Promise.prototype.finally.call(attempt(), () => {}).catch(note(what));
  try { note(what)(await attempt()); } catch (e) { note(what)(e); }
}
return found;
