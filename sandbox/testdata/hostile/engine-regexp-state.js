// Regular expressions whose state changes while they run.
// expect: value true
const odd = (f) => { try { f(); } catch (e) { if (!(e instanceof Error)) throw 'odd: ' + typeof e; } };
const s = 'aXbXc'.repeat(200);
for (const flags of ['g', 'gy', 'gu', 'gv', 'gd', 'gi', 'y']) {
  for (const last of [2 ** 31, 2 ** 32 + 1, -1, NaN, Infinity, { valueOf() { r.compile?.('b', 'g'); return 3; } }, s.length, s.length + 1, 2 ** 53]) {
    var r = new RegExp('X', flags);
    r.lastIndex = last;
    odd(() => r.exec(s)); odd(() => r.test(s)); odd(() => s.replace(r, () => { r.lastIndex = last; r.compile?.('(c)(?<n>b)?', 'g'); return '$1$<n>$`'; }));
    odd(() => [...s.matchAll(r)].length); odd(() => s.split(r, last)); odd(() => s.search(r)); odd(() => s.replaceAll(r, '$&$&'));
  }
}
class R extends RegExp { exec() { return { index: 2 ** 40, length: 20, 0: 'x'.repeat(10), groups: new Proxy({}, { get() { throw new Error('g'); } }) }; } }
odd(() => 'abc'.replace(new R('a'), '$<x>$9$99$`$\'')); odd(() => new R('a')[Symbol.replace]('abc', '$1'));
class Q extends RegExp { static get [Symbol.species]() { return function () { return { exec() { return null; }, flags: 'gy', lastIndex: 0, __proto__: RegExp.prototype }; }; } }
odd(() => 'abc'.split(new Q('b')));
odd(() => RegExp.prototype.flags); odd(() => Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get.call({ get global() { throw new Error('x'); } }));
odd(() => new RegExp('(?:'.repeat(20000))); odd(() => new RegExp('[\\p{L}--[a-z]&&\\w]', 'v')); odd(() => new RegExp('(?<a>x)|(?<a>y)')); odd(() => /(?<=(\1)(a+))b/.exec('aab')); odd(() => new RegExp('\\u{110000}', 'u')); odd(() => new RegExp('a{4294967296,4294967297}'));
return 'aXb'.replace(/X/g, '-') === 'a-b' && /(?<y>\d{4})/.exec('in 2026').groups.y === '2026';
