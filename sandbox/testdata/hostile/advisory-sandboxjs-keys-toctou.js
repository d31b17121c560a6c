// A name is turned into text once, so that what is checked is what is used.
// CVE-2026-25641 (SandboxJS, GHSA-7x3h-rm86-3342): a key whose toString changes between the check and the use.
// expect: value []
// grant: agent
const found = [];
const fs = require('fs');
fs.writeFileSync('/a', 'a');
const turn = (...answers) => { const o = { n: 0, toString() { return answers[Math.min(o.n++, answers.length - 1)]; } }; return o; };
const check = async (what, use, ...answers) => {
  const key = turn(...answers);
  try { await use(key); } catch { /* refused */ }
  if (key.n > 1) found.push(`${what} ${key.n}`);
};
const url = ['https://a.example/', 'http://127.0.0.1/'];
await check('fetch', (k) => fetch(k), ...url);
await check('Request', (k) => new Request(k), ...url);
await check('URL', (k) => new URL(k), ...url);
await check('URL base', (k) => new URL('x', k), ...url);
await check('redirect', (k) => Response.redirect(k), ...url);
await check('method', (k) => new Request(url[0], { method: k }), 'GET', 'CONNECT');
await check('header name', (k) => new Headers([[k, 'v']]), 'a', 'host');
await check('header value', (k) => new Headers([['a', k]]), 'a', 'b\r\nc: d');
await check('host header', (k) => fetch(url[0], { headers: { a: k } }), 'a', 'b\r\nc: d');
await check('import', (k) => import(k), 'path', 'child_process');
await check('require', (k) => require(k), 'path', 'child_process');
await check('read', (k) => fs.readFileSync(k), '/a', '/etc/passwd');
await check('write', (k) => fs.writeFileSync(k, 'x'), '/a', '/etc/passwd');
await check('environment', (k) => process.env[k], 'HOME', 'PATH');
await check('digest', (k) => crypto.subtle.digest(k, new Uint8Array(1)), 'SHA-1', 'none');
await check('algorithm', (k) => crypto.subtle.generateKey({ name: k, length: 128 }, true, ['encrypt']), 'AES-GCM', 'none');
await check('encoding', (k) => new TextDecoder(k), 'utf-8', 'none');
await check('atob', (k) => atob(k), 'YQ==', '*');
await check('language', (k) => new Intl.NumberFormat(k), 'en', 'none');
return found;
