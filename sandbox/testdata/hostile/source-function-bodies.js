// Texts that close what Function and its relatives put around them, with marks that lexers read differently.
// grant: eval
// expect: value []
const bad = [];
const refused = (f) => { try { f(); bad.push(String(f)); } catch (e) { if (!(e instanceof SyntaxError)) bad.push(String(f) + ' ' + e); } };
const A = (async () => {}).constructor, G = (function* () {}).constructor, AG = (async function* () {}).constructor;
for (const F of [Function, A, G, AG]) {
  refused(() => F('a){return 1}/*', '*/')); refused(() => F('a = function(){', '}){')); refused(() => F('//', '){')); refused(() => F('a\n){', '//')); refused(() => F('...a, b', '1')); refused(() => F('<!--', '){ -->'));
  refused(() => F('`', '`){')); refused(() => F('super()')); refused(() => F("'use strict'; with (a) {}")); refused(() => F('a, a', "'use strict'")); refused(() => F('a = 1', "'use strict'"));
  if (F('//', 'return 1').length) bad.push('length');
}
if (eval('\ufeff1') !== 1 || eval('/*\u2028*/2') !== 2 || eval("'\u2028'") !== '\u2028' || eval('#!x\n3') !== 3 || eval('4<!--5') !== 4 || eval('\n-->5\n6') !== 6) bad.push('eval');
refused(() => eval(' #!x\n1')); refused(() => eval("'\n'")); refused(() => eval('"\\u{110000}"')); refused(() => eval('1\0')); refused(() => eval('a\\u0028)')); refused(() => eval('x: x: 1')); refused(() => eval('a: { break b; }')); refused(() => eval('new.target')); refused(() => eval('({ __proto__: 1, "__proto__": 2 })')); refused(() => eval('for await (const x of []);'));
if (eval("'\ud800'").length !== 1 || eval("(function(){ return '\ud83d' + '\ude00' })()").length !== 2 || eval('var \u0061wait2 = 1; a\u0077ait2') !== 1) bad.push('surrogates');
return bad;
