// Frames of functions with names of a megabyte, over and over.
// expect: limit any
const name = 'x'.repeat(1 << 20);
const f = { [name]: (n) => { if (n) return f[name](n - 1); return new Error('m').stack.length; } };
for (;;) f[name](8);
