// A result with a cycle.
// expect: error cycle
const a = { b: {} };
a.b.c = a;
return a;
