const qs = require('querystring'), path = require('path'), url = require('url');
console.log(qs.parse('a=1&b=2&a=3&c=%20x&d'), qs.stringify({ a: [1, 2], b: 'x y', c: true, d: undefined }), qs.escape('a b&'), qs.unescape('a%20b'));
console.log(path.join('/a', '..', 'b', './c.txt'), path.resolve('/x', 'y', '../z'), path.basename('/q/w.tar.gz', '.gz'), path.extname('f.min.js'), path.dirname('/a/b/c'), path.relative('/a/b/c', '/a/d'), path.parse('/home/u/f.txt'), path.format({ dir: '/d', name: 'n', ext: '.e' }), path.isAbsolute('x'), path.normalize('/a//b/../c/.'), path.sep, path.posix === path);
console.log(url.parse('http://user:pw@host.com:8080/p/a?q=1#h'), url.format({ protocol: 'https', host: 'h.com', pathname: '/x', query: { a: 1 } }), url.resolve('/one/two', 'three'));
const u = new URL('../x?y=1#z', 'https://me:pw@ex.com:444/a/b/c'); console.log(u, u.href, u.searchParams, [...u.searchParams], URL.canParse('nope'));
console.log(url.fileURLToPath('file:///a/b%20c'), url.pathToFileURL('/tmp/a b').href, url.domainToASCII('español.com'));
try { new URL('nope') } catch (e) { console.log(e.code, e.name, e.message, e.input) }
const sp = new URLSearchParams({ a: '1', b: 'é' }); sp.append('a', '2'); sp.sort(); console.log(sp.toString(), sp.getAll('a'), sp.size, sp.has('a', '2'));
