// Labels, names and directives that mean something else in what surrounds the code.
// expect: value ["function",true,"undefined",7,true]
'use strict'
a: { b: for (;;) { try { break a; } finally { break b; } } }
function f() {}
const top = typeof f;
var async = 1, of = 2, get = 3, let_ = 4;
label: for (const of of [1]) continue label;
const self = this === undefined || typeof this === 'object';
return [top, self, typeof exports_, (() => { try { return 7; } finally { label2: { break label2; } } })(), [async, of, get, let_].length === 4];
