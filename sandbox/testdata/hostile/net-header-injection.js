// Line breaks in methods, header names, header values and URLs.
// grant: agent
// expect: value 0
const tries = [
  () => fetch('http://192.0.2.1/', { headers: { 'X-A': 'b\r\nHost: evil' } }),
  () => fetch('http://192.0.2.1/', { headers: { 'X\r\nEvil': 'b' } }),
  () => fetch('http://192.0.2.1/', { headers: [['X-A', 'b\0c']] }),
  () => fetch('http://192.0.2.1/', { method: 'GET / HTTP/1.1\r\nHost: evil\r\n\r\nGET' }),
  () => fetch('http://192.0.2.1/%0d%0aHost:%20evil'),
  () => fetch('http://user:pass@192.0.2.1/'),
  () => new Promise((ok, no) => require('http').get({ host: '192.0.2.1', path: '/ HTTP/1.1\r\nHost: evil' }, ok).on('error', no)),
  () => new Promise((ok, no) => require('http').get({ host: '192.0.2.1\r\nX: y', path: '/' }, ok).on('error', no)),
];
let passed = 0;
for (const t of tries) {
  try {
    await t();
    passed++;
  } catch { /* as it should be */ }
}
passed;
