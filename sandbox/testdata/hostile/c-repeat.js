// A string that doubles until nothing is left.
// expect: error string too long
// expect on quickjs-ng-0.10.1: limit memory
let s = 'x';
for (;;) s += s;
