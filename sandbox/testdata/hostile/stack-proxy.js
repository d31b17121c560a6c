// A Proxy whose prototype is a Proxy of it.
// expect: limit stack
const p = new Proxy({}, { get(t, k) { return p[k]; } });
p.x
