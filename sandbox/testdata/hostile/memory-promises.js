// Promises that pile up.
// expect: limit any
const keep = [];
for (;;) keep.push(new Promise(() => {}));
