// Regular expressions that are kept.
// expect: limit any
const keep = [];
for (let i = 0; ; i++) keep.push(new RegExp('a{' + i % 1000 + '}' + i));
