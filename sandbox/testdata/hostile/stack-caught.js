// Recursion that is caught: an ordinary error of the language.
// expect: value "RangeError"
try { (function f() { f(); })(); } catch (e) { return e.name; }
