// A string that doubles until nothing is left.
// expect: limit any or error string too long
let s = 'x';
for (;;) s += s;
