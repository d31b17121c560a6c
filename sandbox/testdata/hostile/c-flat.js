// Flattening arrays that contain each other.
// expect: limit any
const a = []; a.push(a, a);
a.flat(Infinity)
