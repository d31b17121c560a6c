// A toString that needs itself.
// expect: limit stack
const o = { toString() { return '' + o; } };
'' + o
