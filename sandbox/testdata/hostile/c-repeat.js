// A string that doubles until nothing is left.
// expect: limit any
let s = 'x';
for (;;) s += s;
