// Plain recursion.
// expect: limit stack
(function f() { f(); })()
