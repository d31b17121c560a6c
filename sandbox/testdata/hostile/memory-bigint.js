// An integer that squares itself.
// expect: any
let n = 2n;
for (;;) n *= n;
