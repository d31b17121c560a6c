// Long authorities and paths of many segments, on which the URL parser's time would grow with the square: no URLs.
// expect: value ["Invalid URL","Invalid URL","Invalid URL","Invalid URL","Invalid URL","Invalid URL",true]
const parse = (text) => { try { return new URL(text).href.length; } catch (e) { return e.message; } };
const distinct = Array.from({ length: 20000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
const u = new URL('http://host/');
u.username = u.password = 'a'.repeat(1e6);
u.pathname = '/'.repeat(1e6);
return [
  parse(`http://${'a@'.repeat(1e6)}h/`),
  parse(`http://${'a'.repeat(1e6)}@h/`),
  parse(`x://${'a'.repeat(1e6)}/`),
  parse(`http://${distinct}/`),
  parse(`http://h/${'a/'.repeat(5e5)}`),
  parse(`http:\t\\${'\\'.repeat(1e6)}`),
  u.href === 'http://host/' && new URL(`data:text/plain,${'a/'.repeat(1e5)}`).pathname.length === 200011,
];
