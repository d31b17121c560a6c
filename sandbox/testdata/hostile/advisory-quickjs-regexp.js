// Expressions whose programs jump, save and loop where they should not.
// quickjs-ng 48ececf, fa799e9, c2f37ec, #1571, #1591: reads and writes outside of what a match has.
// On 0.15.1 the parts below together read freed memory of the guest, or do not, by the layout of the heap.
// expect: value [] or error the engine crashed on this code
const odd = [];
const sources = ['(?<=(\\1)(a))b', '(?:(?=(a))){0,3}\\1', '((a)|(b)|(c)){2,99}', '[\\q{abc|\\-}&&[a-z]]', '(?<x>a)|(?<x>b)', '(?<!a{3,5}(b))c', '\\p{RGI_Emoji}', '(?i:a(?-i:B))', '(?:(?<g>a)' + '|x'.repeat(300) + '|(?<g>c))',
  '('.repeat(250) + ')'.repeat(250) + '\\250', '(?:'.repeat(50) + 'a?' + ')?'.repeat(50), '(?=(?=(?=a)*)+)?b', '[^\\u{10ffff}-\\u{0}]', '\\u{110000}', '(?<a>)(?<b>)\\k<a>\\k<b>', '{0}', 'a{2,1}', '[z-a]', '\\c', '(?:', '[', '(?<', '[[a]--', '\\k<'];
const texts = ['', 'a', 'ab', 'aaab', 'c', 'abcabc', '\u{1f600}\u{1f468}\u200d\u{1f469}', 'x'.repeat(1000), '\ud800', 'a\n b'];
for (const s of sources) {
  for (const flags of ['', 'd', 'g', 'y', 'i', 'u', 'v', 'dgimsy', 'gu', 'iv']) {
    try {
      const r = new RegExp(s, flags);
      for (const t of texts) { r.lastIndex = t.length >> 1; const m = r.exec(t); if (m && (m.index < 0 || m.index > t.length || m.some((g) => g !== undefined && !t.includes(g)))) odd.push(s); }
    } catch (e) { if (!(e instanceof SyntaxError || e instanceof RangeError || e.name === 'InternalError')) odd.push(String(e)); }
  }
}
if (typeof RegExp.escape === 'function') {
  const rope = 'a.b'.repeat(9000) + '-c'.repeat(9000);
  if (RegExp.escape(rope).length < rope.length) odd.push('escape');
}
const evil = /a/g;
let matches = 0;
evil.exec = function () { if (matches++ > 20) return null; this.compile('b'.repeat(1000)); return { index: 1e9, length: 1e6, 0: 'x'.repeat(100) }; };
try { 'aaa'.replace(evil, '$`$&$\'$1$9$<x>'); } catch (e) { if (!(e instanceof Error)) odd.push('replace'); }
return [...new Set(odd)];
